/*
 * The functions of <pprof/pprof.h> that serve the endpoint.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "pprof/pprof.h"
#include "runtime/api.h"
#include "runtime/endpoint.h"
#include "runtime/serve.h"
#include "runtime/state.h"

#define MAX_REPLY_BYTES ((size_t)256 << 20)
#define LOOK_NS         ((int64_t)100000000) /* for a client that has gone */

static int failure_code(const struct error *err)
{
    struct str words = str_from(err->text);

    if (str_contains(words, STR("other machines")))
        return EACCES;
    if (str_contains(words, STR("is up already")))
        return EALREADY;
    if (str_has_suffix(words, STR("address already in use")))
        return EADDRINUSE;
    return EINVAL;
}

static bool names_address(const struct pprof_serve_options *o)
{
    return o &&
           o->size >= offsetof(struct pprof_serve_options, address) +
                          sizeof(o->address) &&
           o->address && *o->address;
}

int pprof_serve_opts(const struct pprof_serve_options *options)
{
    struct serve_options o;
    struct error err = {""};

    /* Who names no address has one already under pprof-run. */
    if (!names_address(options) && *serve_address())
        return 0;
    if (!serve_options_read(options, &o, &err) || !serve_start(&o, &err))
        return api_fail(failure_code(&err), &err);
    return 0;
}

int pprof_serve(const char *address)
{
    return pprof_serve_opts(&(struct pprof_serve_options){
        .size = sizeof(struct pprof_serve_options), .address = address});
}

const char *pprof_serving(void)
{
    return serve_address();
}

void pprof_stop_serving(void)
{
    serve_stop();
}

/* Waits in steps, because all that can be asked is "has it gone?". */
static bool wait_in_steps(void *arg, int64_t ns)
{
    const struct pprof_response *r = arg;

    while (ns > 0) {
        int64_t step = ns < LOOK_NS ? ns : LOOK_NS;

        if (r->is_gone && r->is_gone(r->arg))
            return false;
        runtime_sleep_ns(step);
        ns -= step;
    }
    return true;
}

/* "Name: value\r\n" lines, taken apart in place. */
static void send_headers(const struct pprof_response *r, char *lines)
{
    char *end, *colon;

    for (; (end = strstr(lines, "\r\n")); lines = end + 2) {
        *end = '\0';
        colon = strstr(lines, ": ");
        if (!colon)
            continue;
        *colon = '\0';
        r->header(r->arg, lines, colon + 2);
    }
}

int pprof_handle(const struct pprof_request *request,
                 const struct pprof_response *response)
{
    struct pprof_response r = {0};
    struct pprof_request q = {0};
    struct endpoint_reply reply = {
        .headers = BUF_INIT((size_t)64 << 10),
        .body = BUF_INIT(MAX_REPLY_BYTES),
    };
    struct error err = {""};
    int rc = 0;

    memcpy(&q, request, request->size < sizeof(q) ? request->size : sizeof(q));
    memcpy(&r, response,
           response->size < sizeof(r) ? response->size : sizeof(r));
    if (!runtime_ready(&err))
        return api_fail(ENOMEM, &err);
    endpoint_handle(
        &(struct endpoint_request){
            .method = str_from(q.method),
            .path = str_from(q.path),
            .query = str_from(q.query),
            .body = str_of(q.body, q.body_bytes),
            .wait = wait_in_steps,
            .arg = &r,
        },
        &reply);
    if (buf_ok(&reply.headers) && buf_ok(&reply.body)) {
        r.status(r.arg, reply.status);
        buf_add_char(&reply.headers, '\0');
        send_headers(&r, reply.headers.data);
        r.body(r.arg, reply.body.data, reply.body.len);
    } else {
        error_set(&err, "the reply is larger than memory or %zu bytes",
                  MAX_REPLY_BYTES);
        rc = api_fail(ENOMEM, &err);
    }
    buf_release(&reply.headers);
    buf_release(&reply.body);
    return rc;
}

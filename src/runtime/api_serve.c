/*
 * The functions of <pprof/pprof.h> that serve the endpoint.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "pprof/pprof.h"
#include "runtime/api.h"
#include "runtime/endpoint/endpoint.h"
#include "runtime/endpoint/serve.h"
#include "runtime/own_thread.h"
#include "runtime/state.h"

#define MAX_REPLY_BYTES ((size_t)256 << 20)
#define LOOK_NS         ((int64_t)100000000) /* for a client that has gone */

/* Of the codes that the header promises. */
static int failure_code(const struct error *err)
{
    switch (err->code) {
    case EACCES:
    case EALREADY:
    case EADDRINUSE:
        return err->code;
    default:
        return EINVAL;
    }
}

static bool names_address(const struct pprof_serve_options *o)
{
    return o &&
           o->size >= offsetof(struct pprof_serve_options, address) +
                          sizeof(o->address) &&
           o->address && *o->address;
}

static int serve_with(const struct pprof_serve_options *options,
                      const void *caller)
{
    struct own_scope scope = own_scope_enter(caller);
    struct serve_options o;
    struct error err = {""};
    int rc = 0;

    /* Who names no address has one already under pprof-run. */
    if ((names_address(options) || !*serve_address()) &&
        (!serve_options_read(options, &o, &err) || !serve_start(&o, &err)))
        rc = api_fail(failure_code(&err), &err);
    own_scope_restore(&scope);
    return rc;
}

int pprof_serve_opts(const struct pprof_serve_options *options)
{
    return serve_with(options, __builtin_return_address(0));
}

int pprof_serve(const char *address)
{
    struct pprof_serve_options options = {.size = sizeof(options),
                                          .address = address};

    return serve_with(&options, __builtin_return_address(0));
}

const char *pprof_serving(void)
{
    return serve_address();
}

void pprof_stop_serving(void)
{
    struct own_scope scope = own_scope_enter(__builtin_return_address(0));

    serve_stop();
    own_scope_restore(&scope);
}

static bool client_is_gone(const struct pprof_response *r)
{
    struct own_scope scope = own_scope_leave();
    bool is_gone = r->is_gone && r->is_gone(r->arg);

    own_scope_restore(&scope);
    return is_gone;
}

/* Waits in steps, because all that can be asked is "has it gone?". */
static bool wait_in_steps(void *arg, int64_t ns)
{
    const struct pprof_response *r = arg;

    while (ns > 0) {
        int64_t step = ns < LOOK_NS ? ns : LOOK_NS;

        if (client_is_gone(r))
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

static bool handle(const struct pprof_request *q,
                   const struct pprof_response *r, struct endpoint_reply *reply,
                   struct error *err)
{
    if (!runtime_ready(err))
        return false;
    endpoint_handle(
        &(struct endpoint_request){
            .method = str_from(q->method),
            .path = str_from(q->path),
            .query = str_from(q->query),
            .body = str_of(q->body, q->body_bytes),
            .wait = wait_in_steps,
            .arg = (void *)r,
        },
        reply);
    buf_add_char(&reply->headers, '\0');
    return (buf_ok(&reply->headers) && buf_ok(&reply->body)) ||
           error_set(err, "the reply is larger than memory or %zu bytes",
                     MAX_REPLY_BYTES);
}

int pprof_handle(const struct pprof_request *request,
                 const struct pprof_response *response)
{
    struct own_scope scope = own_scope_enter(__builtin_return_address(0));
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
    if (handle(&q, &r, &reply, &err)) {
        struct own_scope program = own_scope_leave();

        r.status(r.arg, reply.status);
        send_headers(&r, reply.headers.data);
        r.body(r.arg, reply.body.data, reply.body.len);
        own_scope_restore(&program);
    } else {
        rc = api_fail(ENOMEM, &err);
    }
    buf_release(&reply.headers);
    buf_release(&reply.body);
    own_scope_restore(&scope);
    return rc;
}

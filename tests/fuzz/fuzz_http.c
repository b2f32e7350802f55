/*
 * Bytes that a client may send: the request parser, the body in chunks, what
 * is read of the headers, and the way through the router.  The same bytes as
 * a server's reply.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/percent.h"
#include "http/access_key.h"
#include "http/credentials.h"
#include "http/guard.h"
#include "http/host.h"
#include "http/reply.h"
#include "runtime/endpoint.h"

enum { MAX_BODY = 1 << 16 };

static void must(bool condition)
{
    if (!condition)
        abort();
}

static bool is_inside(struct str part, struct str whole)
{
    return part.n == 0 ||
           (part.s >= whole.s && part.s + part.n <= whole.s + whole.n);
}

static bool no_wait(void *arg, int64_t ns)
{
    (void)arg, (void)ns;
    return false;
}

/* Profiles take time and signals; their names are routed as any other. */
static bool is_profile(struct str path)
{
    static const char *const names[] = {
        "profile", "trace",  "threads", "goroutine", "threadcreate",
        "heap",    "allocs", "block",   "mutex",     "goroutineleak"};
    char decoded[512];
    ptrdiff_t n =
        path.n <= sizeof(decoded) ? percent_decode(path, false, decoded) : 0;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (n > 0 &&
            str_contains(str_of(decoded, (size_t)n), str_from(names[i])))
            return true;
    return false;
}

static void route(const struct http_request *r)
{
    struct endpoint_reply reply = {.headers = BUF_INIT(1 << 16),
                                   .body = BUF_INIT(1 << 20)};

    if (is_profile(r->path))
        return;
    endpoint_handle(&(struct endpoint_request){.method = r->method,
                                               .path = r->path,
                                               .query = r->query,
                                               .body = r->body,
                                               .max_seconds = 1,
                                               .wait = no_wait},
                    &reply);
    must(reply.status >= 200 && reply.status < 600);
    buf_release(&reply.headers);
    buf_release(&reply.body);
}

/* Nobody of these gets in by chance. */
static void knock(const struct http_request *r)
{
    static const struct access_key key = {"0123456789abcdef0123456789abcdef",
                                          "pprof_1"};
    struct http_client client = {.address = "127.0.0.1:1", .is_tls = true};
    struct http_exchange x = {.request = r,
                              .client = &client,
                              .status = 200,
                              .headers = BUF_INIT(1 << 16),
                              .body = BUF_INIT(1 << 16)};
    struct credentials c;
    char who[GUARD_WHO_MAX];
    struct error err;
    struct guard *g =
        guard_new(&(struct guard_options){.certificates = true}, &err);

    http_host_is_fine(r, "a.example, b");
    credentials_read(r, &c);
    must(c.secret.n <= CREDENTIALS_MAX);
    if (!access_key_check(&key, &x))
        must(x.status == 403 || x.status == 302);
    buf_clear(&x.headers);
    must(g && !guard_check(g, &x, who) && x.status == 403);
    guard_free(g);
    buf_release(&x.headers);
    buf_release(&x.body);
}

static void as_request(struct str bytes)
{
    struct http_request r;
    size_t used, body_n, body_used;
    int status = 0;

    switch (http_parse_head(bytes, 16384, &r, &used, &status)) {
    case HTTP_INCOMPLETE:
        must(bytes.n <= 16384 + 4);
        return;
    case HTTP_MALFORMED:
        must(status >= 400 && status < 600);
        return;
    case HTTP_COMPLETE:
        break;
    }
    must(used <= bytes.n &&
         (is_inside(r.path, bytes) || str_eq(r.path, STR("/"))) &&
         is_inside(r.query, bytes) && r.n_headers <= HTTP_MAX_HEADERS);
    r.body = STR("");
    if (r.chunked) {
        size_t n = bytes.n - used;
        char *copy = malloc(n + 1);

        memcpy(copy, bytes.s + used, n);
        if (http_unpack_chunks(copy, n, MAX_BODY, &body_n, &body_used,
                               &status) == HTTP_COMPLETE) {
            must(body_n <= MAX_BODY && body_used <= n);
            r.body = str_of(copy, body_n);
            route(&r);
        }
        free(copy);
        return;
    }
    route(&r);
    knock(&r);
}

static void as_reply(struct str bytes, bool ended)
{
    char *copy = malloc(bytes.n + 1);
    size_t at, n;
    int status;

    memcpy(copy, bytes.s, bytes.n);
    if (http_parse_reply(copy, bytes.n, MAX_BODY, ended, &status, &at, &n) ==
        HTTP_COMPLETE)
        must(at + n <= bytes.n && n <= MAX_BODY);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = str_of((const char *)data, size);

    as_request(bytes);
    as_reply(bytes, false);
    as_reply(bytes, true);
    return 0;
}

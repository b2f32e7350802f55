/*
 * Bytes that a client may send: the request parser, the body in chunks, what
 * is read of the headers, and the way through the router.  The same bytes as
 * a server's reply.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/percent.h"
#include "http/access/access_key.h"
#include "http/access/credentials.h"
#include "http/access/guard.h"
#include "http/client/reply_parser.h"
#include "http/server/chunks.h"
#include "http/server/host.h"
#include "runtime/endpoint/endpoint.h"

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
    struct error err;
    struct guard *g =
        guard_new(&(struct guard_options){.certificates = true}, &err);

    http_host_is_fine(r, "a.example, b");
    credentials_read(r, &c);
    must(c.secret.n <= CREDENTIALS_MAX);
    if (!access_key_check(&key, &x))
        must(x.status == 403 || x.status == 302);
    buf_clear(&x.headers);
    must(g && guard_admit(g, &x, true) == HTTP_REFUSED && x.status == 403);
    guard_free(g);
    buf_release(&x.headers);
    buf_release(&x.body);
}

/* The body in chunks, with the bytes cut in pieces. */
static void decode_body(struct http_request *r, struct str bytes, size_t step)
{
    struct buf body = BUF_INIT(MAX_BODY);
    struct http_chunks chunks = {0};
    enum http_parsed parsed = HTTP_INCOMPLETE;
    int status = 0;

    while (bytes.n > 0 && parsed == HTTP_INCOMPLETE) {
        struct str some = str_first(bytes, step), left = some;

        parsed = http_chunks_decode(&chunks, &left, MAX_BODY, &body, &status);
        must(parsed != HTTP_INCOMPLETE || left.n == 0);
        bytes = str_skip(bytes, some.n - left.n);
    }
    must(body.len <= MAX_BODY);
    must(parsed != HTTP_MALFORMED || status == 400 || status == 413);
    if (parsed == HTTP_COMPLETE) {
        r->body = buf_str(&body);
        route(r);
    }
    r->body = STR("");
    buf_release(&body);
}

/* The end of a head, looked for byte by byte, is where the parser finds it. */
static void scan(struct str bytes, enum http_parsed parsed, size_t used)
{
    struct http_head_scan scan = {0};
    enum http_parsed found = HTTP_INCOMPLETE;
    int status = 0;

    for (size_t n = 1; n <= bytes.n && found == HTTP_INCOMPLETE; n++)
        found = http_scan_head(&scan, str_first(bytes, n), 16384, &status);
    if (parsed == HTTP_COMPLETE)
        must(found == HTTP_COMPLETE && scan.at == used);
    if (parsed == HTTP_INCOMPLETE)
        must(found == HTTP_INCOMPLETE);
}

static void as_request(struct str bytes)
{
    struct http_request r;
    size_t used = 0;
    int status = 0;
    enum http_parsed parsed = http_parse_head(bytes, 16384, &r, &used, &status);

    scan(bytes, parsed, used);
    if (parsed == HTTP_INCOMPLETE)
        must(bytes.n <= 16384 + 4);
    if (parsed == HTTP_MALFORMED)
        must(status >= 400 && status < 600);
    if (parsed != HTTP_COMPLETE)
        return;
    must(used <= bytes.n &&
         (is_inside(r.path, bytes) || str_eq(r.path, STR("/"))) &&
         is_inside(r.query, bytes) && r.n_headers <= HTTP_MAX_HEADERS);
    r.body = STR("");
    if (r.chunked) {
        decode_body(&r, str_skip(bytes, used), 1);
        decode_body(&r, str_skip(bytes, used), bytes.n);
        return;
    }
    route(&r);
    knock(&r);
}

static void as_reply(struct str bytes, size_t step)
{
    struct buf body = BUF_INIT(MAX_BODY);
    struct reply_parser p;
    enum http_parsed parsed = HTTP_INCOMPLETE;

    reply_parser_init(&p);
    while (bytes.n > 0 && parsed == HTTP_INCOMPLETE) {
        parsed = reply_parser_feed(&p, str_first(bytes, step), &body);
        bytes = str_skip(bytes, step);
    }
    must(body.len <= MAX_BODY);
    if (parsed == HTTP_COMPLETE || reply_parser_end(&p))
        must(p.status >= 100 && p.status <= 999);
    reply_parser_release(&p);
    buf_release(&body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = str_of((const char *)data, size);

    as_request(bytes);
    as_reply(bytes, 1);
    as_reply(bytes, size);
    return 0;
}

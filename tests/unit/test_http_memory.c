/*
 * The n-th allocation fails, for every n: whatever was asked for fails cleanly
 * or succeeds, and the server goes on serving.
 */
#include "http_support.h"

#include <fcntl.h>

#include "fail_alloc.h"
#include "http/access/guard.h"
#include "http/client/http_client.h"

#define MOST 200 /* allocations of one operation */

/* Was there an n-th allocation since fail_alloc_at(n)? */
static bool fail_alloc_happened(void)
{
    return fail_alloc_countdown <= 0;
}

__attribute__((constructor)) static void in_all_of_them(void)
{
    fail_alloc_active = true;
}

static void handle(struct http_exchange *x, void *arg)
{
    (void)arg;
    if (str_eq(x->request->path, STR("/stream"))) {
        buf_add(&x->body, STR("one"));
        http_exchange_flush(x);
    }
    buf_add(&x->body, x->request->body);
    buf_add_pad(&x->body, 'x', 20000);
}

static struct http_server_options options(void)
{
    return (struct http_server_options){.address = "127.0.0.1:0",
                                        .handler = handle};
}

TEST(a_server_starts_or_says_why_not)
{
    struct http_server_options o = options();
    int n = 1;

    for (; n < MOST; n++) {
        struct error err = {""};
        struct http_server *s;

        fail_alloc_at(n);
        s = http_server_new(&o, &err);
        if (s && !fail_alloc_happened()) {
            http_server_free(s);
            break;
        }
        EXPECT(s || err.text[0]);
        http_server_free(s);
    }
    fail_alloc_at(0);
    EXPECT(n < MOST);
}

/* A request that may fail; closing counts as failing. */
static bool ask(const struct http_server *s, const char *text)
{
    char *out = __real_malloc(65536);
    int fd = connect_to(s);
    struct str heard;
    bool ok;

    say(fd, text);
    heard = hear(fd, out, 65536);
    ok = str_has_prefix(heard, STR("HTTP/1.1 200 ")) && heard.n > 20000;
    close(fd);
    free(out);
    return ok;
}

static void try_all(const char *text)
{
    struct http_server_options o = options();
    struct http_server *s = start_server(&o);
    int n = 1, failures = 0;

    EXPECT(ask(s, text));
    for (; n < MOST; n++) {
        bool ok, happened;

        fail_alloc_at(n);
        ok = ask(s, text);
        happened = fail_alloc_happened();
        fail_alloc_at(0);
        failures += !ok;
        EXPECT(ask(s, text)); /* it still serves */
        if (!happened)
            break;
    }
    EXPECT(n < MOST && failures > 0);
    http_server_free(s);
}

TEST(a_request_fails_alone)
{
    try_all("POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
            "Content-Length: 4\r\n\r\nbody");
    try_all("POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
            "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n");
}

TEST(a_streamed_reply_fails_alone)
{
    try_all("GET /stream HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
}

TEST(a_guard_is_made_or_says_why_not)
{
    char path[] = "/tmp/pprof-memory-XXXXXX";
    int fd = mkstemp(path), n = 1;

    EXPECT(write(fd, "token\n", 6) == 6);
    close(fd);
    for (; n < MOST; n++) {
        struct error err = {""};
        struct guard *g;

        fail_alloc_at(n);
        g = guard_new(&(struct guard_options){.certificates = true,
                                              .client_allow = "alice",
                                              .token_file = path,
                                              .hosts = "a,b",
                                              .host_hint = "no"},
                      &err);
        guard_free(g);
        if (g)
            break;
        EXPECT(err.text[0] != 0);
    }
    fail_alloc_at(0);
    EXPECT(n > 2 && n < MOST);
    unlink(path);
}

TEST(a_client_s_call_fails_with_words)
{
    struct http_server_options o = options();
    struct http_server *s = start_server(&o);
    const char *port = strrchr(http_server_address(s), ':') + 1;
    int n = 1;

    for (; n < MOST; n++) {
        struct buf reply = BUF_INIT(1 << 20);
        struct error err = {""};
        struct http_answer answer;
        bool ok;

        fail_alloc_at(n);
        ok = http_call(&(struct http_call){.method = "POST",
                                           .host = "127.0.0.1",
                                           .port = port,
                                           .path = "/",
                                           .content_type = "text/plain",
                                           .body = STR("body"),
                                           .deadline_ns = clock_monotonic_ns() +
                                                          30 * SECOND},
                       &answer, &reply, &err);
        EXPECT(ok || err.text[0]);
        buf_release(&reply);
        if (ok && !fail_alloc_happened())
            break;
    }
    fail_alloc_at(0);
    EXPECT(n < MOST);
    http_server_free(s);
}

TEST_MAIN

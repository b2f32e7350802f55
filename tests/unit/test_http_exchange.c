/*
 * What a handler can do besides answering at once: admission before the body
 * is read, limits of memory and time, replies in pieces, replies that another
 * thread finishes later, and a server that stops meanwhile.
 */
#include "http_support.h"

#include <pthread.h>

#define MB ((size_t)1 << 20)

static struct http_limits limits;
static atomic_int admissions, handled, gone, released, worker_asked, running;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct http_exchange *kept; /* a deferred one */

static void on_gone(struct http_exchange *x, void *data)
{
    (void)x;
    EXPECT(data == &kept);
    atomic_fetch_add(&gone, 1);
}

static void on_release(void *data)
{
    EXPECT(data == &kept);
    atomic_fetch_add(&released, 1);
}

static void defer(struct http_exchange *x)
{
    http_exchange_defer(x, &(struct http_deferral){.on_gone = on_gone,
                                                   .release = on_release,
                                                   .data = &kept});
    pthread_mutex_lock(&lock);
    kept = x;
    pthread_mutex_unlock(&lock);
}

static void stream(struct http_exchange *x)
{
    http_exchange_header(x, "X-Kind", STR("stream"));
    for (int i = 0; i < 3; i++) {
        buf_addf(&x->body, "piece %d\n", i);
        EXPECT(http_exchange_flush(x));
    }
    buf_add(&x->body, STR("end\n"));
}

static void stream_much(struct http_exchange *x)
{
    int pieces = 0;

    atomic_store(&running, 1);
    for (; pieces < 64; pieces++) {
        buf_add_pad(&x->body, 'x', MB);
        if (!http_exchange_flush(x))
            break;
    }
    atomic_store(&handled, pieces == 64 ? 1 : -1);
}

static void break_stream(struct http_exchange *x)
{
    buf_add(&x->body, STR("beginning"));
    http_exchange_flush(x);
    buf_add_pad(&x->body, 'x', x->body.max + 1);
}

static void handle(struct http_exchange *x, void *arg)
{
    struct str path = x->request->path;

    (void)arg;
    if (str_eq(path, STR("/defer")))
        defer(x);
    else if (str_eq(path, STR("/stream")))
        stream(x);
    else if (str_eq(path, STR("/much")))
        stream_much(x);
    else if (str_eq(path, STR("/broken")))
        break_stream(x);
    else
        buf_addf(&x->body, "%zu bytes from %s", x->request->body.n,
                 x->identity.name);
}

static enum http_admission admit(struct http_exchange *x, bool may_wait,
                                 void *arg)
{
    struct str path = x->request->path;

    (void)arg;
    EXPECT(x->request->body.s == NULL);
    atomic_fetch_add(&admissions, 1);
    if (str_eq(path, STR("/secret"))) {
        http_exchange_refuse(x, 403, "not for you");
        return HTTP_REFUSED;
    }
    if (str_eq(path, STR("/ask"))) {
        if (!may_wait)
            return HTTP_UNDECIDED;
        atomic_fetch_add(&worker_asked, 1);
        snprintf(x->identity.name, sizeof(x->identity.name), "worker");
    }
    if (str_eq(path, STR("/small")))
        x->max_body = 3;
    return HTTP_ADMITTED;
}

static struct http_server *start(void)
{
    kept = NULL;
    admissions = handled = gone = released = worker_asked = running = 0;
    return start_server(&(struct http_server_options){.address = "127.0.0.1:0",
                                                      .limits = &limits,
                                                      .handler = handle,
                                                      .admit = admit});
}

static struct http_server *start_default(void)
{
    limits = http_default_limits;
    return start();
}

static struct str ask(const struct http_server *s, const char *request,
                      char *out, size_t size)
{
    int fd = connect_to(s);
    struct str heard;

    say(fd, request);
    heard = hear(fd, out, size);
    close(fd);
    return heard;
}

/* --- admission -------------------------------------------------------------
 */

TEST(admission_comes_before_the_body)
{
    struct http_server *s = start_default();
    char out[4096];
    int fd = connect_to(s);
    struct str heard;

    /* No "100 Continue", and none of the body is waited for. */
    say(fd, "POST /secret HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
            "Content-Length: 1000\r\n\r\n");
    heard = hear(fd, out, sizeof(out));
    EXPECT(str_has_prefix(heard, STR("HTTP/1.1 403 ")));
    EXPECT(str_contains(heard, STR("Connection: close\r\n")));
    EXPECT(str_has_suffix(heard, STR("not for you\n")));
    EXPECT(admissions == 1);
    close(fd);
    http_server_free(s);
}

TEST(a_refused_request_without_a_body_keeps_the_connection)
{
    struct http_server *s = start_default();
    char out[4096];
    struct str heard =
        ask(s,
            "GET /secret HTTP/1.1\r\nHost: h\r\n\r\n"
            "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
            out, sizeof(out));

    EXPECT(count(heard, STR("HTTP/1.1 403 ")) == 1);
    EXPECT(str_has_suffix(heard, STR("0 bytes from -")));
    EXPECT(admissions == 2);
    http_server_free(s);
}

TEST(an_answer_that_takes_time_is_asked_for_in_a_worker)
{
    struct http_server *s = start_default();
    char out[4096];
    struct str heard = ask(s,
                           "POST /ask HTTP/1.1\r\nHost: h\r\n"
                           "Content-Length: 4\r\nConnection: close\r\n\r\n"
                           "body",
                           out, sizeof(out));

    EXPECT(str_has_suffix(heard, STR("4 bytes from worker")));
    EXPECT(admissions == 2 && worker_asked == 1);
    http_server_free(s);
}

TEST(a_route_has_its_own_limit_for_bodies)
{
    struct http_server *s = start_default();
    char out[4096];

    EXPECT(str_has_prefix(ask(s,
                              "POST /small HTTP/1.1\r\nHost: h\r\n"
                              "Content-Length: 4\r\n\r\nbody",
                              out, sizeof(out)),
                          STR("HTTP/1.1 413 ")));
    EXPECT(str_has_prefix(ask(s,
                              "POST /small HTTP/1.1\r\nHost: h\r\n"
                              "Transfer-Encoding: chunked\r\n\r\n"
                              "4\r\nbody\r\n0\r\n\r\n",
                              out, sizeof(out)),
                          STR("HTTP/1.1 413 ")));
    EXPECT(str_has_suffix(ask(s,
                              "POST /small HTTP/1.1\r\nHost: h\r\n"
                              "Content-Length: 3\r\nConnection: close\r\n"
                              "\r\nbod",
                              out, sizeof(out)),
                          STR("3 bytes from -")));
    http_server_free(s);
}

/* --- bodies ----------------------------------------------------------------
 */

static int start_body(const struct http_server *s, size_t whole, size_t sent)
{
    char head[256], *bytes = calloc(1, sent);
    int fd = connect_to(s);

    snprintf(head, sizeof(head),
             "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %zu\r\n"
             "Connection: close\r\n\r\n",
             whole);
    say(fd, head);
    for (size_t at = 0; at < sent;) {
        ssize_t n = send(fd, bytes + at, sent - at, MSG_NOSIGNAL);

        if (n <= 0)
            break;
        at += (size_t)n;
    }
    free(bytes);
    return fd;
}

TEST(a_large_body_arrives_whole_and_the_next_request_behind_it)
{
    struct buf request = BUF_INIT(32 * MB);
    struct http_server *s;
    char out[4096];
    struct str heard;

    limits = http_default_limits;
    limits.body_bytes = 8 * MB;
    s = start();
    for (int chunked = 0; chunked < 2; chunked++) {
        buf_clear(&request);
        buf_addf(&request, "POST / HTTP/1.1\r\nHost: h\r\n%s\r\n\r\n",
                 chunked ? "Transfer-Encoding: chunked"
                         : "Content-Length: 5000000");
        if (chunked)
            buf_addf(&request, "%x\r\n", 5000000);
        buf_add_pad(&request, 'x', 5000000);
        if (chunked)
            buf_add(&request, STR("\r\n0\r\n\r\n"));
        buf_add(&request, STR("GET / HTTP/1.1\r\nHost: h\r\n"
                              "Connection: close\r\n\r\n"));
        heard = ask(s, buf_cstr(&request), out, sizeof(out));
        EXPECT(str_contains(heard, STR("\r\n\r\n5000000 bytes from -")));
        EXPECT(str_has_suffix(heard, STR("\r\n\r\n0 bytes from -")));
    }
    buf_release(&request);
    http_server_free(s);
}

TEST(all_bodies_together_have_a_limit)
{
    struct http_server *s;
    char out[4096];
    int slow, quick;

    limits = http_default_limits;
    limits.body_bytes = 8 * MB;
    limits.request_memory_bytes = 4 * MB;
    s = start();
    slow = start_body(s, 8 * MB, 2 * MB);
    usleep(300000); /* it sends no more: the slower one */
    quick = start_body(s, 2 * MB, 2 * MB);
    EXPECT(str_has_suffix(hear(quick, out, sizeof(out)),
                          STR("2097152 bytes from -")));
    EXPECT(str_has_prefix(hear(slow, out, sizeof(out)), STR("HTTP/1.1 503 ")));
    close(slow);
    close(quick);
    /* Alone, but more than there is. */
    slow = start_body(s, 8 * MB, 5 * MB);
    EXPECT(
        str_contains(hear(slow, out, sizeof(out)), STR("Retry-After: 1\r\n")));
    close(slow);
    quick = start_body(s, MB, MB); /* nothing of it stays counted */
    EXPECT(str_has_suffix(hear(quick, out, sizeof(out)),
                          STR("1048576 bytes from -")));
    close(quick);
    http_server_free(s);
}

TEST(a_body_that_makes_progress_is_waited_for)
{
    struct http_server *s;
    char out[4096];
    int fd, stuck;

    limits = http_default_limits;
    limits.body_timeout_ns = SECOND / 2;
    limits.body_rate_bytes = 1000; /* 1500 bytes: a second and a half */
    s = start();
    stuck = start_body(s, 4000, 1);
    fd = start_body(s, 4000, 3000);
    usleep(2500000);
    say(fd, "x");
    for (int i = 0; i < 999; i++)
        say(fd, "x");
    EXPECT(
        str_has_suffix(hear(fd, out, sizeof(out)), STR("4000 bytes from -")));
    EXPECT(hear(stuck, out, sizeof(out)).n == 0);
    close(fd);
    close(stuck);
    http_server_free(s);
}

/* --- streams ---------------------------------------------------------------
 */

TEST(a_reply_in_pieces_is_chunked)
{
    struct http_server *s = start_default();
    char out[4096];
    struct str heard =
        ask(s,
            "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n"
            "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
            out, sizeof(out));
    ptrdiff_t at = str_find(heard, STR("\r\n\r\n"));

    EXPECT(str_contains(heard, STR("Transfer-Encoding: chunked\r\n")));
    EXPECT(str_contains(heard, STR("X-Kind: stream\r\n")));
    EXPECT(at > 0 && str_contains(heard, STR("\r\n0\r\n\r\nHTTP/1.1 200")));
    EXPECT(str_contains(heard, STR("piece 0\n")));
    EXPECT(str_contains(heard, STR("end\n")));
    EXPECT(str_has_suffix(heard, STR("0 bytes from -")));
    http_server_free(s);
}

TEST(an_old_client_gets_a_stream_without_chunks)
{
    struct http_server *s = start_default();
    char out[4096];
    struct str heard = ask(s, "GET /stream HTTP/1.0\r\n\r\n", out, sizeof(out));

    EXPECT(
        str_has_suffix(heard, STR("\r\n\r\npiece 0\npiece 1\npiece 2\nend\n")));
    EXPECT(!str_contains(heard, STR("chunked")));
    http_server_free(s);
}

TEST(the_head_of_a_stream_alone)
{
    struct http_server *s = start_default();
    char out[4096];
    struct str heard =
        ask(s, "HEAD /stream HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
            out, sizeof(out));

    EXPECT(str_has_suffix(heard, STR("\r\n\r\n")));
    EXPECT(str_contains(heard, STR("X-Kind: stream")));
    http_server_free(s);
}

TEST(a_stream_waits_for_its_client)
{
    struct http_server *s = start_default();
    size_t got = 0;
    char *block = malloc(MB);
    int fd = connect_to(s);
    ssize_t n;

    say(fd, "GET /much HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    EXPECT(becomes_true(&running));
    usleep(300000);
    EXPECT(handled ==
           0); /* 64 MB are not kept for somebody who does not read */
    while ((n = recv(fd, block, MB, 0)) > 0)
        got += (size_t)n;
    EXPECT(got > 64 * MB && handled == 1);
    free(block);
    close(fd);
    http_server_free(s);
}

TEST(a_stream_ends_when_its_client_leaves)
{
    struct http_server *s = start_default();
    int fd = connect_to(s);

    say(fd, "GET /much HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT(becomes_true(&running));
    usleep(100000);
    close(fd);
    EXPECT(becomes_true(&handled) && handled == -1);
    http_server_free(s);
}

TEST(a_stream_ends_when_the_server_stops)
{
    struct http_server *s = start_default();
    int fd = connect_to(s);

    say(fd, "GET /much HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT(becomes_true(&running));
    usleep(100000);
    http_server_free(s);
    EXPECT(handled == -1);
    close(fd);
}

TEST(a_stream_that_fails_is_seen_to_fail)
{
    struct http_server *s;
    char out[4096];
    struct str heard;

    limits = http_default_limits;
    limits.reply_bytes = MB;
    s = start();
    heard = ask(s, "GET /broken HTTP/1.1\r\nHost: h\r\n\r\n", out, sizeof(out));
    /* Whether the first piece was sent before or not. */
    EXPECT(str_has_prefix(heard, STR("HTTP/1.1 500 ")) ||
           !str_contains(heard, STR("\r\n0\r\n")));
    http_server_free(s);
}

/* --- finishing later --------------------------------------------------------
 */

static struct http_exchange *wait_for_kept(void)
{
    struct http_exchange *x = NULL;

    for (int i = 0; i < 30000 && !x; i++) {
        pthread_mutex_lock(&lock);
        x = kept;
        pthread_mutex_unlock(&lock);
        usleep(1000);
    }
    EXPECT(x != NULL);
    return x;
}

static void *finish_soon(void *arg)
{
    struct http_exchange *x = wait_for_kept();

    usleep(50000);
    if (arg)
        EXPECT(becomes_true(&gone));
    buf_add(&x->body, STR("later"));
    http_exchange_finish(x);
    return NULL;
}

TEST(another_thread_finishes_an_exchange)
{
    struct http_server *s;
    pthread_t thread;
    char out[4096];
    struct str heard;
    int fd;

    limits = http_default_limits;
    limits.workers = 1;
    s = start();
    fd = connect_to(s);
    say(fd, "GET /defer HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    wait_for_kept();
    /* The only worker is free meanwhile. */
    heard = ask(s, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
                out, sizeof(out));
    EXPECT(str_has_suffix(heard, STR("0 bytes from -")));
    pthread_create(&thread, NULL, finish_soon, NULL);
    EXPECT(str_has_suffix(hear(fd, out, sizeof(out)), STR("\r\n\r\nlater")));
    pthread_join(thread, NULL);
    close(fd);
    http_server_free(s);
    EXPECT(gone == 0 && released == 1);
}

TEST(who_finishes_learns_that_the_client_left)
{
    struct http_server *s = start_default();
    pthread_t thread;
    int fd = connect_to(s);

    say(fd, "GET /defer HTTP/1.1\r\nHost: h\r\n\r\n");
    wait_for_kept();
    close(fd);
    EXPECT(becomes_true(&gone) && gone == 1);
    EXPECT(!http_exchange_wait(kept, 0));
    pthread_create(&thread, NULL, finish_soon, NULL);
    EXPECT(becomes_true(&released));
    pthread_join(thread, NULL);
    http_server_free(s);
    EXPECT(gone == 1 && released == 1);
}

TEST(stopping_waits_for_a_deferred_exchange)
{
    struct http_server *s = start_default();
    pthread_t thread;
    int fd = connect_to(s);

    say(fd, "GET /defer HTTP/1.1\r\nHost: h\r\n\r\n");
    wait_for_kept();
    pthread_create(&thread, NULL, finish_soon, &gone);
    http_server_free(s);
    EXPECT(gone == 1 && released == 1);
    pthread_join(thread, NULL);
    close(fd);
}

/* --- the end ----------------------------------------------------------------
 */

TEST(draining_answers_what_has_begun)
{
    struct http_server *s = start_default();
    pthread_t thread;
    char out[4096];
    struct str heard;
    int fd = connect_to(s), idle = connect_to(s);

    say(fd, "GET /defer HTTP/1.1\r\nHost: h\r\n\r\n");
    wait_for_kept();
    EXPECT(!http_server_drain(s, SECOND / 10));
    EXPECT(hear(idle, out, sizeof(out)).n == 0);
    pthread_create(&thread, NULL, finish_soon, NULL);
    EXPECT(http_server_drain(s, 30 * SECOND));
    heard = hear(fd, out, sizeof(out));
    EXPECT(str_contains(heard, STR("Connection: close\r\n")));
    EXPECT(str_has_suffix(heard, STR("later")));
    pthread_join(thread, NULL);
    http_server_free(s);
    close(fd);
    close(idle);
}

TEST(one_server_listens_at_several_addresses)
{
    char dir[] = "/tmp/pprof-test-XXXXXX", address[64], out[4096];
    struct http_listener more[] = {{.address = "127.0.0.2:0"}, {address}};
    struct http_server_options options = {.address = "127.0.0.1:0",
                                          .handler = handle,
                                          .more_listeners = more,
                                          .n_more_listeners = 2};
    struct http_server *s;

    EXPECT(mkdtemp(dir) != NULL);
    snprintf(address, sizeof(address), "unix:%s/s", dir);
    s = start_server(&options);
    EXPECT(str_has_prefix(str_from(http_server_address_at(s, 1)),
                          STR("127.0.0.2:")));
    EXPECT_STR(str_from(http_server_address_at(s, 2)), address);
    EXPECT(http_server_address_at(s, 3) == NULL);
    EXPECT(access(address + 5, F_OK) == 0);
    EXPECT(ask(s, "GET / HTTP/1.0\r\n\r\n", out, sizeof(out)).n > 0);
    http_server_free(s);
    EXPECT(access(address + 5, F_OK) != 0);
    EXPECT(rmdir(dir) == 0);
}

/* What follows on the connection is not looked at. */
TEST(a_client_that_asks_to_close_gets_one_reply)
{
    static const char *const words[] = {"close", "Close", "keep-alive, close"};
    struct http_server *s = start_default();

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        char out[4096], text[256];
        struct str heard;

        snprintf(text, sizeof(text),
                 "GET / HTTP/1.1\r\nHost: h\r\nConnection: %s\r\n\r\n"
                 "GET / HTTP/1.0\r\n\r\n", /* would end it, too */
                 words[i]);
        heard = ask(s, text, out, sizeof(out));
        EXPECT(count(heard, STR("HTTP/1.1 200 ")) == 1);
        EXPECT(str_contains(heard, STR("Connection: close\r\n")));
    }
    http_server_free(s);
}

TEST_MAIN

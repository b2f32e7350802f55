#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "http_support.h"

static atomic_int handler_waits, client_left;

static void handle(struct http_exchange *x, void *arg)
{
    struct str path = x->request->path;

    (void)arg;
    if (str_eq(path, STR("/slow"))) {
        atomic_store(&handler_waits, 1);
        atomic_store(&client_left, http_exchange_wait(x, 20 * SECOND) ? -1 : 1);
    } else if (str_eq(path, STR("/large"))) {
        buf_add_pad(&x->body, 'x', (size_t)4 << 20);
    } else if (str_eq(path, STR("/too-large"))) {
        buf_add_pad(&x->body, 'x', (size_t)100 << 20);
    } else if (str_eq(path, STR("/nothing"))) {
        x->status = 204;
        buf_add(&x->body, STR("not sent"));
    } else {
        http_exchange_header(x, "X-Path", path);
        buf_add(&x->body, x->request->body.n ? x->request->body : STR("hello"));
    }
}

/* Has all the patience for a request head that a test may need. */
static struct http_server *start(unsigned connections)
{
    struct http_limits limits = http_default_limits;
    struct http_server_options options = {
        .address = "127.0.0.1:0", .limits = &limits, .handler = handle};

    limits.connections = connections;
    limits.head_timeout_ns = 600 * SECOND;
    limits.reply_bytes = (size_t)8 << 20;
    return start_server(&options);
}

static void start_waiting(int fd)
{
    atomic_store(&handler_waits, 0);
    atomic_store(&client_left, 0);
    say(fd, "GET /slow HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT(becomes_true(&handler_waits));
}

TEST(two_pipelined_requests_are_answered_in_order)
{
    struct http_server *s = start(8);
    char out[4096];
    int fd = connect_to(s);
    struct str heard;

    say(fd, "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"
            "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n"
            "Connection: close\r\n\r\nbody");
    heard = hear(fd, out, sizeof(out));
    EXPECT(count(heard, STR("HTTP/1.1 200 OK\r\n")) == 2);
    EXPECT(str_find(heard, STR("X-Path: /a\r\n\r\nhello")) > 0);
    EXPECT(str_has_suffix(heard, STR("X-Path: /b\r\n\r\nbody")));
    close(fd);
    http_server_free(s);
}

TEST(a_client_that_sends_half_a_head_is_disconnected)
{
    struct http_limits limits = http_default_limits;
    struct http_server_options options = {
        .address = "127.0.0.1:0", .limits = &limits, .handler = handle};
    struct http_server *s;
    char out[4096];
    int fd;

    limits.head_timeout_ns = SECOND / 5;
    s = start_server(&options);
    fd = connect_to(s);
    say(fd, "GET / HTTP/1.1\r\nHost: h\r\n");
    EXPECT(!str_contains(hear(fd, out, sizeof(out)), STR(" 200 ")));
    EXPECT(recv(fd, out, 1, 0) == 0); /* closed, not a timeout of ours */
    close(fd);
    http_server_free(s);
}

TEST(a_chunked_body_and_100_continue)
{
    struct http_server *s = start(8);
    char out[4096];
    int fd = connect_to(s);
    struct str heard;

    say(fd, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
            "Expect: 100-continue\r\nConnection: close\r\n\r\n");
    EXPECT_STR(hear(fd, out, strlen("HTTP/1.1 100 Continue\r\n\r\n")),
               "HTTP/1.1 100 Continue\r\n\r\n");
    say(fd, "3\r\nabc\r\n0\r\n\r\n");
    heard = hear(fd, out, sizeof(out));
    EXPECT(str_has_suffix(heard, STR("\r\n\r\nabc")));
    close(fd);
    http_server_free(s);
}

TEST(head_gets_the_length_but_no_body)
{
    struct http_server *s = start(8);
    char out[4096];
    int fd = connect_to(s);
    struct str heard;

    say(fd, "HEAD / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    heard = hear(fd, out, sizeof(out));
    EXPECT(str_contains(heard, STR("Content-Length: 5\r\n")));
    EXPECT(str_has_suffix(heard, STR("\r\n\r\n")));
    close(fd);
    http_server_free(s);
}

TEST(a_large_reply_arrives_whole)
{
    struct http_server *s = start(8);
    size_t room = (size_t)5 << 20;
    char *out = malloc(room);
    int fd = connect_to(s);
    struct str heard;

    say(fd, "GET /large HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    heard = hear(fd, out, room);
    EXPECT(heard.n > (size_t)4 << 20);
    EXPECT(count(str_skip(heard, heard.n - 16), STR("xxxx")) == 4);
    free(out);
    close(fd);
    http_server_free(s);
}

TEST(a_reply_beyond_the_limit_is_a_500)
{
    struct http_server *s = start(8);
    char out[4096];
    int fd = connect_to(s);

    say(fd, "GET /too-large HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT(str_has_prefix(hear(fd, out, sizeof(out)), STR("HTTP/1.1 500 ")));
    close(fd);
    http_server_free(s);
}

TEST(a_reply_without_a_body_leaves_the_next_one_readable)
{
    struct http_server *s = start(8);
    int fd = connect_to(s);
    char out[4096];
    struct str all;

    say(fd, "GET /nothing HTTP/1.1\r\nHost: h\r\n\r\n"
            "GET /b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    all = hear(fd, out, sizeof(out));
    EXPECT(str_has_prefix(all, STR("HTTP/1.1 204 ")));
    EXPECT(str_find(all, STR("\r\n\r\nHTTP/1.1 200 ")) > 0);
    EXPECT(str_find(all, STR("not sent")) < 0);
    EXPECT(count(all, STR("Content-Length: ")) == 1);
    close(fd);
    http_server_free(s);
}

TEST(draining_does_not_wait_for_idle_connections)
{
    struct http_server *s = start(8);
    int silent = connect_to(s), idle = connect_to(s);
    char out[4096];

    say(idle, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT(recv(idle, out, sizeof(out), 0) > 0);
    EXPECT(http_server_drain(s, 30 * SECOND));
    EXPECT(recv(silent, out, sizeof(out), 0) == 0); /* they are closed */
    EXPECT(recv(idle, out, sizeof(out), 0) == 0);
    close(silent);
    close(idle);
    http_server_free(s);
}

TEST(garbage_is_refused_and_the_connection_closed)
{
    struct http_server *s = start(8);
    char out[4096];
    int fd = connect_to(s);

    say(fd, "\x16\x03\x01 not http\r\n\r\n");
    EXPECT(str_has_prefix(hear(fd, out, sizeof(out)), STR("HTTP/1.1 400 ")));
    close(fd);
    http_server_free(s);
}

TEST(a_handler_learns_that_its_client_left)
{
    struct http_server *s = start(8);
    int fd = connect_to(s);

    start_waiting(fd);
    close(fd);
    EXPECT(becomes_true(&client_left) && atomic_load(&client_left) == 1);
    http_server_free(s);
}

TEST(stopping_ends_a_handler_that_waits)
{
    struct http_server *s = start(8);
    int fd = connect_to(s);

    start_waiting(fd);
    http_server_free(s);
    EXPECT(atomic_load(&client_left) == 1);
    close(fd);
}

TEST(silent_clients_make_room_for_one_that_speaks)
{
    struct http_server *s = start(4);
    char out[4096];
    int silent[12], fd;

    for (size_t i = 0; i < 12; i++)
        silent[i] = connect_to(s);
    fd = connect_to(s);
    say(fd, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    EXPECT(str_has_suffix(hear(fd, out, sizeof(out)), STR("hello")));
    close(fd);
    for (size_t i = 0; i < 12; i++)
        close(silent[i]);
    http_server_free(s);
}

static bool is_answered(struct http_server *s, unsigned host)
{
    const char *request = "GET / HTTP/1.1\r\nHost: h\r\n"
                          "Connection: close\r\n\r\n";
    int fd = connect_from(s, host);
    char out[4096];
    bool ok;

    send(fd, request, strlen(request), MSG_NOSIGNAL); /* may be refused */
    ok = str_has_suffix(hear(fd, out, sizeof(out)), STR("hello"));
    close(fd);
    return ok;
}

/* A client whose request the server has begun to read, and waits for. */
static int connect_slowly(struct http_server *s, unsigned host)
{
    int fd = connect_from(s, host);
    char out[64];

    say(fd, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n"
            "Expect: 100-continue\r\n\r\n");
    EXPECT(recv(fd, out, sizeof(out), 0) > 0);
    return fd;
}

TEST(slow_clients_make_room_after_a_while)
{
    struct http_server *s = start(4);
    int64_t start_ns = clock_monotonic_ns();
    int slow[4];

    for (unsigned i = 0; i < 4; i++) /* none has more connections */
        slow[i] = connect_slowly(s, 2 + i);
    while (!is_answered(s, 100) &&
           clock_monotonic_ns() - start_ns < 60 * SECOND)
        usleep(50000);
    EXPECT(clock_monotonic_ns() - start_ns >= SECOND); /* not at once */
    EXPECT(clock_monotonic_ns() - start_ns < 60 * SECOND);
    for (unsigned i = 0; i < 4; i++)
        close(slow[i]);
    http_server_free(s);
}

TEST(an_address_with_many_connections_makes_room_at_once)
{
    struct http_server *s = start(4);
    int slow[4];

    for (unsigned i = 0; i < 4; i++)
        slow[i] = connect_slowly(s, 2);
    EXPECT(is_answered(s, 100));
    for (unsigned i = 0; i < 4; i++)
        close(slow[i]);
    http_server_free(s);
}

TEST(an_address_in_use_is_an_error_in_words)
{
    struct http_server *s = start(4);
    struct http_server_options options = {.address = http_server_address(s),
                                          .handler = handle};
    struct error err;

    EXPECT(http_server_new(&options, &err) == NULL);
    EXPECT(str_has_prefix(str_from(err.text), STR("listen 127.0.0.1:")));
    EXPECT(str_has_suffix(str_from(err.text), STR("address already in use")));
    options.address = "nonsense";
    EXPECT(http_server_new(&options, &err) == NULL);
    EXPECT_STR(str_from(err.text),
               "listen nonsense: no port: write nonsense:6060");
    http_server_free(s);
}

TEST(without_its_certificate_a_server_does_not_start)
{
    struct tls_files files = {"/nonexistent/crt", "/nonexistent/key", NULL};
    struct http_server_options options = {
        .address = "127.0.0.1:0", .tls = &files, .handler = handle};
    struct error err;

    EXPECT(http_server_new(&options, &err) == NULL);
    EXPECT(err.text[0] != '\0');
}

TEST(a_dead_socket_file_is_replaced_and_removed_at_the_end)
{
    struct http_server_options options = {.handler = handle};
    char dir[] = "/tmp/pprof-test-XXXXXX", address[64];
    struct http_server *s;
    struct error err;
    pid_t child;
    int status;

    EXPECT(mkdtemp(dir) != NULL);
    snprintf(address, sizeof(address), "unix:%s/s", dir);
    options.address = address;
    child = fork();
    if (child == 0) /* dies without removing its socket */
        _exit(http_server_new(&options, &err) ? 0 : 1);
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    EXPECT(access(address + 5, F_OK) == 0);
    s = http_server_new(&options, &err);
    EXPECT(s != NULL);
    EXPECT(http_server_new(&options, &err) == NULL); /* alive: not replaced */
    http_server_free(s);
    EXPECT(access(address + 5, F_OK) != 0);
    EXPECT(rmdir(dir) == 0);
}

static int open_descriptors(void)
{
    int n = 0;

    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

TEST(a_forked_child_has_none_of_its_descriptors)
{
    int before = open_descriptors(), fd, status;
    struct http_server *s = start(4);
    char out[64];
    pid_t child;

    fd = connect_to(s);
    say(fd, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n"
            "Expect: 100-continue\r\n\r\n");
    EXPECT(recv(fd, out, sizeof(out), 0) > 0); /* it is in the list */
    http_server_before_fork(s);
    child = fork();
    if (child == 0) {
        http_server_abandon(s);
        close(fd);
        _exit(open_descriptors() == before ? 0 : 1);
    }
    http_server_after_fork(s);
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    close(fd);
    http_server_free(s);
    EXPECT(open_descriptors() == before);
}

TEST(local_addresses)
{
    EXPECT(http_address_is_local("127.0.0.1:6060"));
    EXPECT(http_address_is_local("127.9.9.9:1"));
    EXPECT(http_address_is_local("localhost:0"));
    EXPECT(http_address_is_local("[::1]:6060"));
    EXPECT(http_address_is_local("unix:/run/x"));
    EXPECT(!http_address_is_local(":6060"));
    EXPECT(!http_address_is_local("0.0.0.0:6060"));
    EXPECT(!http_address_is_local("[::]:6060"));
    EXPECT(!http_address_is_local("nonsense"));
}

TEST_MAIN

#include "test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "http/server.h"

#define SECOND ((int64_t)1000000000)

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
    } else {
        http_exchange_header(x, "X-Path", path);
        buf_add(&x->body, x->request->body.n ? x->request->body : STR("hello"));
    }
}

static struct http_server *start(unsigned connections)
{
    struct http_limits limits = http_default_limits;
    struct http_server_options options = {
        .address = "127.0.0.1:0", .limits = &limits, .handler = handle};
    struct http_server *s;
    struct error err;

    limits.connections = connections;
    limits.reply_bytes = (size_t)8 << 20;
    s = http_server_new(&options, &err);
    if (!s) {
        printf("Bail out! %s\n", err.text);
        exit(1);
    }
    return s;
}

static int connect_to(const struct http_server *s)
{
    struct str address = str_from(http_server_address(s));
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct timeval patience = {.tv_sec = 30};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    uint64_t port = 0;

    EXPECT(str_to_u64(str_skip(address, strlen("127.0.0.1:")), 10, &port));
    in.sin_port = htons((uint16_t)port);
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    EXPECT(connect(fd, (struct sockaddr *)&in, sizeof(in)) == 0);
    return fd;
}

static void say(int fd, const char *text)
{
    EXPECT(send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text));
}

/* Reads until the server closes. */
static struct str hear(int fd, char *out, size_t size)
{
    size_t n = 0;
    ssize_t got;

    while (n < size && (got = recv(fd, out + n, size - n, 0)) > 0)
        n += (size_t)got;
    return str_of(out, n);
}

static size_t count(struct str text, struct str word)
{
    size_t n = 0;
    ptrdiff_t at;

    for (; (at = str_find(text, word)) >= 0; n++)
        text = str_skip(text, (size_t)at + word.n);
    return n;
}

static bool becomes_true(atomic_int *flag)
{
    int64_t until = clock_monotonic_ns() + 30 * SECOND;

    while (!atomic_load(flag) && clock_monotonic_ns() < until)
        usleep(1000);
    return atomic_load(flag) != 0;
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
    EXPECT_STR(str_from(err.text), "listen nonsense: not an address: want "
                                   "host:port or unix:/path");
    http_server_free(s);
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

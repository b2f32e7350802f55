/*
 * libpprof's client against servers that say exactly what a test tells them:
 * whole replies, half ones, and none at all.
 */
#include "http_support.h"

#include <pthread.h>

#include "http/client/http_client.h"

/* Listens on a free port, takes one connection, reads the request's head and
 * body, says `reply`, and closes, or waits until the client has closed. */
struct one_reply {
    const char *reply;
    bool stays;
    int fd;
    char port[8];
    char heard[4096];
    pthread_t thread;
};

static void *answer_once(void *arg)
{
    struct one_reply *s = arg;
    int fd = accept(s->fd, NULL, NULL);
    size_t n = 0;
    ssize_t got = 1;

    while (n < sizeof(s->heard) - 1 && got > 0 &&
           !strstr(s->heard, "the end")) {
        got = recv(fd, s->heard + n, sizeof(s->heard) - 1 - n, 0);
        n += got > 0 ? (size_t)got : 0;
    }
    say(fd, s->reply);
    if (s->stays) {
        char rest[64];

        while (recv(fd, rest, sizeof(rest), 0) > 0)
            ;
    }
    close(fd);
    return NULL;
}

static void start_reply(struct one_reply *s)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    socklen_t n = sizeof(in);

    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->fd = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT(bind(s->fd, (struct sockaddr *)&in, n) == 0);
    EXPECT(listen(s->fd, 1) == 0);
    EXPECT(getsockname(s->fd, (struct sockaddr *)&in, &n) == 0);
    snprintf(s->port, sizeof(s->port), "%u", ntohs(in.sin_port));
    EXPECT(pthread_create(&s->thread, NULL, answer_once, s) == 0);
}

static void end_reply(struct one_reply *s)
{
    pthread_join(s->thread, NULL);
    close(s->fd);
}

struct result {
    bool ok;
    struct http_answer answer;
    struct buf reply;
    struct error err;
};

/* A request to a server that answers with `s->reply`, within `ns`. */
static struct result call(struct one_reply *s, const char *token, int64_t ns)
{
    struct result r = {.reply = BUF_INIT(1 << 16)};
    struct http_call c = {.method = "POST",
                          .host = "127.0.0.1",
                          .path = "/path?a=b",
                          .content_type = "text/plain",
                          .token = str_from(token),
                          .body = STR("body, the end")};

    start_reply(s);
    c.port = s->port;
    c.deadline_ns = clock_monotonic_ns() + ns;
    r.ok = http_call(&c, &r.answer, &r.reply, &r.err);
    end_reply(s);
    return r;
}

TEST(a_request_has_its_parts_and_the_reply_comes_back)
{
    struct one_reply s = {.reply = "HTTP/1.1 200 OK\r\nRetry-After: 7\r\n"
                                   "Content-Length: 5\r\n\r\nhello"};
    struct result r = call(&s, "secret", 30 * SECOND);
    struct str heard = str_from(s.heard);

    EXPECT(r.ok && r.answer.status == 200 && r.answer.retry_after_s == 7);
    EXPECT_STR(buf_str(&r.reply), "hello");
    EXPECT(str_has_prefix(heard, STR("POST /path?a=b HTTP/1.1\r\n")));
    EXPECT(str_contains(heard, STR("Authorization: Bearer secret\r\n")));
    EXPECT(str_contains(heard, STR("Content-Length: 13\r\n")));
    EXPECT(str_has_suffix(heard, STR("\r\n\r\nbody, the end")));
    buf_release(&r.reply);
}

TEST(a_request_without_a_token_has_no_authorization)
{
    struct one_reply s = {.reply = "HTTP/1.1 204 No Content\r\n\r\n"};
    struct result r = call(&s, "", 30 * SECOND);

    EXPECT(r.ok && r.answer.status == 204);
    EXPECT(!str_contains(str_from(s.heard), STR("Authorization")));
    buf_release(&r.reply);
}

TEST(a_reply_that_does_not_come_in_time_is_an_error)
{
    struct one_reply s = {.reply =
                              "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel",
                          .stays = true};
    struct result r = call(&s, "", SECOND / 5);

    EXPECT(!r.ok && r.err.text[0] != 0);
    EXPECT(r.answer.status == 200); /* the head had arrived */
    buf_release(&r.reply);
}

TEST(a_reply_that_ends_too_soon_or_is_no_http_is_an_error)
{
    struct one_reply half = {
        .reply = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"};
    struct one_reply other = {.reply = "hello\r\n\r\n"};
    struct result r = call(&half, "", 30 * SECOND);

    EXPECT(!r.ok);
    EXPECT_STR(str_from(r.err.text), "the reply is malformed");
    buf_release(&r.reply);
    r = call(&other, "", 30 * SECOND);
    EXPECT(!r.ok && r.answer.status == 0);
    EXPECT_STR(str_from(r.err.text), "no HTTP reply");
    buf_release(&r.reply);
}

TEST_MAIN

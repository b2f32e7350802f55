#include "test.h"

#include "base/percent.h"
#include "http/message.h"

static enum http_parsed parse(const char *text, struct http_request *r,
                              int *status)
{
    size_t used;

    return http_parse_head(str_from(text), 1024, r, &used, status);
}

static int refused(const char *text)
{
    struct http_request r;
    int status;

    return parse(text, &r, &status) == HTTP_MALFORMED ? status : 0;
}

TEST(a_request_is_split_into_its_parts)
{
    const char *text = "GET /debug/pprof/heap?debug=1 HTTP/1.1\r\n"
                       "Host: h\r\nX-Thing:  a b \r\n\r\nrest";
    struct http_request r;
    size_t used;
    int status;

    EXPECT(http_parse_head(str_from(text), 1024, &r, &used, &status) ==
           HTTP_COMPLETE);
    EXPECT_STR(r.method, "GET");
    EXPECT_STR(r.path, "/debug/pprof/heap");
    EXPECT_STR(r.query, "debug=1");
    EXPECT_STR(http_request_header(&r, STR("x-thing")), "a b");
    EXPECT(http_request_header(&r, STR("absent")).s == NULL);
    EXPECT(r.keep_alive && !r.chunked);
    EXPECT_STR(str_from(text + used), "rest");
}

TEST(an_incomplete_head_asks_for_more)
{
    const char *text = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    struct http_request r;
    size_t used;
    int status;

    for (size_t n = 0; n < strlen(text); n++)
        EXPECT(http_parse_head(str_of(text, n), 1024, &r, &used, &status) ==
               HTTP_INCOMPLETE);
}

TEST(a_head_beyond_the_limit_is_refused)
{
    struct http_request r;
    size_t used;
    int status;

    EXPECT(http_parse_head(STR("GET / HTTP/1.1\r\nA: bbbbbbbbbbbbbb\r\n"), 20,
                           &r, &used, &status) == HTTP_MALFORMED);
    EXPECT(status == 431);
}

TEST(connections_stay_open_as_the_version_says)
{
    struct http_request r;
    int status;

    parse("GET / HTTP/1.1\r\nHost: h\r\nConnection: Close\r\n\r\n", &r,
          &status);
    EXPECT(!r.keep_alive);
    parse("GET / HTTP/1.0\r\n\r\n", &r, &status);
    EXPECT(!r.keep_alive);
    parse("GET / HTTP/1.0\r\nConnection: x, keep-alive\r\n\r\n", &r, &status);
    EXPECT(r.keep_alive);
}

TEST(what_could_be_read_two_ways_is_refused)
{
    EXPECT(refused("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n"
                   "Transfer-Encoding: chunked\r\n\r\n") == 400);
    EXPECT(refused("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n"
                   "Content-Length: 1\r\n\r\n") == 400);
    EXPECT(refused("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: +1\r\n\r\n") ==
           400);
    EXPECT(refused("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: "
                   "99999999999999999999\r\n\r\n") == 400);
    EXPECT(refused("GET / HTTP/1.1\r\nHost : h\r\n\r\n") == 400);
    EXPECT(refused("GET / HTTP/1.1\r\nHost: h\r\n folded\r\n\r\n") == 400);
    EXPECT(refused("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n") == 400);
    EXPECT(refused("GET / HTTP/1.1\r\nHost: h\r\nX: a\rb\r\n\r\n") == 400);
    EXPECT(refused("GET / HTTP/1.1\r\n\r\n") == 400);
    EXPECT(refused("GET  / HTTP/1.1\r\nHost: h\r\n\r\n") == 400);
    EXPECT(refused("GET / HTTP/1.1 x\r\nHost: h\r\n\r\n") == 400);
    EXPECT(refused("GET noslash HTTP/1.1\r\nHost: h\r\n\r\n") == 400);
    EXPECT(refused("GET / HTTP/2.0\r\nHost: h\r\n\r\n") == 505);
    EXPECT(refused("GET / HTTP/1.1\r\nHost: h\r\n"
                   "Transfer-Encoding: gzip\r\n\r\n") == 501);
    EXPECT(refused("G\x01T / HTTP/1.1\r\nHost: h\r\n\r\n") == 400);
}

TEST(a_proxy_form_target_is_taken)
{
    struct http_request r;
    int status;

    EXPECT(parse("GET http://h:1/a?b HTTP/1.1\r\nHost: h\r\n\r\n", &r,
                 &status) == HTTP_COMPLETE);
    EXPECT_STR(r.path, "/a");
    EXPECT_STR(r.query, "b");
}

TEST(chunks_are_joined_in_place)
{
    char bytes[] = "4;ext=1\r\nWiki\r\n5\r\npedia\r\n0\r\nT: x\r\n\r\nnext";
    size_t body_n, used;
    int status;

    EXPECT(http_unpack_chunks(bytes, strlen(bytes), 100, &body_n, &used,
                              &status) == HTTP_COMPLETE);
    EXPECT_STR(str_of(bytes, body_n), "Wikipedia");
    EXPECT_STR(str_from(bytes + used), "next");
}

TEST(bad_chunks_are_refused)
{
    char large[] = "ffffffffffffffff\r\nx", odd[] = "1\r\nxy\r\n0\r\n\r\n";
    char text[] = "zz\r\n";
    size_t body_n, used;
    int status;

    EXPECT(http_unpack_chunks(large, strlen(large), 100, &body_n, &used,
                              &status) == HTTP_MALFORMED &&
           status == 413);
    EXPECT(http_unpack_chunks(odd, strlen(odd), 100, &body_n, &used, &status) ==
           HTTP_MALFORMED);
    EXPECT(http_unpack_chunks(text, strlen(text), 100, &body_n, &used,
                              &status) == HTTP_MALFORMED);
}

TEST(percent_signs_are_decoded_or_refused)
{
    char out[16];

    EXPECT(percent_decode(STR("%68e+p"), true, out) == 4 &&
           memcmp(out, "he p", 4) == 0);
    EXPECT(percent_decode(STR("%6"), false, out) == -1);
    EXPECT(percent_decode(STR("%zz"), false, out) == -1);
}

TEST_MAIN

#include "test.h"

#include "base/percent.h"
#include "http/server/chunks.h"
#include "http/server/message.h"

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
    EXPECT(refused("GET / HTTP/1.1\r\nHost: h\r\n: x\r\n\r\n") == 400);
    EXPECT(refused("GET / HTTP/1.1\r\nHost: h\r\nX\r\n\r\n") == 400);
    EXPECT(refused("GET ? HTTP/1.1\r\nHost: h\r\n\r\n") == 400);
    EXPECT(refused("GET /\x7f HTTP/1.1\r\nHost: h\r\n\r\n") == 400);
    EXPECT(refused("GET / HTTP/1.1\r\nHost: h\r\nX: \x7f\r\n\r\n") == 400);
}

TEST(a_head_has_so_many_headers)
{
    struct buf head = BUF_INIT(1 << 20);
    struct http_request r;
    int status;
    size_t used;

    buf_add(&head, STR("GET / HTTP/1.1\r\nHost: h\r\n"));
    for (int i = 1; i < HTTP_MAX_HEADERS; i++)
        buf_addf(&head, "X-%d: x\r\n", i);
    buf_add(&head, STR("\r\n"));
    EXPECT(http_parse_head(buf_str(&head), 1 << 20, &r, &used, &status) ==
           HTTP_COMPLETE);
    EXPECT(r.n_headers == HTTP_MAX_HEADERS);
    head.len -= 2;
    buf_add(&head, STR("One-More: x\r\n\r\n"));
    EXPECT(http_parse_head(buf_str(&head), 1 << 20, &r, &used, &status) ==
           HTTP_MALFORMED);
    EXPECT(status == 431);
    buf_release(&head);
}

/* The head of a reply without its first line and its date. */
static struct str reply_head(struct buf *out, struct http_reply_head head)
{
    struct str rest, line;

    buf_clear(out);
    http_write_head(out, &head);
    rest = buf_str(out);
    EXPECT(str_next_line(&rest, &line) && str_next_line(&rest, &line));
    EXPECT(str_has_prefix(line, STR("Date: ")));
    return rest;
}

TEST(a_reply_head_says_where_the_body_ends)
{
    struct buf out = BUF_INIT(1000);

    EXPECT_STR(reply_head(&out, (struct http_reply_head){.status = 200,
                                                         .body_bytes = 5,
                                                         .keep_alive = true}),
               "Content-Length: 5\r\n\r\n");
    EXPECT_STR(
        reply_head(&out, (struct http_reply_head){.status = 200,
                                                  .headers = STR("X: y\r\n")}),
        "Content-Length: 0\r\nConnection: close\r\nX: y\r\n\r\n");
    EXPECT_STR(reply_head(&out, (struct http_reply_head){.status = 204,
                                                         .keep_alive = true}),
               "\r\n");
    EXPECT_STR(
        reply_head(&out,
                   (struct http_reply_head){.status = 200,
                                            .framing = HTTP_FRAMING_CHUNKED,
                                            .keep_alive = true}),
        "Transfer-Encoding: chunked\r\n\r\n");
    EXPECT_STR(reply_head(&out,
                          (struct http_reply_head){
                              .status = 200, .framing = HTTP_FRAMING_CLOSE}),
               "Connection: close\r\n\r\n");
    buf_release(&out);
}

TEST(a_log_line_has_no_bytes_that_would_break_it)
{
    struct buf out = BUF_INIT(1000);

    http_add_quoted(&out, STR("/a\n\"b\x7f c~"));
    EXPECT_STR(buf_str(&out), "\"/a??b? c~\"");
    buf_release(&out);
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

/* --- heads that arrive piece by piece ------------------------------------ */

TEST(a_head_is_found_whatever_the_pieces)
{
    const char *text = "\r\nGET / HTTP/1.1\r\nHost: h\r\nA: b\n\r\nbody";
    size_t head = strlen(text) - strlen("body");

    for (size_t step = 1; step <= strlen(text); step++) {
        struct http_head_scan scan = {0};
        enum http_parsed parsed = HTTP_INCOMPLETE;
        int status = 0;

        for (size_t n = step; parsed == HTTP_INCOMPLETE; n += step)
            parsed = http_scan_head(&scan, str_first(str_from(text), n), 1024,
                                    &status);
        EXPECT(parsed == HTTP_COMPLETE);
        EXPECT(scan.at == head);
    }
}

TEST(a_bad_first_line_is_refused_before_the_blank_line)
{
    struct http_head_scan scan = {0}, longer = {0};
    int status = 0;

    EXPECT(http_scan_head(&scan, STR("\x16\x03\x01\nmore"), 1024, &status) ==
           HTTP_MALFORMED);
    EXPECT(status == 400);
    EXPECT(http_scan_head(&longer, STR("GET / HTTP/1.1\r\nA: bcdefgh"), 20,
                          &status) == HTTP_MALFORMED);
    EXPECT(status == 431);
}

/* --- chunks --------------------------------------------------------------- */

/* Decodes a text in steps; the rest behind the body in *rest. */
static enum http_parsed decode(const char *text, size_t step, size_t max,
                               struct buf *out, struct str *rest, int *status)
{
    struct http_chunks chunks = {0};
    enum http_parsed parsed = HTTP_INCOMPLETE;
    struct str all = str_from(text);

    while (all.n > 0 && parsed == HTTP_INCOMPLETE) {
        struct str bytes = str_first(all, step), left = bytes;

        parsed = http_chunks_decode(&chunks, &left, max, out, status);
        all = str_skip(all, bytes.n - left.n);
    }
    *rest = all;
    return parsed;
}

TEST(chunks_are_joined_whatever_the_pieces)
{
    const char *text = "4;ext=1\r\nWiki\r\n05 \r\npedia\r\n"
                       "0\r\nT: x\r\n\r\nnext";

    for (size_t step = 1; step <= strlen(text); step++) {
        struct buf out = BUF_INIT(100);
        struct str rest;
        int status;

        EXPECT(decode(text, step, 100, &out, &rest, &status) == HTTP_COMPLETE);
        EXPECT_STR(buf_str(&out), "Wikipedia");
        EXPECT_STR(rest, "next");
        buf_release(&out);
    }
}

static int refused_chunks(const char *text)
{
    struct buf out = BUF_INIT(100);
    struct str rest;
    int status = 0;
    enum http_parsed parsed = decode(text, 1, 9, &out, &rest, &status);

    buf_release(&out);
    return parsed == HTTP_MALFORMED ? status : 0;
}

TEST(bad_chunks_are_refused)
{
    EXPECT(refused_chunks("ffffffffffffffff\r\nx") == 413);
    EXPECT(refused_chunks("a\r\n") == 413);
    EXPECT(refused_chunks("5\r\nhello\r\n5\r\n") == 413);
    EXPECT(refused_chunks("00000000000000001\r\n") == 400);
    EXPECT(refused_chunks("1\r\nxy\r\n0\r\n\r\n") == 400);
    EXPECT(refused_chunks("zz\r\n") == 400);
    EXPECT(refused_chunks("\r\n") == 400);
    EXPECT(refused_chunks(" 1\r\n") == 400);
    EXPECT(refused_chunks("-1\r\n") == 400);
    EXPECT(refused_chunks("1\rx") == 400);
    EXPECT(refused_chunks("1\r\nx\rx") == 400);
    EXPECT(refused_chunks("0\r\n\rx") == 400);
    EXPECT(refused_chunks("9\r\n123456789\r\n0\r\n\r\n") == 0);
}

TEST(extensions_and_trailers_have_an_end)
{
    struct buf text = BUF_INIT(1 << 20);

    buf_add(&text, STR("1;"));
    buf_add_pad(&text, 'x', (64 << 10) + 1);
    EXPECT(refused_chunks(buf_cstr(&text)) == 400);
    buf_clear(&text);
    buf_add(&text, STR("0\r\n"));
    for (int i = 0; i < 20000; i++)
        buf_add(&text, STR("a: b\r\n"));
    EXPECT(refused_chunks(buf_cstr(&text)) == 400);
    buf_release(&text);
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

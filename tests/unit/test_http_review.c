#include "test.h"

#include "http/access/kube_review.h"
#include "http/access/review_cache.h"
#include "http/client/reply_parser.h"

/* --- replies of servers ------------------------------------------------- */

/* Byte by byte, and all at once: it must make no difference. */
static enum http_parsed parse_in_steps(const char *text, size_t step,
                                       bool ended, int *status, char *body)
{
    struct reply_parser p;
    struct buf out = BUF_INIT(100);
    struct str rest = str_from(text);
    enum http_parsed parsed = HTTP_INCOMPLETE;

    reply_parser_init(&p);
    while (rest.n && parsed == HTTP_INCOMPLETE) {
        parsed = reply_parser_feed(&p, str_first(rest, step), &out);
        rest = str_skip(rest, step);
    }
    if (parsed == HTTP_INCOMPLETE && ended)
        parsed = reply_parser_end(&p) ? HTTP_COMPLETE : HTTP_MALFORMED;
    *status = p.status;
    snprintf(body, 1024, "%s", buf_cstr(&out));
    buf_release(&out);
    reply_parser_release(&p);
    return parsed;
}

static enum http_parsed parse(const char *text, bool ended, int *status,
                              char *body)
{
    enum http_parsed at_once =
        parse_in_steps(text, strlen(text), ended, status, body);
    int again;

    EXPECT(parse_in_steps(text, 1, ended, &again, body) == at_once);
    EXPECT(at_once != HTTP_COMPLETE || again == *status);
    return at_once;
}

TEST(a_reply_ends_where_it_says)
{
    char body[1024];
    int status;

    EXPECT(parse("HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\n{}rest",
                 false, &status, body) == HTTP_COMPLETE);
    EXPECT(status == 201);
    EXPECT_STR(str_from(body), "{}");
    EXPECT(parse("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                 "1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
                 false, &status, body) == HTTP_COMPLETE);
    EXPECT_STR(str_from(body), "{}");
    EXPECT(parse("HTTP/1.0 500\r\n\r\nno", true, &status, body) ==
           HTTP_COMPLETE);
    EXPECT(status == 500);
    EXPECT_STR(str_from(body), "no");
}

TEST(a_reply_without_a_proper_status_is_refused)
{
    static const char *const texts[] = {
        "HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 -20 OK\r\nContent-Length: 0\r\n\r\n",
    };
    char body[1024];
    int status;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        EXPECT(parse(texts[i], true, &status, body) == HTTP_MALFORMED);
}

TEST(half_a_reply_is_waited_for_or_refused)
{
    static const char *const texts[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
        "HTTP/1.1 200 OK\r\nContent-Le",
    };
    char body[1024];
    int status;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        EXPECT(parse(texts[i], false, &status, body) == HTTP_INCOMPLETE);
        EXPECT(parse(texts[i], true, &status, body) == HTTP_MALFORMED);
    }
}

TEST(a_strange_reply_is_refused)
{
    static const char two_lengths[] =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
        "Content-Length: 1\r\n\r\n1\r\nx\r\n0\r\n\r\n";
    static const char *const texts[] = {
        "HTTP/2 200 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 +20 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nx",
        two_lengths,
        "SSH-2.0-OpenSSH_9.2\r\n\r\n",
    };
    char body[1024];
    int status;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        EXPECT(parse(texts[i], false, &status, body) == HTTP_MALFORMED);
}

/* --- what the cluster says ---------------------------------------------- */

#define TOKEN_HEAD                                                             \
    "{\"kind\":\"TokenReview\",\"apiVersion\":\"authentication.k8s.io/v1\","
#define ACCESS_HEAD                                                            \
    "{\"kind\":\"SubjectAccessReview\","                                       \
    "\"apiVersion\":\"authorization.k8s.io/v1\","

TEST(a_user_is_passed_on_as_the_cluster_named_it)
{
    struct buf user = BUF_INIT(4096);
    bool known;
    char who[64];

    EXPECT(review_read_token(
        STR(TOKEN_HEAD
            "\"metadata\":{},\"spec\":{\"token\":\"t\"},\"status\":{"
            "\"authenticated\":true,\"user\":{\"username\":"
            "\"system:serviceaccount:mon:prom\",\"uid\":\"u-1\",\"groups\":["
            "\"system:authenticated\"],\"extra\":{\"a/b\":[\"c\"]}},"
            "\"audiences\":[\"x\"]}}"),
        &known, who, sizeof(who), &user));
    EXPECT(known);
    EXPECT_STR(str_from(who), "system:serviceaccount:mon:prom");
    EXPECT_STR(buf_str(&user),
               "\"user\":\"system:serviceaccount:mon:prom\",\"uid\":\"u-1\","
               "\"groups\":[\"system:authenticated\"],"
               "\"extra\":{\"a/b\":[\"c\"]}");
    buf_release(&user);
}

static bool token_is_good(const char *rest, bool *clear)
{
    struct buf user = BUF_INIT(4096), text = BUF_INIT(4096);
    bool known = true;
    char who[64];

    buf_addf(&text, TOKEN_HEAD "%s", rest);
    *clear = review_read_token(buf_str(&text), &known, who, sizeof(who), &user);
    buf_release(&user);
    buf_release(&text);
    return known;
}

TEST(a_token_that_is_not_known_is_a_clear_no)
{
    bool clear;

    EXPECT(!token_is_good("\"status\":{}}", &clear) && clear);
    EXPECT(
        !token_is_good("\"status\":{\"user\":{},\"error\":\"e\"}}", &clear) &&
        clear);
    EXPECT(!token_is_good("\"status\":{\"authenticated\":false,"
                          "\"error\":\"invalid bearer token\"}}",
                          &clear) &&
           clear);
}

TEST(doubts_about_a_token_are_a_no)
{
    static const char *const rests[] = {
        "}",
        "\"status\":null}",
        "\"status\":{\"authenticated\":\"true\",\"user\":{\"username\":"
        "\"a\"}}}",
        "\"status\":{\"authenticated\":1,\"user\":{\"username\":\"a\"}}}",
        "\"status\":{\"authenticated\":true}}",
        "\"status\":{\"authenticated\":true,\"user\":{}}}",
        "\"status\":{\"authenticated\":true,\"user\":{\"username\":\"\"}}}",
        "\"status\":{\"authenticated\":true,\"user\":{\"username\":1}}}",
        "\"status\":{\"authenticated\":true,\"user\":{\"username\":\"a\","
        "\"groups\":\"g\"}}}",
        "\"status\":{\"authenticated\":true,\"error\":\"e\","
        "\"user\":{\"username\":\"a\"}}}",
        "\"status\":{\"authenticated\":true,\"user\":{\"username\":\"a\"}}",
        "\"status\":{\"authenticated\":true,\"user\":{\"username\":\"a\"}}}x",
    };
    bool clear;

    for (size_t i = 0; i < sizeof(rests) / sizeof(rests[0]); i++) {
        EXPECT(!token_is_good(rests[i], &clear));
        EXPECT(!clear);
    }
}

TEST(access_is_what_is_allowed_and_not_denied)
{
    bool allowed;

    EXPECT(review_read_access(STR(ACCESS_HEAD "\"status\":{\"allowed\":true,"
                                              "\"reason\":\"RBAC\"}}"),
                              &allowed) &&
           allowed);
    EXPECT(review_read_access(
               STR(ACCESS_HEAD "\"status\":{\"allowed\":false}}"), &allowed) &&
           !allowed);
    EXPECT(review_read_access(STR(ACCESS_HEAD "\"status\":{\"allowed\":true,"
                                              "\"denied\":true}}"),
                              &allowed) &&
           !allowed);
}

TEST(doubts_about_access_are_a_no)
{
    static const struct str texts[] = {
        STR_INIT(""),
        STR_INIT("true"),
        STR_INIT("{\"status\":{\"allowed\":true}}"),
        STR_INIT(TOKEN_HEAD "\"status\":{\"allowed\":true}}"),
        STR_INIT(ACCESS_HEAD "\"status\":{}}"),
        STR_INIT(ACCESS_HEAD "\"status\":{\"allowed\":\"true\"}}"),
        STR_INIT(ACCESS_HEAD "\"status\":{\"allowed\":true,\"allowed\":true}}"),
        STR_INIT("{\"kind\":\"Status\",\"apiVersion\":\"v1\","
                 "\"status\":\"Failure\",\"code\":403}"),
    };
    bool allowed;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        EXPECT(!review_read_access(texts[i], &allowed));
        EXPECT(!allowed);
    }
}

/* --- memory of it ------------------------------------------------------- */

TEST(review_cache_are_kept_for_their_time)
{
    struct review_cache v;
    struct review_answer in = {.answer = 1, .who = "alice"}, out;

    review_cache_init(&v);
    review_cache_put(&v, STR("q"), 100, &in);
    EXPECT(review_cache_get(&v, STR("q"), 99, &out));
    EXPECT(out.answer == 1);
    EXPECT_STR(str_from(out.who), "alice");
    EXPECT(!review_cache_get(&v, STR("q"), 100, &out));
    EXPECT(!review_cache_get(&v, STR("qq"), 1, &out));
    EXPECT(!review_cache_get(&v, STR(""), 1, &out));
    review_cache_release(&v);
}

TEST(review_cache_are_so_many_and_no_more)
{
    struct review_cache v;
    struct review_answer in = {0}, out;
    char text[16];

    review_cache_init(&v);
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof(text), "%d", i);
        review_cache_put(&v, str_from(text), 1000 + i, &in);
    }
    EXPECT(review_cache_get(&v, STR("999"), 1, &out));
    EXPECT(review_cache_get(&v, STR("936"), 1, &out));
    EXPECT(!review_cache_get(&v, STR("935"), 1, &out));
    review_cache_put(&v, STR("999"), 5000, &in);
    EXPECT(review_cache_get(&v, STR("936"), 1, &out));
    review_cache_release(&v);
}

TEST_MAIN

#include "test.h"

#include "base/base64.h"
#include "http/access/access_key.h"
#include "http/access/credentials.h"
#include "http/server/host.h"

static struct http_request parse(const char *text)
{
    struct http_request r = {0};
    size_t used;
    int status;

    EXPECT(http_parse_head(str_from(text), 16384, &r, &used, &status) ==
           HTTP_COMPLETE);
    return r;
}

static bool host_is_fine(const char *host, const char *allowed)
{
    char text[256];
    struct http_request r;

    snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host);
    r = parse(text);
    return http_host_is_fine(&r, allowed);
}

TEST(addresses_and_localhost_are_fine_hosts)
{
    struct http_request none = parse("GET / HTTP/1.0\r\n\r\n");

    EXPECT(host_is_fine("localhost", NULL));
    EXPECT(host_is_fine("LocalHost:8080", NULL));
    EXPECT(host_is_fine("127.0.0.1:6060", NULL));
    EXPECT(host_is_fine("[::1]:6060", NULL));
    EXPECT(host_is_fine("10.1.2.3", NULL));
    EXPECT(http_host_is_fine(&none, NULL));
}

TEST(other_names_are_fine_only_when_listed)
{
    EXPECT(!host_is_fine("evil.example", NULL));
    EXPECT(!host_is_fine("localhost.evil.example:6060", NULL));
    EXPECT(!host_is_fine("127.0.0.1.evil.example", NULL));
    EXPECT(!host_is_fine("[evil.example]", NULL));
    EXPECT(!host_is_fine("[::1]evil.example", NULL));
    EXPECT(!host_is_fine("[::1]evil.example", "*"));
    EXPECT(!host_is_fine("[::1", NULL));
    EXPECT(!host_is_fine("127.0.0.1:evil.example", NULL));
    EXPECT(!host_is_fine("127.0.0.1:80:80", NULL));
    EXPECT(!host_is_fine("localhost:99999", NULL));
    EXPECT(!host_is_fine("evil.example@localhost", NULL));
    EXPECT(!host_is_fine("evil.example/localhost", "*"));
    EXPECT(!host_is_fine("::1", NULL));
    EXPECT(host_is_fine("localhost:", NULL));
    EXPECT(host_is_fine("Box.example:80", "a.example, box.example"));
    EXPECT(!host_is_fine("box.example.org", "a.example, box.example"));
    EXPECT(host_is_fine("anything", "*"));
}

static ptrdiff_t decode(const char *text, char *out)
{
    return base64_decode(str_from(text), out);
}

TEST(base64_gives_back_what_was_encoded)
{
    char out[64];

    EXPECT(decode("", out) == 0);
    EXPECT(decode("dXNlcjpwYXNz", out) == 9 && !memcmp(out, "user:pass", 9));
    EXPECT(decode("YQ==", out) == 1 && out[0] == 'a');
    EXPECT(decode("YWI", out) == 2 && !memcmp(out, "ab", 2));
    EXPECT(decode("YR==", out) == -1); /* bits left over */
    EXPECT(decode("Y", out) == -1);
    EXPECT(decode("Y===", out) == -1);
    EXPECT(decode("YQ=a", out) == -1);
    EXPECT(decode("Y Q=", out) == -1);
}

TEST(credentials_are_bearer_or_basic)
{
    struct credentials c;
    struct http_request r =
        parse("GET / HTTP/1.0\r\nAuthorization: bearer  abc\r\n\r\n");

    credentials_read(&r, &c);
    EXPECT(c.kind == CREDENTIALS_BEARER);
    EXPECT_STR(c.secret, "abc");
    r = parse("GET / HTTP/1.0\r\nAuthorization: Basic dTpwOng=\r\n\r\n");
    credentials_read(&r, &c);
    EXPECT(c.kind == CREDENTIALS_BASIC);
    EXPECT_STR(c.user, "u");
    EXPECT_STR(c.secret, "p:x");
    r = parse("GET / HTTP/1.0\r\n\r\n");
    credentials_read(&r, &c);
    EXPECT(c.kind == CREDENTIALS_NONE);
}

TEST(other_credentials_are_bad)
{
    static const char *const bad[] = {"Bearer",    "Bearer ",    "Basic ****",
                                      "Basic YWI", "Digest a=b", "abc"};
    struct credentials c;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[128];
        struct http_request r;

        snprintf(text, sizeof(text),
                 "GET / HTTP/1.0\r\nAuthorization: %s\r\n\r\n", bad[i]);
        r = parse(text);
        credentials_read(&r, &c);
        EXPECT(c.kind == CREDENTIALS_BAD);
    }
}

TEST(secrets_are_equal_only_as_a_whole)
{
    EXPECT(credentials_equal(STR("secret"), STR("secret")));
    EXPECT(!credentials_equal(STR("secre"), STR("secret")));
    EXPECT(!credentials_equal(STR("secretsecret"), STR("secret")));
    EXPECT(!credentials_equal(STR("secreT"), STR("secret")));
    EXPECT(!credentials_equal(STR(""), STR("secret")));
    EXPECT(!credentials_equal(STR("secret"), STR("")));
    EXPECT(!credentials_equal(STR(""), STR("")));
}

/* The exchange of one request through a key's check. */
struct visit {
    struct http_request request;
    struct http_client client;
    struct http_exchange x;
    bool passed;
};

static void visit(struct visit *v, const struct access_key *key,
                  const char *text)
{
    *v = (struct visit){.request = parse(text)};
    v->x = (struct http_exchange){.request = &v->request,
                                  .client = &v->client,
                                  .status = 200,
                                  .headers = BUF_INIT(4096),
                                  .body = BUF_INIT(4096)};
    v->passed = access_key_check(key, &v->x);
}

static void leave(struct visit *v)
{
    buf_release(&v->x.headers);
    buf_release(&v->x.body);
}

static struct access_key example_key(void)
{
    return (struct access_key){"0123456789abcdef0123456789abcdef", "pprof_1"};
}

TEST(a_key_in_the_url_becomes_a_cookie)
{
    struct access_key key = example_key();
    struct visit v;

    visit(&v, &key,
          "GET /ui/top?f=x&token=0123456789abcdef0123456789abcdef&g=%26 "
          "HTTP/1.0\r\n\r\n");
    EXPECT(!v.passed && v.x.status == 302);
    EXPECT(str_contains(buf_str(&v.x.headers),
                        STR("\r\nLocation: /ui/top?f=x&g=%26\r\n")));
    EXPECT(str_contains(buf_str(&v.x.headers),
                        STR("Set-Cookie: pprof_1=0123456789abcdef0123456789"
                            "abcdef; Path=/; HttpOnly; SameSite=Lax\r\n")));
    leave(&v);
}

TEST(a_key_lets_its_holder_pass)
{
    struct access_key key = example_key();
    struct visit v;

    visit(&v, &key,
          "GET / HTTP/1.0\r\nCookie: a=b; "
          "pprof_1=0123456789abcdef0123456789abcdef\r\n\r\n");
    EXPECT(v.passed);
    leave(&v);
    visit(&v, &key,
          "POST / HTTP/1.0\r\nAuthorization: Bearer "
          "0123456789abcdef0123456789abcdef\r\n\r\n");
    EXPECT(v.passed);
    leave(&v);
}

TEST(a_key_keeps_everybody_else_out)
{
    static const char *const texts[] = {
        "GET / HTTP/1.0\r\n\r\n",
        "GET /?token= HTTP/1.0\r\n\r\n",
        "GET /?token=0123456789abcdef HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.0\r\nCookie: pprof_1=\r\n\r\n",
        "GET / HTTP/1.0\r\nCookie: "
        "pprof_2=0123456789abcdef0123456789abcdef\r\n\r\n",
        "POST /?token=0123456789abcdef0123456789abcdef HTTP/1.0\r\n\r\n",
        "GET //evil.example/?token=0123456789abcdef0123456789abcdef "
        "HTTP/1.0\r\n\r\n",
        "GET /\\evil.example/?token=0123456789abcdef0123456789abcdef "
        "HTTP/1.0\r\n\r\n",
    };
    struct access_key key = example_key();

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct visit v;

        visit(&v, &key, texts[i]);
        EXPECT(!v.passed && v.x.status == 403);
        leave(&v);
    }
}

TEST(keys_differ)
{
    struct access_key a, b;
    struct error err;

    EXPECT(access_key_init(&a, &err) && access_key_init(&b, &err));
    EXPECT(strlen(a.text) == 32 && strcmp(a.text, b.text) != 0);
    EXPECT(strcmp(a.cookie, b.cookie) != 0);
}

TEST_MAIN

#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http/budget.h"
#include "http/certificate.h"
#include "http/guard.h"
#include "http/rate.h"
#include "http/tokens.h"

#define SECOND ((int64_t)1000000000)

/* --- names of certificates ---------------------------------------------- */

static bool listed(const char *list)
{
    return certificate_is_listed(
        STR("CN:alice\0DNS:Pod.example\0URI:spiffe://c/ns/mon/sa/x\0"),
        str_from(list));
}

TEST(a_certificate_is_listed_by_any_of_its_names)
{
    EXPECT(listed("alice"));
    EXPECT(listed("bob , CN:alice"));
    EXPECT(listed("DNS:pod.example"));
    EXPECT(listed("spiffe://c/ns/mon/sa/x"));
    EXPECT(listed("spiffe://c/ns/mon/*"));
    EXPECT(listed("URI:spiffe://c/*"));
}

TEST(a_name_of_another_kind_or_a_part_is_not_enough)
{
    EXPECT(!listed(""));
    EXPECT(!listed(","));
    EXPECT(!listed("Alice"));
    EXPECT(!listed("alic"));
    EXPECT(!listed("alice2"));
    EXPECT(!listed("pod.example"));
    EXPECT(!listed("DNS:alice"));
    EXPECT(!listed("DNS:example"));
    EXPECT(!listed("spiffe://c/ns/mon"));
    EXPECT(!listed("spiffe://c/ns/monitor/*"));
    EXPECT(!certificate_is_listed(STR(""), STR("*")));
}

/* --- tokens ------------------------------------------------------------- */

static bool finds(const char *text, enum credentials_kind kind,
                  const char *user, const char *secret, char *who)
{
    struct credentials c = {
        .kind = kind, .user = str_from(user), .secret = str_from(secret)};

    return tokens_find(str_from(text), &c, who, 64);
}

TEST(bearer_tokens_are_lines_of_the_file)
{
    static const char text[] = "# ours\r\n\n  first \nbob:pass\nlast";
    char who[64];

    EXPECT(finds(text, CREDENTIALS_BEARER, "", "first", who));
    EXPECT_STR(str_from(who), "token 3");
    EXPECT(finds(text, CREDENTIALS_BEARER, "", "last", who));
    EXPECT(!finds(text, CREDENTIALS_BEARER, "", "# ours", who));
    EXPECT(!finds(text, CREDENTIALS_BEARER, "", "bob:pass", who));
    EXPECT(!finds(text, CREDENTIALS_BEARER, "", "pass", who));
    EXPECT(!finds(text, CREDENTIALS_BEARER, "", "", who));
}

TEST(basic_has_a_pair_or_a_token_as_password)
{
    static const char text[] = "tok\nbob:pass:word\neve:\n";
    char who[64];

    EXPECT(finds(text, CREDENTIALS_BASIC, "bob", "pass:word", who));
    EXPECT_STR(str_from(who), "user bob");
    EXPECT(finds(text, CREDENTIALS_BASIC, "anybody", "tok", who));
    EXPECT_STR(str_from(who), "token 1");
    EXPECT(!finds(text, CREDENTIALS_BASIC, "bob", "pass", who));
    EXPECT(!finds(text, CREDENTIALS_BASIC, "eve", "pass:word", who));
    EXPECT(!finds(text, CREDENTIALS_BASIC, "eve", "", who));
    EXPECT(!finds(text, CREDENTIALS_BASIC, "", "", who));
    EXPECT(!finds(text, CREDENTIALS_NONE, "", "tok", who));
    EXPECT(!finds(text, CREDENTIALS_BAD, "", "tok", who));
}

/* --- the guard ---------------------------------------------------------- */

struct place {
    char dir[32], file[64];
};

static void make_place(struct place *p, const char *text)
{
    int fd;

    snprintf(p->dir, sizeof(p->dir), "/tmp/pprof-guard-XXXXXX");
    EXPECT(mkdtemp(p->dir) != NULL);
    snprintf(p->file, sizeof(p->file), "%s/tokens", p->dir);
    fd = open(p->file, O_WRONLY | O_CREAT, 0600);
    EXPECT(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static void remove_place(struct place *p)
{
    unlink(p->file);
    rmdir(p->dir);
}

/* What becomes of a request: 0 it passes, else the status. */
static int ask(struct guard *g, const char *text,
               const struct http_client *client, char *who)
{
    struct http_request r = {0};
    struct http_exchange x = {.request = &r,
                              .client = client,
                              .status = 200,
                              .headers = BUF_INIT(4096),
                              .body = BUF_INIT(4096)};
    size_t used;
    int status;
    bool passed;

    EXPECT(http_parse_head(str_from(text), 16384, &r, &used, &status) ==
           HTTP_COMPLETE);
    passed = guard_check(g, &x, who);
    if (x.status == 401)
        EXPECT(str_contains(buf_str(&x.headers), STR("WWW-Authenticate: B")));
    buf_release(&x.headers);
    buf_release(&x.body);
    return passed ? 0 : x.status;
}

static struct guard *guard(struct guard_options options)
{
    struct error err;
    struct guard *g = guard_new(&options, &err);

    EXPECT(g != NULL);
    return g;
}

static const char plain[] = "GET /debug/pprof/heap HTTP/1.0\r\n\r\n";
static const char with_token[] =
    "GET / HTTP/1.0\r\nAuthorization: Bearer tok\r\n\r\n";

TEST(an_open_guard_stops_only_rebound_names)
{
    struct guard *g = guard((struct guard_options){0});
    struct http_client somebody = {.address = "127.0.0.1:1"};
    char who[GUARD_WHO_MAX];

    EXPECT(ask(g, plain, &somebody, who) == 0);
    EXPECT_STR(str_from(who), "-");
    EXPECT(ask(g, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", &somebody,
               who) == 403);
    guard_free(g);
}

TEST(certificates_must_be_there_and_on_the_list)
{
    struct guard *any = guard((struct guard_options){.certificates = true});
    struct guard *some = guard(
        (struct guard_options){.certificates = true, .client_allow = "CN:bob"});
    char names[] = "CN:alice\0DNS:a";
    struct http_client none = {.is_tls = true}, alice = none;
    char who[GUARD_WHO_MAX];

    alice.has_certificate = true;
    alice.names = (struct buf){.data = names, .len = sizeof(names)};
    EXPECT(ask(any, plain, &none, who) == 403);
    EXPECT(ask(any, plain, &alice, who) == 0);
    EXPECT_STR(str_from(who), "CN:alice");
    EXPECT(ask(some, plain, &alice, who) == 403);
    EXPECT(ask(any, with_token, &none, who) == 403);
    guard_free(any);
    guard_free(some);
}

TEST(a_unix_socket_is_for_its_user_and_root)
{
    struct guard *g = guard((struct guard_options){0});
    struct http_client own = {.is_unix = true, .uid = geteuid()};
    struct http_client root = {.is_unix = true};
    struct http_client other = {.is_unix = true, .uid = 12345};
    struct http_client unknown = {.is_unix = true, .uid = (uid_t)-1};
    char who[GUARD_WHO_MAX];

    EXPECT(ask(g, plain, &own, who) == 0);
    EXPECT(ask(g, plain, &root, who) == 0);
    EXPECT_STR(str_from(who), "uid 0");
    EXPECT(ask(g, plain, &other, who) == 403);
    EXPECT(ask(g, plain, &unknown, who) == 403);
    guard_free(g);
}

TEST(a_token_is_asked_for_and_read_again)
{
    struct http_client somebody = {.address = "10.0.0.1:1"};
    char who[GUARD_WHO_MAX];
    struct place p;
    struct guard *g;

    make_place(&p, "old\n");
    g = guard((struct guard_options){.token_file = p.file});
    EXPECT(ask(g, plain, &somebody, who) == 401);
    EXPECT(ask(g, with_token, &somebody, who) == 401);
    remove_place(&p);
    sleep(1); /* it looks at the file once a second */
    EXPECT(ask(g, "GET / HTTP/1.0\r\nAuthorization: Bearer old\r\n\r\n",
               &somebody, who) == 401);
    guard_free(g);

    make_place(&p, "tok\n");
    g = guard((struct guard_options){.token_file = p.file});
    EXPECT(ask(g, with_token, &somebody, who) == 0);
    EXPECT_STR(str_from(who), "token 1");
    guard_free(g);
    remove_place(&p);
}

TEST(a_token_file_without_a_token_is_an_error)
{
    struct error err;
    struct place p;

    make_place(&p, "# none\n");
    EXPECT(!guard_new(&(struct guard_options){.token_file = p.file}, &err));
    EXPECT(str_has_suffix(str_from(err.text), STR("no token in it")));
    EXPECT(!tokens_are_exposed(p.file));
    chmod(p.file, 0644);
    EXPECT(tokens_are_exposed(p.file));
    remove_place(&p);
    EXPECT(!guard_new(&(struct guard_options){.token_file = p.file}, &err));
}

/* --- limits ------------------------------------------------------------- */

TEST(a_client_asks_so_often_a_minute)
{
    struct rate r = {.per_minute = 3};
    int64_t now = 1000 * SECOND;

    for (int i = 0; i < 3; i++)
        EXPECT(rate_allows(&r, STR("10.0.0.1"), now));
    EXPECT(!rate_allows(&r, STR("10.0.0.1"), now));
    EXPECT(rate_allows(&r, STR("10.0.0.2"), now));
    EXPECT(!rate_allows(&r, STR("10.0.0.1"), now + 19 * SECOND));
    EXPECT(rate_allows(&r, STR("10.0.0.1"), now + 20 * SECOND));
    EXPECT(!rate_allows(&r, STR("10.0.0.1"), now + 20 * SECOND));
    EXPECT(rate_allows(&r, STR("10.0.0.1"), now + 200 * SECOND));
}

TEST(no_number_is_no_limit)
{
    struct rate r = {0};
    struct budget b;

    for (int i = 0; i < 1000; i++)
        EXPECT(rate_allows(&r, STR("10.0.0.1"), 0));
    budget_init(&b, 0, SECOND, 0);
    EXPECT(budget_spend(&b, 1000 * SECOND, 1) == 0);
}

TEST(a_budget_is_a_share_with_savings)
{
    struct budget b;

    budget_init(&b, 5, SECOND / 10, 0);
    EXPECT(budget_spend(&b, SECOND / 10, 0) == 0);
    EXPECT(budget_spend(&b, SECOND / 100, 0) == SECOND / 5);
    EXPECT(budget_spend(&b, 0, SECOND / 10) == SECOND / 10);
    EXPECT(budget_spend(&b, 0, SECOND / 5) == 0);
    EXPECT(budget_spend(&b, SECOND / 10, 1000 * SECOND) == 0);
    EXPECT(budget_spend(&b, SECOND / 10, 1000 * SECOND) == 2 * SECOND);
}

TEST_MAIN

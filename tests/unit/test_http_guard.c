#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http/access/guard.h"
#include "base/secret_file.h"
#include "http/access/tokens.h"
#include "http/server/budget.h"
#include "http/server/rate.h"
#include "http/tls/certificate.h"

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
                  const char *user, const char *secret,
                  struct http_identity *who)
{
    struct credentials c = {
        .kind = kind, .user = str_from(user), .secret = str_from(secret)};

    return tokens_find(str_from(text), &c, who);
}

TEST(bearer_tokens_are_lines_of_the_file)
{
    static const char text[] = "# ours\r\n\n  first \nbob:pass\nlast";
    struct http_identity who;

    EXPECT(finds(text, CREDENTIALS_BEARER, "", "first", &who));
    EXPECT_STR(str_from(who.name), "token 3");
    EXPECT(finds(text, CREDENTIALS_BEARER, "", "last", &who));
    EXPECT(!finds(text, CREDENTIALS_BEARER, "", "# ours", &who));
    EXPECT(!finds(text, CREDENTIALS_BEARER, "", "bob:pass", &who));
    EXPECT(!finds(text, CREDENTIALS_BEARER, "", "pass", &who));
    EXPECT(!finds(text, CREDENTIALS_BEARER, "", "", &who));
}

TEST(basic_has_a_pair_or_a_token_as_password)
{
    static const char text[] = "tok\nbob:pass:word\neve:\n";
    struct http_identity who;

    EXPECT(finds(text, CREDENTIALS_BASIC, "bob", "pass:word", &who));
    EXPECT_STR(str_from(who.name), "user bob");
    EXPECT(finds(text, CREDENTIALS_BASIC, "anybody", "tok", &who));
    EXPECT_STR(str_from(who.name), "token 1");
    EXPECT(!finds(text, CREDENTIALS_BASIC, "bob", "pass", &who));
    EXPECT(!finds(text, CREDENTIALS_BASIC, "eve", "pass:word", &who));
    EXPECT(!finds(text, CREDENTIALS_BASIC, "eve", "", &who));
    EXPECT(!finds(text, CREDENTIALS_BASIC, "", "", &who));
    EXPECT(!finds(text, CREDENTIALS_NONE, "", "tok", &who));
    EXPECT(!finds(text, CREDENTIALS_BAD, "", "tok", &who));
}

TEST(a_secret_may_be_good_for_some_things_only)
{
    static const char text[] = "all\n"
                               "w scope=write\n"
                               "bob:pass word services=api,web-*  scope=read\n"
                               "odd scope=admin\n"
                               "bare=scope=read\n";
    struct http_identity who;
    struct error err;

    EXPECT(finds(text, CREDENTIALS_BEARER, "", "all", &who));
    EXPECT(guard_allows(&who, HTTP_MAY_READ | HTTP_MAY_WRITE, STR("x")));
    EXPECT(finds(text, CREDENTIALS_BEARER, "", "w", &who));
    EXPECT(guard_allows(&who, HTTP_MAY_WRITE, STR("x")));
    EXPECT(!guard_allows(&who, HTTP_MAY_READ, STR("x")));
    EXPECT(finds(text, CREDENTIALS_BASIC, "bob", "pass word", &who));
    EXPECT(guard_allows(&who, HTTP_MAY_READ, STR("api")));
    EXPECT(guard_allows(&who, HTTP_MAY_READ, STR("web-1")));
    EXPECT(guard_allows(&who, HTTP_MAY_READ, STR("")));
    EXPECT(!guard_allows(&who, HTTP_MAY_READ, STR("apis")));
    EXPECT(!guard_allows(&who, HTTP_MAY_READ, STR("web")));
    EXPECT(!guard_allows(&who, HTTP_MAY_WRITE, STR("api")));
    EXPECT(!finds(text, CREDENTIALS_BEARER, "", "odd", &who));
    EXPECT(finds(text, CREDENTIALS_BEARER, "", "bare=scope=read", &who));
    EXPECT(!tokens_check(str_from(text), &err));
    EXPECT(str_has_prefix(str_from(err.text), STR("line 4: must have scope=")));
}

TEST(attributes_stand_behind_blanks_or_tabs)
{
    static const char text[] = "tab\tscope=read\t services=a\n"
                               "scope=read\n"
                               "none services=\n";
    char many[HTTP_SERVICES_MAX + 32] = "long services=";
    struct http_identity who;
    struct error err;

    EXPECT(finds(text, CREDENTIALS_BEARER, "", "tab", &who));
    EXPECT(who.scopes == HTTP_MAY_READ);
    EXPECT_STR(str_from(who.services), "a");
    EXPECT(finds(text, CREDENTIALS_BEARER, "", "scope=read", &who));
    EXPECT(!finds(text, CREDENTIALS_BEARER, "", "none", &who));
    EXPECT(!tokens_check(str_from(text), &err));
    EXPECT(str_has_prefix(str_from(err.text), STR("line 3: ")));
    memset(many + strlen(many), 'x', HTTP_SERVICES_MAX - 1);
    EXPECT(finds(many, CREDENTIALS_BEARER, "", "long", &who));
    EXPECT(strlen(who.services) == HTTP_SERVICES_MAX - 1);
    many[strlen(many)] = 'x';
    EXPECT(!finds(many, CREDENTIALS_BEARER, "", "long", &who));
}

/* --- the guard ---------------------------------------------------------- */

struct changed_path {
    char dir[32], file[64];
};

static void make_place(struct changed_path *p, const char *text)
{
    int fd;

    snprintf(p->dir, sizeof(p->dir), "/tmp/pprof-guard-XXXXXX");
    EXPECT(mkdtemp(p->dir) != NULL);
    snprintf(p->file, sizeof(p->file), "%s/tokens", p->dir);
    fd = open(p->file, O_WRONLY | O_CREAT, 0600);
    EXPECT(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static void remove_place(struct changed_path *p)
{
    unlink(p->file);
    rmdir(p->dir);
}

/* What becomes of a request: 0 it is admitted, 1 undecided, else the status. */
static int ask(struct guard *g, const char *text,
               const struct http_client *client, struct http_identity *who)
{
    struct http_request r = {0};
    struct http_exchange x = {.request = &r,
                              .client = client,
                              .identity = {.name = "-"},
                              .status = 200,
                              .headers = BUF_INIT(4096),
                              .body = BUF_INIT(4096)};
    enum http_admission admission;
    size_t used;
    int status;

    EXPECT(http_parse_head(str_from(text), 16384, &r, &used, &status) ==
           HTTP_COMPLETE);
    admission = guard_admit(g, &x, false);
    if (x.status == 401)
        EXPECT(str_contains(buf_str(&x.headers), STR("WWW-Authenticate: B")));
    buf_release(&x.headers);
    buf_release(&x.body);
    *who = x.identity;
    return admission == HTTP_ADMITTED    ? 0
           : admission == HTTP_UNDECIDED ? 1
                                         : x.status;
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
    struct http_identity who;

    EXPECT(ask(g, plain, &somebody, &who) == 0);
    EXPECT_STR(str_from(who.name), "-");
    EXPECT(ask(g, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", &somebody,
               &who) == 403);
    guard_free(g);
}

TEST(certificates_must_be_there_and_on_the_list)
{
    struct guard *any = guard((struct guard_options){.certificates = true});
    struct guard *some = guard(
        (struct guard_options){.certificates = true, .client_allow = "CN:bob"});
    char names[] = "CN:alice\0DNS:a";
    struct http_client none = {.is_tls = true}, alice = none;
    struct http_identity who;

    alice.has_certificate = true;
    alice.names = (struct buf){.data = names, .len = sizeof(names)};
    EXPECT(ask(any, plain, &none, &who) == 403);
    EXPECT(ask(any, plain, &alice, &who) == 0);
    EXPECT_STR(str_from(who.name), "CN:alice");
    EXPECT(ask(some, plain, &alice, &who) == 403);
    EXPECT(ask(any, with_token, &none, &who) == 403);
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
    struct http_identity who;

    EXPECT(ask(g, plain, &own, &who) == 0);
    EXPECT(ask(g, plain, &root, &who) == 0);
    EXPECT_STR(str_from(who.name), "uid 0");
    EXPECT(ask(g, plain, &other, &who) == 403);
    EXPECT(ask(g, plain, &unknown, &who) == 403);
    guard_free(g);
}

TEST(a_token_is_asked_for_and_read_again)
{
    struct http_client somebody = {.address = "10.0.0.1:1"};
    struct http_identity who;
    struct changed_path p;
    struct guard *g;

    make_place(&p, "old\n");
    g = guard((struct guard_options){.token_file = p.file});
    EXPECT(ask(g, plain, &somebody, &who) == 401);
    EXPECT(ask(g, with_token, &somebody, &who) == 401);
    remove_place(&p);
    sleep(1); /* it looks at the file once a second */
    EXPECT(ask(g, "GET / HTTP/1.0\r\nAuthorization: Bearer old\r\n\r\n",
               &somebody, &who) == 401);
    guard_free(g);

    make_place(&p, "tok\n");
    g = guard((struct guard_options){.token_file = p.file});
    EXPECT(ask(g, with_token, &somebody, &who) == 0);
    EXPECT_STR(str_from(who.name), "token 1");
    guard_free(g);
    remove_place(&p);
}

TEST(a_token_file_without_a_token_is_an_error)
{
    struct error err;
    struct changed_path p;

    make_place(&p, "# none\n");
    EXPECT(!guard_new(&(struct guard_options){.token_file = p.file}, &err));
    EXPECT(str_has_suffix(str_from(err.text), STR("no token in it")));
    EXPECT(!secret_file_is_exposed(p.file));
    chmod(p.file, 0644);
    EXPECT(secret_file_is_exposed(p.file));
    remove_place(&p);
    EXPECT(!guard_new(&(struct guard_options){.token_file = p.file}, &err));
}

TEST(an_empty_list_of_names_is_an_error)
{
    struct error err;

    EXPECT(!guard_new(
        &(struct guard_options){.certificates = true, .client_allow = " "},
        &err));
    EXPECT(str_contains(str_from(err.text), STR("empty")));
}

TEST(wrong_secrets_do_not_lock_out_the_right_one)
{
    struct http_client somebody = {.address = "10.0.0.1:1"};
    struct http_client other = {.address = "10.0.0.2:1"};
    static const char wrong[] =
        "GET / HTTP/1.0\r\nAuthorization: Bearer no\r\n\r\n";
    struct http_identity who;
    struct changed_path p;
    struct guard *g;

    make_place(&p, "tok\n");
    g = guard((struct guard_options){.token_file = p.file});
    for (int i = 0; i < 60; i++)
        EXPECT(ask(g, wrong, &somebody, &who) == 401);
    EXPECT(ask(g, wrong, &somebody, &who) == 429);
    EXPECT(ask(g, wrong, &other, &who) == 401);
    EXPECT(ask(g, with_token, &somebody, &who) == 0);
    EXPECT(who.is_authenticated);
    guard_free(g);
    remove_place(&p);
}

TEST(a_token_is_for_what_its_line_says)
{
    struct http_client somebody = {.address = "10.0.0.1:1"};
    struct http_identity who;
    struct changed_path p;
    struct guard *g;

    make_place(&p, "tok scope=write services=api\n");
    g = guard((struct guard_options){.token_file = p.file});
    EXPECT(ask(g, with_token, &somebody, &who) == 0);
    EXPECT(who.scopes == HTTP_MAY_WRITE);
    EXPECT_STR(str_from(who.services), "api");
    guard_free(g);
    remove_place(&p);
}

TEST(names_that_are_given_count_with_authentication_too)
{
    struct guard *any = guard((struct guard_options){.certificates = true});
    struct guard *some =
        guard((struct guard_options){.certificates = true, .hosts = "a.b"});
    struct http_client alice = {.is_tls = true, .has_certificate = true};
    struct http_identity who;

    EXPECT(ask(any, "GET / HTTP/1.1\r\nHost: x.y\r\n\r\n", &alice, &who) == 0);
    EXPECT(ask(some, "GET / HTTP/1.1\r\nHost: x.y\r\n\r\n", &alice, &who) ==
           403);
    EXPECT(ask(some, "GET / HTTP/1.1\r\nHost: a.b:1\r\n\r\n", &alice, &who) ==
           0);
    EXPECT(ask(any, "GET / HTTP/1.1\r\nHost: [::1]x.y\r\n\r\n", &alice, &who) ==
           403);
    guard_free(any);
    guard_free(some);
}

TEST(another_site_may_at_most_link_to_a_document)
{
    struct guard *strict = guard((struct guard_options){0});
    struct guard *page = guard((struct guard_options){.may_navigate = true});
    struct http_client somebody = {.address = "127.0.0.1:1"};
    static const char fetched[] =
        "GET / HTTP/1.0\r\nSec-Fetch-Site: cross-site\r\n"
        "Sec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\n\r\n";
    static const char followed[] =
        "GET / HTTP/1.0\r\nSec-Fetch-Site: cross-site\r\n"
        "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n\r\n";
    struct http_identity who;

    EXPECT(ask(strict, fetched, &somebody, &who) == 403);
    EXPECT(ask(strict, followed, &somebody, &who) == 403);
    EXPECT(ask(page, fetched, &somebody, &who) == 403);
    EXPECT(ask(page, followed, &somebody, &who) == 0);
    EXPECT(!who.is_authenticated);
    guard_free(strict);
    guard_free(page);
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

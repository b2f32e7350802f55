#include "test.h"

#include <unistd.h>

#include "page_support.h"
#include "profile/encode.h"

#define SOME                                                                   \
    "types samples/count cpu/nanoseconds\n"                                    \
    "map /bin/app 1000-5000\n"                                                 \
    "main;read 1 10\n"                                                         \
    "main;write 2 30\n"

static void expect_reply(const struct asker *a, const char *line, int status,
                         const char *body)
{
    struct reply r = ask(a, line);

    EXPECT(r.status == status);
    if (body)
        EXPECT_STR(buf_str(&r.body), body);
    reply_release(&r);
}

static void expect_location(const struct asker *a, const char *line, int status,
                            const char *location)
{
    struct reply r = ask(a, line);
    char header[256];

    snprintf(header, sizeof(header), "Location: %s\r\n", location);
    EXPECT(r.status == status && has_header(&r, header));
    reply_release(&r);
}

TEST(paths_lead_to_the_flame_graph_and_keep_the_query)
{
    struct page_options o = {0};
    struct asker a = {.page = page_of(SOME, &o)};

    expect_location(&a, "GET /", 307, "/ui");
    expect_location(&a, "GET /x/y?f=a%20b", 307, "/ui?f=a%20b");
    expect_location(&a, "GET /ui?si=cpu", 307, "/ui/?si=cpu");
    expect_location(&a, "GET /ui/", 301, "flamegraph");
    expect_location(&a, "GET /ui/flamegraphold?n=1", 301, "flamegraph?n=1");
    page_free(a.page);
}

TEST(a_path_never_reaches_a_file)
{
    static const char *const paths[] = {
        "GET /ui/assets/",
        "GET /ui/assets/../page.h",
        "GET /ui/assets/%2e%2e/page.h",
        "GET /ui/assets//etc/passwd",
        "GET /ui/assets/index.html/",
        "GET /ui/assets/index.html%00",
    };
    struct page_options o = {.web_dir = "/"};
    struct asker a = {.page = page_of(SOME, &o)};

    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
        expect_reply(&a, paths[i], 404, "404 page not found\n");
    page_free(a.page);
}

/* The ETag of a reply as a line of a request; "" if it has none. */
static void repeat_tag(const struct reply *r, char *line, size_t room)
{
    struct str headers = buf_str(&r->headers);
    ptrdiff_t at = str_find(headers, STR("ETag: "));
    struct str tag = at < 0 ? STR("") : str_skip(headers, (size_t)at + 6);

    *line = '\0';
    if (at >= 0)
        snprintf(line, room, "If-None-Match: %.*s\r\n",
                 (int)str_find_char(tag, '\r'), tag.s);
}

TEST(files_have_a_tag_and_are_sent_once)
{
    struct page_options o = {0};
    struct asker a = {.page = page_of(SOME, &o)};
    struct reply r = ask(&a, "GET /ui/assets/index.html");
    char headers[128];

    EXPECT(r.status == 200);
    repeat_tag(&r, headers, sizeof(headers));
    reply_release(&r);
    EXPECT(headers[0]);
    a.headers = headers;
    expect_reply(&a, "GET /ui/assets/index.html", 304, "");
    a.headers = "If-None-Match: \"other\"\r\n";
    expect_reply(&a, "GET /ui/assets/index.html", 200, NULL);
    page_free(a.page);
}

TEST(data_are_made_once_for_a_browser)
{
    struct page_options o = {0};
    struct asker a = {.page = page_of(SOME, &o)};
    struct reply r = ask(&a, "GET /ui/data/flame?f=main");
    char headers[128];

    repeat_tag(&r, headers, sizeof(headers));
    reply_release(&r);
    EXPECT(headers[0]);
    a.headers = headers;
    expect_reply(&a, "GET /ui/data/flame?f=main", 304, "");
    expect_reply(&a, "GET /ui/data/flame?f=read", 200, NULL);
    expect_reply(&a, "GET /ui/data/top?f=main", 200, NULL);
    page_free(a.page);
    a.page = page_of(SOME, &o); /* another run: other profiles, maybe */
    expect_reply(&a, "GET /ui/data/flame?f=main", 200, NULL);
    a.headers = NULL;
    r = ask(&a, "GET /ui/data/meta"); /* settings may change */
    EXPECT(!has_header(&r, "ETag"));
    reply_release(&r);
    r = ask(&a, "GET /ui/data/peek?f=nosuch");
    EXPECT(r.status == 400 && !has_header(&r, "ETag"));
    reply_release(&r);
    page_free(a.page);
}

TEST(browsers_get_the_shell_where_programs_get_a_sentence)
{
    struct page_options o = {0};
    struct asker a = {.page = page_of(SOME, &o)};
    static const char *const lines[] = {"GET /ui/nosuch", "GET /ui/top?n=x"};
    static const char *const words[] = {
        "404 page not found\n",
        "error setting config field nodecount: strconv.Atoi: parsing \"x\": "
        "invalid syntax\n"};
    static const int status[] = {404, 400};

    for (int i = 0; i < 2; i++) {
        struct reply r;

        a.headers = NULL;
        expect_reply(&a, lines[i], status[i], words[i]);
        a.headers = "Accept: text/html,application/xhtml+xml;q=0.9\r\n";
        r = ask(&a, lines[i]);
        EXPECT(r.status == status[i] &&
               has_header(&r, "Content-Type: text/html"));
        reply_release(&r);
    }
    page_free(a.page);
}

TEST(browsers_learn_early_what_the_script_will_ask_for)
{
    struct page_options o = {0};
    struct asker a = {.page = page_of(SOME, &o),
                      .headers = "Accept: text/html\r\n"};
    struct reply r = ask(&a, "GET /ui/flamegraph");

    EXPECT(has_header(&r, "Link: <data/meta?>; rel=preload;"));
    EXPECT(has_header(&r, "<data/flame?>; rel=preload;"));
    reply_release(&r);
    r = ask(&a, "GET /ui/top");
    EXPECT(has_header(&r, "Link: <data/meta?>") && !has_header(&r, "flame"));
    reply_release(&r);
    r = ask(&a, "GET /ui/flamegraph?f=x");
    EXPECT(!has_header(&r, "Link: "));
    reply_release(&r);
    page_free(a.page);
}

TEST(every_reply_has_the_policy)
{
    static const char *const lines[] = {
        "GET /",           "GET /ui/top",      "GET /ui/nosuch",
        "GET /ui/data/x",  "GET /ui/data/top", "GET /ui/assets/index.html",
        "GET /ui/download"};
    struct page_options o = {0};
    struct asker a = {.page = page_of(SOME, &o)};

    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        struct reply r = ask(&a, lines[i]);

        EXPECT(has_header(&r, "Content-Security-Policy: default-src 'none'; "
                              "script-src 'self' 'sha256-"));
        EXPECT(has_header(&r, "X-Content-Type-Options: nosniff\r\n"));
        reply_release(&r);
    }
    page_free(a.page);
}

/* Somebody follows a link. */
#define LINK "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"

static bool cuts_the_opener(struct asker *a, const char *headers)
{
    struct reply r;
    bool found;

    a->headers = headers;
    r = ask(a, "GET /ui/top");
    found = has_header(&r, "Cross-Origin-Opener-Policy: same-origin\r\n");
    reply_release(&r);
    return found;
}

TEST(a_page_of_another_site_loses_its_handle)
{
    struct page_options o = {0}, local = {.local_only = true};
    struct asker a = {.page = page_of(SOME, &o)};

    EXPECT(cuts_the_opener(&a, NULL));
    EXPECT(cuts_the_opener(&a, "Sec-Fetch-Site: cross-site\r\n" LINK));
    EXPECT(cuts_the_opener(&a, "Sec-Fetch-Site: same-site\r\n"));
    /* There is no such page: the browser need not start a process. */
    EXPECT(!cuts_the_opener(&a, "Sec-Fetch-Site: none\r\n"));
    EXPECT(!cuts_the_opener(&a, "Sec-Fetch-Site: same-origin\r\n"));
    page_free(a.page);
    a.page = page_of(SOME, &local);
    EXPECT(!cuts_the_opener(&a, "Sec-Fetch-Site: cross-site\r\n" LINK));
    page_free(a.page);
}

TEST(bodies_are_gzipped_for_those_who_want_it)
{
    struct page_options o = {0};
    struct asker a = {.page = page_of(SOME, &o)};
    struct buf plain = BUF_INIT(BUF_NO_LIMIT);
    struct error err;
    struct reply r, packed;

    a.headers = "Accept-Encoding: gzip;q=0\r\n";
    r = ask(&a, "GET /ui/data/meta");
    EXPECT(!has_header(&r, "Content-Encoding"));
    a.headers = "Accept-Encoding: br, gzip;q=0.5\r\n";
    packed = ask(&a, "GET /ui/data/meta");
    EXPECT(has_header(&packed, "Content-Encoding: gzip\r\n"));
    EXPECT(gzip_inflate(buf_str(&packed.body), &plain, &err));
    EXPECT(str_eq(buf_str(&plain), buf_str(&r.body)));
    buf_release(&plain);
    reply_release(&r);
    reply_release(&packed);
    page_free(a.page);
}

TEST(files_are_gzipped_already)
{
    struct page_options o = {0};
    struct asker a = {.page = page_of(SOME, &o)};
    struct buf plain = BUF_INIT(BUF_NO_LIMIT);
    struct error err;
    struct reply r = ask(&a, "GET /ui/assets/index.html"), packed;

    a.headers = "Accept-Encoding: gzip\r\n";
    packed = ask(&a, "GET /ui/assets/index.html");
    EXPECT(has_header(&packed, "Content-Encoding: gzip\r\n"));
    EXPECT(gzip_inflate(buf_str(&packed.body), &plain, &err));
    EXPECT(str_eq(buf_str(&plain), buf_str(&r.body)));
    buf_release(&plain);
    reply_release(&r);
    reply_release(&packed);
    page_free(a.page);
}

TEST(strangers_are_refused)
{
    struct page_options o = {.local_only = true};
    struct asker a = {.page = page_of(SOME, &o), .client = "10.1.2.3:9"};

    expect_reply(&a, "GET /ui/top", 403, "permission denied\n");
    a.client = "[::1]:9";
    expect_reply(&a, "GET /ui/top", 200, NULL);
    a.host = "rebound.example:8080";
    expect_reply(&a, "GET /ui/top", 403, NULL);
    page_free(a.page);
}

TEST(a_key_is_asked_for_before_anything_else)
{
    struct access_key key;
    struct error err;
    struct page_options o = {.key = &key};
    struct asker a = {.page = page_of(SOME, &o), .client = "10.1.2.3:9"};
    char line[128];

    EXPECT(access_key_init(&key, &err));
    expect_reply(&a, "GET /ui/data/top", 403, NULL);
    expect_reply(&a, "GET /ui/assets/index.html", 403, NULL);
    snprintf(line, sizeof(line), "GET /ui/top?token=%s&f=a", key.text);
    expect_location(&a, line, 302, "/ui/top?f=a");
    page_free(a.page);
}

TEST(another_site_changes_nothing)
{
    static const char *const lines[] = {"POST /ui/profiles?name=x",
                                        "DELETE /ui/profiles/1",
                                        "POST /ui/refetch",
                                        "GET /ui/saveconfig?config=x",
                                        "POST /ui/saveconfig?config=x",
                                        "GET /ui/deleteconfig?config=x"};
    struct page_options o = {0};
    struct asker a = {.page = page_of(SOME, &o)};

    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        a.headers = "Sec-Fetch-Site: cross-site\r\n";
        expect_reply(&a, lines[i], 403, NULL);
        a.headers = "Sec-Fetch-Site: same-origin\r\n";
        expect_reply(&a, lines[i], 400, NULL);
    }
    expect_reply(&a, "POST /ui/top", 405, NULL);
    expect_reply(&a, "PUT /ui/data/top", 405, NULL);
    page_free(a.page);
}

/* ---- several profiles ---- */

static struct buf bytes_of(const char *text)
{
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct profile *p = sketch(text);

    profile_encode(p, &out);
    profile_free(p);
    return out;
}

TEST(dropped_profiles_are_added_compared_and_removed)
{
    struct page_options o = {0};
    struct asker a = {.page = page_of(SOME, &o), .headers = "X-Pprof: 1\r\n"};
    struct buf other = bytes_of("types samples/count cpu/nanoseconds\n"
                                "main;read 4 50\n");
    struct reply r;

    a.body = buf_str(&other);
    expect_reply(&a, "POST /ui/profiles?name=%3Cb%3E.pb", 200,
                 "{\"id\":\"2\"}");
    r = ask(&a, "GET /ui/data/meta?profile=2&base=1");
    EXPECT_STR(member(&r, "has_base"), "true");
    EXPECT_STR(member(&r, "total"), "40");
    EXPECT_STR(member(&r, "profiles"),
               "[{\"id\":\"1\",\"name\":\"test.pb\",\"added\":false},"
               "{\"id\":\"2\",\"name\":\"<b>.pb\",\"added\":true}]");
    reply_release(&r);
    expect_reply(&a, "DELETE /ui/profiles/1", 400,
                 "a profile of the command line stays\n");
    expect_reply(&a, "DELETE /ui/profiles/2", 200, "");
    expect_reply(&a, "GET /ui/data/top?profile=2", 400,
                 "{\"error\":\"there is no profile 2\"}");
    expect_reply(&a, "POST /ui/profiles", 200, "{\"id\":\"3\"}");
    buf_release(&other);
    page_free(a.page);
}

TEST(only_so_many_profiles_can_be_dropped)
{
    struct page_options o = {0};
    struct asker a = {.page = page_of(SOME, &o), .headers = "X-Pprof: 1\r\n"};
    struct buf other = bytes_of(SOME);

    a.body = buf_str(&other);
    for (int i = 0; i < 16; i++)
        expect_reply(&a, "POST /ui/profiles?name=x", 200, NULL);
    expect_reply(&a, "POST /ui/profiles?name=x", 400,
                 "16 profiles are open already: close one first\n");
    a.body = STR("");
    expect_reply(&a, "DELETE /ui/profiles/9", 200, "");
    expect_reply(&a, "POST /ui/profiles?name=x", 400,
                 "parsing profile: empty input file\n");
    buf_release(&other);
    page_free(a.page);
}

TEST(what_came_from_another_machine_opens_no_files)
{
    struct access_key key;
    struct error err;
    struct page_options o = {.key = &key};
    struct asker a = {.page = page_of(SOME, &o)};
    struct buf other = bytes_of("types n/count\nmain@/etc/passwd:1#10 1\n");
    char headers[128];

    EXPECT(access_key_init(&key, &err));
    snprintf(headers, sizeof(headers),
             "X-Pprof: 1\r\nAuthorization: Bearer %s\r\n", key.text);
    a.headers = headers;
    a.body = buf_str(&other);
    expect_reply(&a, "POST /ui/profiles?name=x", 200, "{\"id\":\"2\"}");
    expect_reply(&a, "GET /ui/data/source?profile=2&f=main", 400,
                 "{\"error\":\"sources and binaries are not opened for a "
                 "profile that came from another machine: save it, and open "
                 "it with pprof where they are\"}");
    buf_release(&other);
    page_free(a.page);
}

TEST(a_few_bytes_do_not_become_gigabytes)
{
    struct page_options o = {0};
    struct asker a = {.page = page_of(SOME, &o), .headers = "X-Pprof: 1\r\n"};
    struct buf packed = BUF_INIT(BUF_NO_LIMIT);
    size_t n = (size_t)129 << 20;
    char *zeros = calloc(n, 1);
    struct error err;
    struct reply r;

    EXPECT(zeros && gzip_deflate(str_of(zeros, n), &packed, &err));
    a.body = buf_str(&packed);
    r = ask(&a, "POST /ui/profiles?name=bomb");
    EXPECT(r.status == 400);
    EXPECT(str_contains(buf_str(&r.body), STR("134217728")));
    reply_release(&r);
    buf_release(&packed);
    free(zeros);
    page_free(a.page);
}

/* ---- settings ---- */

TEST(configurations_are_saved_shown_and_deleted)
{
    char dir[] = "/tmp/pprof-page-XXXXXX", path[64], text[64];
    struct page_options o = {.settings = path};
    struct asker a = {.headers = "X-Pprof: 1\r\n"};
    struct reply r;

    EXPECT(mkdtemp(dir) != NULL);
    snprintf(path, sizeof(path), "%s/pprof/settings.json", dir);
    a.page = page_of(SOME, &o);
    expect_reply(&a, "GET /ui/saveconfig", 400, "invalid config name\n");
    expect_reply(&a, "GET /ui/saveconfig?config=my+way&f=%22a%22&trim=f", 200,
                 "");
    r = ask(&a, "GET /ui/data/meta?si=cpu&i=x&f=%22a%22&trim=f");
    EXPECT_STR(member(&r, "configs"),
               "[{\"name\":\"Default\",\"url\":\"?si=cpu\","
               "\"current\":false,\"user\":false},"
               "{\"name\":\"my way\",\"url\":\"?f=%22a%22&si=cpu&trim=f\","
               "\"current\":false,\"user\":true}]");
    reply_release(&r);
    r = ask(&a, "GET /ui/data/meta?trim=f&f=%22a%22");
    EXPECT(str_contains(member(&r, "configs"),
                        STR("trim=f\",\"current\":true,\"user\":true}]")));
    reply_release(&r);
    expect_reply(&a, "GET /ui/deleteconfig?config=other", 400,
                 "config other not found\n");
    expect_reply(&a, "GET /ui/deleteconfig?config=my%20way", 200, "");
    r = ask(&a, "GET /ui/data/meta");
    EXPECT_STR(member(&r, "configs"),
               "[{\"name\":\"Default\",\"url\":\"?\",\"current\":true,"
               "\"user\":false}]");
    reply_release(&r);
    page_free(a.page);
    snprintf(text, sizeof(text), "%s/pprof", dir);
    EXPECT(unlink(path) == 0 && rmdir(text) == 0 && rmdir(dir) == 0);
}

TEST(a_broken_settings_file_is_not_overwritten)
{
    char path[] = "/tmp/pprof-settings-XXXXXX", text[16] = {0};
    struct page_options o = {.settings = path};
    struct asker a = {.headers = "X-Pprof: 1\r\n"};
    int fd = mkstemp(path);

    EXPECT(fd >= 0 && write(fd, "{\"configs\":", 11) == 11);
    a.page = page_of(SOME, &o);
    expect_reply(&a, "GET /ui/saveconfig?config=x", 400,
                 "could not parse settings: that is not JSON\n");
    EXPECT(pread(fd, text, sizeof(text) - 1, 0) == 11);
    EXPECT_STR(str_from(text), "{\"configs\":");
    page_free(a.page);
    close(fd);
    unlink(path);
}

/* ---- hostile names ---- */

#define NASTY "</script><nasty>\"'&\x01\xff"

TEST(names_with_markup_are_text_everywhere)
{
    static const char *const data[] = {
        "GET /ui/data/meta",   "GET /ui/data/top",    "GET /ui/data/graph",
        "GET /ui/data/peek",   "GET /ui/data/raw",    "GET /ui/data/tags",
        "GET /ui/data/stacks", "GET /ui/data/source", "GET /ui/data/traces"};
    struct page_options o = {0};
    struct asker a = {.page =
                          page_of("types " NASTY "/count\n"
                                  "map " NASTY " 1000-5000\n" NASTY ";" NASTY
                                  "@" NASTY ":7 1 " NASTY "=" NASTY "\n",
                                  &o)};
    struct reply r;

    for (size_t i = 0; i < sizeof(data) / sizeof(*data); i++) {
        struct json_view v;

        r = ask(&a, data[i]);
        EXPECT(r.status == 200 && has_header(&r, "application/json"));
        EXPECT(json_view(buf_str(&r.body), &v)); /* strict: UTF-8, escapes */
        reply_release(&r);
    }
    r = ask(&a, "GET /ui/offline");
    EXPECT(r.status == 200);
    EXPECT(!str_contains(buf_str(&r.body), STR("<nasty")));
    EXPECT(str_contains(buf_str(&r.body),
                        STR("data-answer=\"flame?si=&lt;/script&gt;")));
    reply_release(&r);
    page_free(a.page);
}

TEST_MAIN

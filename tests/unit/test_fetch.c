#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "fetch/client_certificate.h"
#include "fetch/fetch.h"
#include "fetch/index.h"
#include "fetch/source_url.h"
#include "fetch/target.h"
#include "fetch/url.h"

TEST(a_url_is_split_into_its_parts)
{
    struct url u;

    EXPECT(url_parse(STR("https://me:pw@h:1/a/b?x=1&y#frag"), &u));
    EXPECT_STR(u.scheme, "https");
    EXPECT_STR(u.userinfo, "me:pw");
    EXPECT_STR(u.host, "h:1");
    EXPECT_STR(u.path, "/a/b");
    EXPECT_STR(u.query, "x=1&y");
}

TEST(a_host_with_port_reads_as_a_scheme)
{
    struct url u;

    EXPECT(url_parse(STR("localhost:8080/x"), &u));
    EXPECT_STR(u.scheme, "localhost");
    EXPECT_STR(u.host, "");
}

TEST(texts_that_cannot_be_urls)
{
    struct url u;

    EXPECT(!url_parse(STR("http://a b/"), &u));
    EXPECT(!url_parse(STR("http://a\n/"), &u));
    EXPECT(!url_parse(STR("http://h:port/"), &u));
    EXPECT(url_parse(STR("http://[::1]:80/"), &u));
}

TEST(a_query_is_written_sorted_with_one_word_set)
{
    struct arena *a = arena_new();
    struct str v;

    EXPECT_STR(url_query_set(a, STR("z=1&seconds=5&a=%2F+b"), STR("seconds"),
                             STR("30")),
               "a=%2F+b&seconds=30&z=1");
    EXPECT_STR(url_query_set(a, STR("b=2&b=1&a"), STR(""), STR("")),
               "a=&b=2&b=1");
    EXPECT_STR(url_query_set(a, STR("x=%zz&y=%2&k=1;2&ok=1"), STR(""), STR("")),
               "ok=1");
    EXPECT(url_query_get(a, STR("seconds=%31"), STR("seconds"), &v));
    EXPECT_STR(v, "1");
    EXPECT(!url_query_get(a, STR("second=1"), STR("seconds"), &v));
    arena_free(a);
}

static struct http_target target(struct arena *a, const char *text)
{
    struct http_target t = {0};
    struct error err;

    EXPECT(http_target_parse(a, str_from(text), &t, &err));
    return t;
}

TEST(targets_say_which_stream_to_use)
{
    struct arena *a = arena_new();
    struct http_target t;
    struct error err;

    t = target(a, "https+insecure://h:2379/debug/pprof/heap?seconds=1");
    EXPECT(t.insecure);
    EXPECT_STR(str_from(t.url), "https://h:2379/debug/pprof/heap?seconds=1");
    t = target(a, "ssh://me@far:2222/2379/debug/pprof/heap");
    EXPECT_STR(t.ssh_login, "me@far:2222");
    EXPECT(t.ssh_port == 2379);
    EXPECT_STR(str_from(t.url), "http://127.0.0.1:2379/debug/pprof/heap");
    t = target(a, "ssh+https+insecure://far/debug/pprof/heap");
    EXPECT(t.ssh_port == 6060 && t.insecure);
    EXPECT_STR(str_from(t.url), "https://127.0.0.1:6060/debug/pprof/heap");
    EXPECT(!http_target_parse(a, STR("ssh://h/99999/x"), &t, &err));
    EXPECT_STR(str_from(err.text), "port 99999 is outside 1..65535");
    EXPECT(!http_target_parse(a, STR("ftp://h/x"), &t, &err));
    EXPECT_STR(str_from(err.text), "unsupported protocol scheme \"ftp\"");
    arena_free(a);
}

TEST(a_unix_socket_is_the_part_of_the_path_that_is_one)
{
    struct arena *a = arena_new();
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    char dir[] = "/tmp/pprof-test-XXXXXX";
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct http_target t;
    struct error err;

    EXPECT(mkdtemp(dir) != NULL);
    snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/s", dir);
    EXPECT(bind(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0);
    t = target(a, arena_printf(a, "unix://%s/debug/pprof/heap", addr.sun_path));
    EXPECT_STR(str_from(t.unix_socket), addr.sun_path);
    EXPECT_STR(str_from(t.url), "http://localhost/debug/pprof/heap");
    EXPECT(!http_target_parse(a, STR("unix:///nowhere/x"), &t, &err));
    EXPECT_STR(str_from(err.text), "no Unix socket at /nowhere/x");
    close(fd);
    unlink(addr.sun_path);
    rmdir(dir);
    arena_free(a);
}

static void write_text(struct arena *a, const char *dir, const char *name,
                       const char *text)
{
    struct error err;

    EXPECT(
        file_write(arena_printf(a, "%s/%s", dir, name), str_from(text), &err));
}

TEST(half_a_certificate_pair_is_completed)
{
    struct arena *a = arena_new();
    char dir[] = "/tmp/pprof-test-XXXXXX";
    struct client_certificate f;
    struct error err;
    struct str note;

    EXPECT(mkdtemp(dir) != NULL);
    write_text(a, dir, "both.pem",
               "-----BEGIN PRIVATE KEY-----\n-----BEGIN CERTIFICATE-----\n");
    write_text(a, dir, "c.key", "-----BEGIN PRIVATE KEY-----\n");
    write_text(a, dir, "lone.key", "-----BEGIN PRIVATE KEY-----\n");
    write_text(a, dir, "c.crt", "-----BEGIN CERTIFICATE-----\n");

    f = (struct client_certificate){
        .key = str_from(arena_printf(a, "%s/both.pem", dir))};
    EXPECT(client_certificate_complete(a, &f, &note, &err));
    EXPECT(str_eq(f.cert, f.key));
    EXPECT(str_contains(note, STR("No -tls_cert given: using ")));

    f = (struct client_certificate){
        .key = str_from(arena_printf(a, "%s/c.key", dir))};
    EXPECT(client_certificate_complete(a, &f, &note, &err));
    EXPECT(str_has_suffix(f.cert, STR("/c.crt")));

    f = (struct client_certificate){
        .key = str_from(arena_printf(a, "%s/lone.key", dir))};
    EXPECT(!client_certificate_complete(a, &f, &note, &err));
    EXPECT_STR(str_from(err.text),
               "-tls_key is specified, so -tls_cert must also be specified");

    for (const char *const *name =
             (const char *const[]){"both.pem", "c.key", "lone.key", "c.crt",
                                   NULL};
         *name; name++)
        unlink(arena_printf(a, "%s/%s", dir, *name));
    rmdir(dir);
    arena_free(a);
}

static struct source_url source(struct arena *a, const char *text, int seconds,
                                int timeout)
{
    struct source_url u = {0};

    EXPECT(source_url_parse(a, str_from(text), seconds, timeout, &u));
    return u;
}

TEST(sources_become_urls_with_their_waiting_times)
{
    struct arena *a = arena_new();
    const int64_t second = 1000000000;
    struct source_url u;

    u = source(a, "localhost:6060/x", -1, -1);
    EXPECT_STR(u.url, "http://localhost:6060/x");
    EXPECT(u.duration_ns == 0 && u.timeout_ns == 65 * second);
    u = source(a, "127.0.0.1:1/x", 30, -1);
    EXPECT_STR(u.url, "http://127.0.0.1:1/x?seconds=30");
    EXPECT(u.duration_ns == 30 * second && u.timeout_ns == 50 * second);
    u = source(a, "https://h/p?seconds=10&b=1", -1, -1);
    EXPECT_STR(u.url, "https://h/p?b=1&seconds=10");
    EXPECT(u.timeout_ns == 20 * second);
    u = source(a, "https://h/p?seconds=10", -1, 3);
    EXPECT(u.timeout_ns == 8 * second);
    u = source(a, "h:6060", -1, -1);
    EXPECT_STR(u.url, "http://h:6060/debug/pprof/profile");
    EXPECT(source(a, "h:1/debug/pprof/", -1, -1).is_index);
    EXPECT(!source(a, "h:1/debug/pprof/heap", -1, -1).is_index);
    EXPECT(!source_url_parse(a, STR("profile.pb.gz"), -1, -1, &u));
    EXPECT(!source_url_parse(a, STR("dir/profile"), -1, -1, &u));
    EXPECT(!source_url_parse(a, STR("file:///x"), -1, -1, &u));
    arena_free(a);
}

static void expect_shown(const char *source, const char *want)
{
    struct arena *a = arena_new();

    EXPECT_STR(source_shown(a, str_from(source)), want);
    arena_free(a);
}

TEST(a_login_is_kept_apart_from_its_url)
{
    struct arena *a = arena_new();
    struct source_url u;
    struct http_target t;
    struct error err;

    u = source(a, "https://me:to%2Fken@h:1/p?b=1", -1, -1);
    EXPECT_STR(u.url, "https://h:1/p?b=1");
    EXPECT_STR(u.login, "me:to%2Fken");
    u = source(a, "me:token@h:1/p", -1, -1);
    EXPECT_STR(u.url, "http://h:1/p");
    EXPECT_STR(u.login, "me:token");
    u = source(a, "ssh://me@h/6060/p", -1, -1); /* an address, no secret */
    EXPECT_STR(u.url, "ssh://me@h/6060/p");
    EXPECT_STR(u.login, "");
    EXPECT(http_target_parse(a, STR("https://me:token@h:1/p"), &t, &err));
    EXPECT_STR(str_from(t.url), "https://h:1/p");
    EXPECT_STR(str_from(t.shown), "https://h:1/p");
    EXPECT_STR(t.login, "me:token");
    arena_free(a);

    expect_shown("https://me:token@h/p", "https://h/p");
    expect_shown("https://token@h/p", "https://h/p");
    expect_shown("ssh://me@h/p", "ssh://me@h/p");
    expect_shown("me:token@h:1/p", "http://h:1/p");
    expect_shown("https://me:to/ken@h/p", "https://h/p"); /* is no URL */
    expect_shown("https://me:to ken@h/p", "https://h/p");
    expect_shown("me:to/ken@h/p", "h/p");
    expect_shown("https://h/p@2", "https://h/p@2");
    expect_shown("cpu@host.pb.gz", "cpu@host.pb.gz");
    expect_shown("dir/cpu.pb.gz", "dir/cpu.pb.gz");
}

TEST(an_index_page_lists_its_profiles)
{
    struct arena *a = arena_new();
    struct index_entries e = {0};

    EXPECT(index_parse(
        a,
        STR("<title>/debug/pprof/</title><table>"
            "<tr><td>Count</td><td>Profile</td></tr>"
            "<tr><td>19</td><td><a href='goroutine?debug=1'>goroutine</a></td>"
            "</tr><tr><td>0</td><td><a href=\"heap?debug=1\">heap</a></td>"
            "</tr></table>"),
        &e));
    EXPECT(e.list.n == 2);
    EXPECT_STR(e.list.v[0].name, "goroutine");
    EXPECT_STR(e.list.v[0].count, "19");
    EXPECT_STR(e.list.v[1].name, "heap");
    EXPECT(!index_parse(a, STR("<html>another page</html>"), &e));
    arena_free(a);
}

/* How often files were opened since the watch began. */
static int opens_seen(int watch)
{
    struct inotify_event events[64];
    ssize_t n = read(watch, events, sizeof(events));

    return n > 0 ? (int)((size_t)n / sizeof(*events)) : 0;
}

TEST(a_file_is_opened_once)
{
    char path[] = "/tmp/test-fetch-XXXXXX";
    int fd = mkstemp(path), watch;
    struct arena *a = arena_new();
    struct str source = str_from(path);
    struct fetch_options options = {0};
    struct index_entries entries = {0};
    struct fetched fetched;
    struct error err;

    EXPECT(write(fd, "main;work 7\n", 12) == 12);
    close(fd);
    watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    EXPECT(inotify_add_watch(watch, path, IN_OPEN) >= 0);
    EXPECT(!fetch_index(source, &options, a, &entries, &err));
    fetch_all(&source, 1, &options, a, &fetched);
    EXPECT(fetched.profile && fetched.profile->n_samples == 1);
    EXPECT(opens_seen(watch) == 1);
    close(watch);
    profile_free(fetched.profile);

    EXPECT(chmod(path, 0) == 0);
    if (geteuid() != 0) {
        fetch_all(&source, 1, &options, a, &fetched);
        EXPECT(strstr(fetched.error.text, "open /tmp/"));
    }
    unlink(path);
    fetch_all(&source, 1, &options, a, &fetched);
    EXPECT(strstr(fetched.error.text, "stat /tmp/"));
    arena_free(a);
}

TEST_MAIN

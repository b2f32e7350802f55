/*
 * Paths, methods and parameters of /debug/pprof/, without sockets and without
 * waiting: each row of Go's behaviour.
 */
#include "test.h"

#include <stdlib.h>

#include "runtime/endpoint/endpoint.h"
#include "runtime/endpoint/query.h"

/* What the last request was answered, and how long it would have waited. */
static struct endpoint_reply reply;
static double waited;
static bool client_leaves;

static bool note_wait(void *arg, int64_t ns)
{
    (void)arg;
    waited = (double)ns / 1e9;
    return !client_leaves;
}

static void ask_with(const char *method, const char *target, const char *body)
{
    struct str path = str_from(target), query = STR("");
    ptrdiff_t mark = str_find_char(path, '?');
    struct endpoint_request request;

    if (mark >= 0) {
        query = str_skip(path, (size_t)mark + 1);
        path = str_first(path, (size_t)mark);
    }
    request = (struct endpoint_request){.method = str_from(method),
                                        .path = path,
                                        .query = query,
                                        .body = str_from(body),
                                        .wait = note_wait};
    buf_release(&reply.headers);
    buf_release(&reply.body);
    reply = (struct endpoint_reply){.headers = BUF_INIT(1 << 16),
                                    .body = BUF_INIT(1 << 24)};
    waited = -1;
    endpoint_handle(&request, &reply);
}

static void ask(const char *name)
{
    char target[8192];

    snprintf(target, sizeof(target), "/debug/pprof/%s", name);
    ask_with("GET", target, "");
}

static bool has_header(const char *line)
{
    char want[512];

    snprintf(want, sizeof(want), "%s\r\n", line);
    return str_contains(buf_str(&reply.headers), str_from(want));
}

static bool is_refused(int status, const char *words)
{
    char want[256];

    snprintf(want, sizeof(want), "%s\n", words);
    return reply.status == status && has_header("X-Go-Pprof: 1") &&
           has_header("Content-Type: text/plain; charset=utf-8") &&
           has_header("X-Content-Type-Options: nosniff") &&
           !str_contains(buf_str(&reply.headers), STR("Disposition")) &&
           str_eq(buf_str(&reply.body), str_from(want));
}

static bool is_profile(const char *filename)
{
    char want[256];

    snprintf(want, sizeof(want),
             "Content-Disposition: attachment; filename=\"%s\"", filename);
    return reply.status == 200 && has_header(want) &&
           has_header("Content-Type: application/octet-stream") &&
           has_header("X-Content-Type-Options: nosniff") &&
           str_has_prefix(buf_str(&reply.body), STR("\x1f\x8b"));
}

static bool is_text(const char *start)
{
    return reply.status == 200 &&
           has_header("Content-Type: text/plain; charset=utf-8") &&
           !str_contains(buf_str(&reply.headers), STR("Disposition")) &&
           str_has_prefix(buf_str(&reply.body), str_from(start));
}

TEST(seconds_of_a_cpu_profile_that_mean_something_are_taken)
{
    ask("profile?seconds=7");
    EXPECT(waited == 7 && is_profile("profile"));
    ask("profile?seconds=%37&debug=1");
    EXPECT(waited == 7 && is_profile("profile"));
    ask("profile?seconds=3&seconds=9");
    EXPECT(waited == 3);
    ask("profile?a=b&%73econds=4");
    EXPECT(waited == 4);
}

TEST(all_other_seconds_of_a_cpu_profile_mean_thirty)
{
    static const char *const values[] = {
        "",
        "?seconds",
        "?seconds=",
        "?seconds=0",
        "?seconds=-1",
        "?a=5",
        "?seconds=x",
        "?seconds=1.5",
        "?seconds=1s",
        "?Seconds=5",
        "?seconds=0x1",
        "?seconds=1_0",
        "?seconds=+1",
        "?seconds=9223372036854775808",
        "?seconds=%zz",
        "?seconds=5;a=b",
        "?seconds=99999999999999999999999999999999999999999999999999999999",
    };

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        char name[128];

        snprintf(name, sizeof(name), "profile%s", values[i]);
        ask(name);
        if (waited != 30 || reply.status != 200)
            printf("# %s: waited %g, status %d\n", name, waited, reply.status);
        EXPECT(waited == 30 && reply.status == 200);
    }
}

TEST(nobody_may_hold_the_profiler_for_years)
{
    ask("profile?seconds=9223372036854775807");
    EXPECT(waited == -1);
    EXPECT(is_refused(400, "\"seconds\" may be 86400 at most in this program"));
    ask("trace?seconds=1e300");
    EXPECT(waited == -1 && reply.status == 400);
    ask("threads?seconds=9223372036854775807");
    EXPECT(waited == -1 && reply.status == 400);
}

TEST(seconds_of_a_trace_are_decimals)
{
    static const struct {
        const char *text;
        double seconds;
    } values[] = {{"", 1},
                  {"?seconds=", 1},
                  {"?seconds=0", 1},
                  {"?seconds=-3", 1},
                  {"?seconds=abc", 1},
                  {"?seconds=.", 1},
                  {"?seconds=nan", 1},
                  {"?seconds=1e", 1},
                  {"?seconds=e3", 1},
                  {"?seconds=2", 2},
                  {"?seconds=0.5", 0.5},
                  {"?seconds=.25", 0.25},
                  {"?seconds=25e-2", 0.25},
                  {"?seconds=1.5E1", 15},
                  {"?seconds=1.", 1},
                  {"?seconds=3.", 3},
                  {"?seconds=1,5", 1}};

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        char name[128];

        snprintf(name, sizeof(name), "trace%s", values[i].text);
        ask(name);
        if (waited != values[i].seconds)
            printf("# %s: waited %g\n", name, waited);
        EXPECT(waited == values[i].seconds);
        EXPECT(reply.status == 200);
    }
    EXPECT(has_header("Content-Type: application/json"));
    EXPECT(
        has_header("Content-Disposition: attachment; filename=\"trace.json\""));
}

TEST(deltas_refuse_what_they_do_not_understand)
{
    static const char *const bad[] = {
        "0",
        "-1",
        "abc",
        "1.5",
        "1s",
        "+1",
        "1%20",
        "9223372036854775808",
        "11111111111111111111111111111111111111111111111111111111111111111"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char name[128];

        snprintf(name, sizeof(name), "threads?seconds=%s", bad[i]);
        ask(name);
        EXPECT(is_refused(
            400, "invalid value for \"seconds\" - must be a positive integer"));
        EXPECT(waited == -1);
    }
    ask("threads?seconds=%32");
    EXPECT(waited == 2 && is_profile("threads-delta"));
    ask("goroutine?seconds=1");
    EXPECT(waited == 1 && is_profile("goroutine-delta"));
    ask("threadcreate?seconds=1");
    EXPECT(waited == 1 && is_profile("threadcreate-delta"));
}

TEST(deltas_check_in_gos_order)
{
    ask("nope?seconds=x&debug=1");
    EXPECT(is_refused(404, "Unknown profile"));
    ask("threads?seconds=x&debug=1");
    EXPECT(is_refused(
        400, "invalid value for \"seconds\" - must be a positive integer"));
    ask("threads?seconds=1&debug=1");
    EXPECT(is_refused(400, "seconds and debug params are incompatible"));
    ask("threads?seconds=1&debug=-1");
    EXPECT(is_refused(400, "seconds and debug params are incompatible"));
    ask("threads?seconds=&debug=1");
    EXPECT(waited == -1 && is_text("threads profile: total "));
}

TEST(a_client_that_leaves_ends_what_it_waits_for)
{
    client_leaves = true;
    ask("threads?seconds=1");
    EXPECT(is_refused(500, "context canceled"));
    ask("profile?seconds=600");
    client_leaves = false;
    ask("profile?seconds=1");
    EXPECT(is_profile("profile"));
}

TEST(debug_is_text_or_not)
{
    static const char *const binary[] = {
        "",           "?debug=",   "?debug=0",         "?debug=abc",
        "?debug=1.5", "?debug=-1", "?debug=0&debug=1", "?debug=1;x"};

    for (size_t i = 0; i < sizeof(binary) / sizeof(binary[0]); i++) {
        char name[128];

        snprintf(name, sizeof(name), "threads%s", binary[i]);
        ask(name);
        EXPECT(is_profile("threads"));
    }
    ask("goroutine?debug=1");
    EXPECT(is_text("goroutine profile: total 1\n1 @ 0x"));
    ask("threadcreate?debug=3");
    EXPECT(is_text("threadcreate profile: total "));
    ask("threads?debug=2");
    EXPECT(is_text("thread "));
    ask("threads?debug=17");
    EXPECT(is_text("thread "));
    ask("goroutine?gc=1&debug=0");
    EXPECT(is_profile("goroutine"));
}

static void moves(const char *target, const char *where)
{
    char line[256];

    ask_with("GET", target, "");
    snprintf(line, sizeof(line), "Location: %s", where);
    if (!has_header(line))
        printf("# %s: %" STR_FMT "\n", target,
               STR_ARG(buf_str(&reply.headers)));
    EXPECT(reply.status == 307 && has_header(line));
}

TEST(paths_that_are_not_clean_are_redirected)
{
    moves("/debug/pprof", "/debug/pprof/");
    moves("/debug/pprof?a=b&c", "/debug/pprof/?a=b&c");
    moves("/debug/pprof//heap?debug=1", "/debug/pprof/heap?debug=1");
    moves("//debug/pprof/", "/debug/pprof/");
    moves("/debug/pprof/./heap", "/debug/pprof/heap");
    moves("/debug/pprof/../pprof/heap", "/debug/pprof/heap");
    moves("/../../debug/pprof/heap", "/debug/pprof/heap");
    moves("/debug/./pprof/", "/debug/pprof/");
    moves("//other.example/x", "/other.example/x");
    moves("/debug/pprof/%2e%2e/x", "/debug/x");
}

TEST(a_redirect_cannot_bring_headers_of_its_own)
{
    moves("/debug//%0d%0aSet-Cookie:%20a=b", "/debug/%0D%0ASet-Cookie:%20a=b");
    moves("/debug//%00%22%c3%a4", "/debug/%00%22%C3%A4");
}

TEST(names_are_exact)
{
    static const char *const unknown[] = {
        "nope",       "Threads",    "threads/", "threads/x",
        "threads%20", "profile/",   "cmdline/", "symbol/",
        "trace/",     "threads%00", "a/b/c",    "goroutineleak"};

    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        ask(unknown[i]);
        EXPECT(is_refused(404, "Unknown profile"));
    }
    ask("%74hreads");
    EXPECT(is_profile("threads"));
}

TEST(what_is_not_under_the_path_is_not_found)
{
    static const char *const paths[] = {
        "/",     "/debug/", "/debug", "/debug/pprofx",
        "/heap", "*",       "",       "/debug/pprof%zz"};

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        ask_with("GET", paths[i], "");
        EXPECT(reply.status == 404);
        EXPECT_STR(buf_str(&reply.body), "404 page not found\n");
        EXPECT(!str_contains(buf_str(&reply.headers), STR("X-Go-Pprof")));
    }
}

TEST(methods_other_than_get_and_head_are_refused_without_work)
{
    static const char *const methods[] = {"POST",    "PUT",   "DELETE", "PATCH",
                                          "OPTIONS", "TRACE", "get"};
    static const char *const names[] = {"",        "profile", "trace",
                                        "cmdline", "threads", "nope"};

    for (size_t m = 0; m < sizeof(methods) / sizeof(methods[0]); m++) {
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            char target[64];

            snprintf(target, sizeof(target), "/debug/pprof/%s", names[i]);
            ask_with(methods[m], target, "debug=1");
            EXPECT(reply.status == 405 && waited == -1);
            EXPECT_STR(buf_str(&reply.body), "Method Not Allowed\n");
            EXPECT(has_header("Allow: GET, HEAD"));
            EXPECT(has_header("Content-Type: text/plain; charset=utf-8"));
            EXPECT(!str_contains(buf_str(&reply.headers), STR("X-Go-Pprof")));
        }
    }
    ask_with("PUT", "/debug/pprof/symbol", "0x1");
    EXPECT(reply.status == 405 && has_header("Allow: GET, HEAD, POST"));
}

/* Unlike in Go: a HEAD must not occupy the profiler. */
TEST(head_measures_nothing)
{
    ask_with("HEAD", "/debug/pprof/profile?seconds=2", "");
    EXPECT(waited == -1 && reply.status == 200);
    EXPECT(has_header("Content-Type: application/octet-stream"));
    ask_with("HEAD", "/debug/pprof/wall?seconds=2", "");
    EXPECT(waited == -1 && reply.status == 200);
    EXPECT(has_header("Content-Type: application/octet-stream"));
    ask_with("HEAD", "/debug/pprof/threads?seconds=2", "");
    EXPECT(waited == -1 && reply.status == 200);
    ask_with("HEAD", "/debug/pprof/symbol", "");
    EXPECT(is_text("num_symbols: 1\n"));
}

/* An address of this program's own as Go writes integers. */
static void expect_symbol(const char *form, uint64_t address, bool known)
{
    char target[256], want[256];

    snprintf(target, sizeof(target), "/debug/pprof/symbol?%s", form);
    ask_with("GET", target, "");
    snprintf(want, sizeof(want), "num_symbols: 1\n%#llx main\n",
             (unsigned long long)address);
    EXPECT_STR(buf_str(&reply.body), known ? want : "num_symbols: 1\n");
    ask_with("POST", "/debug/pprof/symbol?0x1", form);
    EXPECT_STR(buf_str(&reply.body), known ? want : "num_symbols: 1\n");
    EXPECT(has_header("Content-Type: text/plain; charset=utf-8"));
}

int main(int argc, char **argv);

TEST(symbol_reads_every_form_of_integer)
{
    uint64_t address = (uint64_t)(uintptr_t)main + 1;
    char form[128];
    int n = 0;

    snprintf(form, sizeof(form), "0x%llx", (unsigned long long)address);
    expect_symbol(form, address, true);
    snprintf(form, sizeof(form), "0X%llX", (unsigned long long)address);
    expect_symbol(form, address, true);
    snprintf(form, sizeof(form), "%llu", (unsigned long long)address);
    expect_symbol(form, address, true);
    snprintf(form, sizeof(form), "0%llo", (unsigned long long)address);
    expect_symbol(form, address, true);
    snprintf(form, sizeof(form), "0o%llo", (unsigned long long)address);
    expect_symbol(form, address, true);
    n = snprintf(form, sizeof(form), "0b");
    for (int bit = 63; bit >= 0; bit--)
        n += snprintf(form + n, sizeof(form) - (size_t)n, "%d",
                      (int)(address >> bit & 1));
    expect_symbol(form, address, true);
    snprintf(form, sizeof(form), "zz++0+0x+0x1+%%2B+0x%llx+-1",
             (unsigned long long)address);
    expect_symbol(form, address, true);
    snprintf(form, sizeof(form), "pc=0x%llx", (unsigned long long)address);
    expect_symbol(form, address, false);
    snprintf(form, sizeof(form), "0x%llx\n", (unsigned long long)address);
    expect_symbol(form, address, false);
    snprintf(form, sizeof(form), "0x%llx%%20", (unsigned long long)address);
    expect_symbol(form, address, false);
}

TEST(symbol_keeps_order_and_duplicates)
{
    unsigned long long a = (uint64_t)(uintptr_t)main;
    char body[256], want[256];

    snprintf(body, sizeof(body), "%#llx+%#llx+%#llx", a + 1, a, a + 1);
    snprintf(want, sizeof(want),
             "num_symbols: 1\n%#llx main\n%#llx main\n%#llx main\n", a + 1, a,
             a + 1);
    ask_with("POST", "/debug/pprof/symbol", body);
    EXPECT_STR(buf_str(&reply.body), want);
}

TEST(symbol_stops_at_a_word_without_end)
{
    char body[8192];

    memset(body, 'a', 5000);
    snprintf(body + 5000, sizeof(body) - 5000, "+%#llx",
             (unsigned long long)(uintptr_t)main);
    ask_with("POST", "/debug/pprof/symbol", body);
    EXPECT_STR(buf_str(&reply.body),
               "num_symbols: 1\nreading request: bufio: buffer full\n");
}

TEST(the_index_lists_what_there_is)
{
    static const char *const names[] = {"cmdline", "goroutine",    "profile",
                                        "symbol",  "threadcreate", "threads",
                                        "trace"};

    ask("?debug=2&seconds=1");
    EXPECT(reply.status == 200 && waited == -1);
    EXPECT(has_header("Content-Type: text/html; charset=utf-8"));
    EXPECT(str_contains(buf_str(&reply.body),
                        STR("<title>/debug/pprof/</title>")));
    EXPECT(str_contains(buf_str(&reply.body), STR("goroutine?debug=2")));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char row[128];

        snprintf(row, sizeof(row),
                 "</td><td><a href='%s?debug=1'>%s</a></td></tr>", names[i],
                 names[i]);
        EXPECT(str_contains(buf_str(&reply.body), str_from(row)));
    }
    EXPECT(str_contains(buf_str(&reply.body),
                        STR("<tr><td>1</td><td><a href='threads?debug=1'>")));
    EXPECT(str_contains(buf_str(&reply.body),
                        STR("<tr><td>0</td><td><a href='profile?debug=1'>")));
}

TEST(the_command_line_has_no_end)
{
    ask("cmdline?debug=1");
    EXPECT(is_text(""));
    EXPECT(reply.body.len > 0 && reply.body.data[reply.body.len - 1] != '\0' &&
           reply.body.data[reply.body.len - 1] != '\n');
}

TEST(a_reply_that_does_not_fit_is_an_error)
{
    struct endpoint_request request = {.method = STR("GET"),
                                       .path = STR("/debug/pprof/threads"),
                                       .wait = note_wait};
    struct endpoint_reply small = {.headers = BUF_INIT(4096),
                                   .body = BUF_INIT(100)};

    endpoint_handle(&request, &small);
    EXPECT(small.status == 500);
    EXPECT_STR(buf_str(&small.body), "the profile is too big\n");
    buf_release(&small.headers);
    buf_release(&small.body);
}

TEST(queries_are_read_as_go_reads_them)
{
    char text[16];
    struct str value;

    EXPECT(query_get(STR("a=1&b=2&a=3"), STR("a"), text, 16, &value));
    EXPECT_STR(value, "1");
    EXPECT(query_get(STR("%61=x+y%2b"), STR("a"), text, 16, &value));
    EXPECT_STR(value, "x y+");
    EXPECT(!query_get(STR("a=&a=3"), STR("a"), text, 16, &value));
    EXPECT(!query_get(STR("ab=1&A=2&=3&a"), STR("a"), text, 16, &value));
    EXPECT(query_get(STR("a=%zz&a=3"), STR("a"), text, 16, &value));
    EXPECT_STR(value, "3");
    EXPECT(query_get(STR("a=1;b=2&a=3"), STR("a"), text, 16, &value));
    EXPECT_STR(value, "3");
    EXPECT(query_get(STR("a=0123456789abcdefgh"), STR("a"), text, 16, &value));
    EXPECT_STR(value, "0123456789abcdef");
    EXPECT(query_debug(STR("debug=-5")) == -5);
    EXPECT(query_debug(STR("debug=5x")) == 0);
    EXPECT(query_flag(STR("a=1"), STR("a")) &&
           !query_flag(STR("a=0"), STR("a")));
    EXPECT(query_number(STR("n=70"), STR("n"), 50) == 50);
}

TEST_MAIN

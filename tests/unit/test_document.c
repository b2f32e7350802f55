#include "test.h"

#include "base/file.h"
#include "base/memory_scope.h"
#include "config/document.h"
#include "config/suggest.h"
#include "live_heap.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct fixture {
    struct arena *arena;
    const struct node *root;
    struct error err;
};

static void read_yaml(struct fixture *f, const char *text)
{
    *f = (struct fixture){.arena = arena_new()};
    f->root = document_read_yaml(
        f->arena, (struct document_source){"x.yaml", str_from(text)}, NULL,
        &f->err);
}

static void read_json(struct fixture *f, const char *text)
{
    *f = (struct fixture){.arena = arena_new()};
    f->root = document_read_json(
        f->arena, (struct document_source){"x.json", str_from(text)}, NULL,
        &f->err);
}

static void end(struct fixture *f)
{
    arena_free(f->arena);
}

static void expect_refused(const char *text, const char *words)
{
    struct fixture f;

    read_yaml(&f, text);
    EXPECT(!f.root);
    EXPECT_STR(str_from(f.err.text), words);
    end(&f);
}

static void expect_json_refused(const char *text, const char *words)
{
    struct fixture f;

    read_json(&f, text);
    EXPECT(!f.root);
    EXPECT_STR(str_from(f.err.text), words);
    end(&f);
}

#define SOME                                                                   \
    "address: 127.0.0.1:80\n"                                                  \
    "interval: 1h30m\n"                                                        \
    "memory: 1.5GB\n"                                                          \
    "port: 8080\n"                                                             \
    "share: 0.25\n"                                                            \
    "secure: true\n"                                                           \
    "level: warn\n"                                                            \
    "empty:\n"                                                                 \
    "names: [a, \"b c\", 'd']\n"                                               \
    "one: alone\n"                                                             \
    "tls:\n"                                                                   \
    "  cert: /etc/cert\n"

static void expect_values(const struct fixture *f)
{
    static const char *const levels[] = {"debug", "info", "warn", NULL};
    struct str address = STR(""), empty = STR("as before"), cert = STR("");
    struct node_texts names = {0}, one = {0};
    const struct node *tls = NULL, *none = NULL;
    struct error err = {""};
    int64_t interval = 0, port = 0;
    uint64_t memory = 0;
    size_t level = 0;
    double share = 0;
    bool secure = false;

    EXPECT(node_text(f->root, "address", &address, &err));
    EXPECT(node_duration(f->root, "interval", &interval, &err));
    EXPECT(node_bytes(f->root, "memory", &memory, &err));
    EXPECT(node_int(f->root, "port", 1, 65535, &port, &err));
    EXPECT(node_float(f->root, "share", &share, &err));
    EXPECT(node_bool(f->root, "secure", &secure, &err));
    EXPECT(node_choice(f->root, "level", levels, &level, &err));
    EXPECT(node_text(f->root, "empty", &empty, &err));
    EXPECT(node_text_list(f->root, "names", f->arena, &names, &err));
    EXPECT(node_text_list(f->root, "one", f->arena, &one, &err));
    EXPECT(node_map(f->root, "tls", &tls, &err));
    EXPECT(node_list(f->root, "absent", &none, &err) && !none);
    EXPECT(node_check_keys(f->root, &err));
    EXPECT_STR(str_from(err.text), "");

    EXPECT_STR(address, "127.0.0.1:80");
    EXPECT(interval == 5400 * (int64_t)1000000000);
    EXPECT(memory == (uint64_t)3 << 29);
    EXPECT(port == 8080 && share == 0.25 && secure && level == 2);
    EXPECT_STR(empty, "as before");
    EXPECT(names.list.n == 3);
    EXPECT_STR(names.list.v[1], "b c");
    EXPECT(one.list.n == 1);
    EXPECT(tls && node_text(tls, "cert", &cert, &err));
    EXPECT_STR(cert, "/etc/cert");
    EXPECT(node_check_keys(tls, &err));
}

TEST(values_of_each_kind_are_read_from_yaml)
{
    struct fixture f;

    read_yaml(&f, SOME);
    EXPECT(f.root);
    expect_values(&f);
    end(&f);
}

TEST(the_same_values_are_read_from_json)
{
    struct fixture f;

    read_json(&f, "{\"address\": \"127.0.0.1:80\", \"interval\": \"1h30m\","
                  "\"memory\": \"1.5GB\", \"port\": 8080, \"share\": 0.25,"
                  "\"secure\": true, \"level\": \"warn\", \"empty\": null,"
                  "\"names\": [\"a\", \"b c\", \"d\"], \"one\": \"alone\","
                  "\"tls\": {\"cert\": \"/etc/cert\"}}");
    EXPECT(f.root);
    expect_values(&f);
    end(&f);
}

TEST(an_empty_file_has_no_keys)
{
    static const char *const texts[] = {"", "# nothing\n", "---\n", "~\n"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct fixture f;

        read_yaml(&f, texts[i]);
        EXPECT(f.root && f.root->kind == NODE_MAP && f.root->n == 0);
        EXPECT(f.root && node_check_keys(f.root, &f.err));
        end(&f);
    }
}

/* --- wrong values --------------------------------------------------------- */

#define EXPECT_WRONG(yaml, call, words)                                        \
    do {                                                                       \
        struct fixture f;                                                      \
                                                                               \
        read_yaml(&f, yaml);                                                   \
        EXPECT(f.root && !(call));                                             \
        EXPECT_STR(str_from(f.err.text), words);                               \
        end(&f);                                                               \
    } while (0)

TEST(a_wrong_value_says_where_it_is_and_what_to_write)
{
    static const char *const levels[] = {"debug", "info", "warn", NULL};
    const struct node *child;
    int64_t number = 0;
    uint64_t bytes = 0;
    struct str text;
    size_t level;
    double real;
    bool yes;

    EXPECT_WRONG("a: 1\nwait: soon\n",
                 node_duration(f.root, "wait", &number, &f.err),
                 "x.yaml:2:7: wait must be a duration: write 30s, 5m or 1h30m");
    EXPECT_WRONG("wait: 5\n", node_duration(f.root, "wait", &number, &f.err),
                 "x.yaml:1:7: wait must be a duration: write 30s, 5m or 1h30m");
    EXPECT_WRONG("size: 5 apples\n", node_bytes(f.root, "size", &bytes, &f.err),
                 "x.yaml:1:7: size must be a size: write 512KB, 64MB or 2GB");
    EXPECT_WRONG("port: 70000\n",
                 node_int(f.root, "port", 1, 65535, &number, &f.err),
                 "x.yaml:1:7: port must be a whole number from 1 to 65535");
    EXPECT_WRONG("port: \"80\"\n",
                 node_int(f.root, "port", 1, 65535, &number, &f.err),
                 "x.yaml:1:7: port must be a whole number from 1 to 65535");
    EXPECT_WRONG("on: yes\n", node_bool(f.root, "on", &yes, &f.err),
                 "x.yaml:1:5: on must be true or false");
    EXPECT_WRONG("x: .inf\n", node_float(f.root, "x", &real, &f.err),
                 "x.yaml:1:4: x must be a number");
    EXPECT_WRONG("x: [1]\n", node_text(f.root, "x", &text, &f.err),
                 "x.yaml:1:4: x must be a text");
    EXPECT_WRONG("x: a\n", node_map(f.root, "x", &child, &f.err),
                 "x.yaml:1:4: x must be a map: write key: value lines");
    EXPECT_WRONG("x: a\n", node_list(f.root, "x", &child, &f.err),
                 "x.yaml:1:4: x must be a list: write lines that start with -");
    EXPECT_WRONG("level: wran\n",
                 node_choice(f.root, "level", levels, &level, &f.err),
                 "x.yaml:1:8: level must be debug, info or warn: did you mean "
                 "warn?");
    EXPECT_WRONG("- a\n", node_check_keys(f.root, &f.err),
                 "x.yaml:1:1: the document must be a map: write key: value "
                 "lines");
}

TEST(a_value_deep_inside_is_named_by_its_path)
{
    const struct node *jobs = NULL;
    struct fixture f;
    int64_t ns;

    read_yaml(&f, "jobs:\n  - wait: 1s\n  - wait: x\n");
    EXPECT(node_list(f.root, "jobs", &jobs, &f.err) && jobs->n == 2);
    EXPECT(!node_duration(jobs->items[1], "wait", &ns, &f.err));
    EXPECT_STR(str_from(f.err.text),
               "x.yaml:3:11: jobs[1].wait must be a duration: write 30s, 5m or "
               "1h30m");
    end(&f);
    read_json(&f, "{\"items\": [{\"wait\": 5}]}");
    EXPECT(node_list(f.root, "items", &jobs, &f.err) && jobs->n == 1);
    EXPECT(!node_duration(jobs->items[0], "wait", &ns, &f.err));
    EXPECT_STR(str_from(f.err.text),
               "x.json: items[0].wait must be a duration: write 30s, 5m or "
               "1h30m");
    end(&f);
}

static void expect_unknown(const char *text, const char *words)
{
    struct fixture f;
    int64_t ns = 0;

    read_yaml(&f, text);
    EXPECT(node_duration(f.root, "interval", &ns, &f.err));
    node_ignore(f.root, "timeout");
    EXPECT(!node_check_keys(f.root, &f.err));
    EXPECT_STR(str_from(f.err.text), words);
    end(&f);
}

TEST(an_unknown_key_is_refused_with_a_suggestion)
{
    expect_unknown("timeout: 1\nintreval: 5s\n",
                   "x.yaml:2:1: intreval is not a known key: did you mean "
                   "interval?");
    expect_unknown("colour:\n  red\n",
                   "x.yaml:1:1: colour is not a known key: remove it");
}

TEST(suggestions_are_near_or_none)
{
    static const char *const words[] = {"interval", "timeout", "tls", "id"};

    EXPECT_STR(str_from(suggest_word(STR("intervall"), words, 4)), "interval");
    EXPECT_STR(str_from(suggest_word(STR("timout"), words, 4)), "timeout");
    EXPECT_STR(str_from(suggest_word(STR("tsl"), words, 4)), "tls");
    EXPECT(!suggest_word(STR("address"), words, 4));
    EXPECT(!suggest_word(STR("x"), words, 4));
    EXPECT(!suggest_word(STR(""), words, 4));
}

/* --- quantities ----------------------------------------------------------- */

TEST(durations_and_sizes_have_units)
{
    static const struct {
        const char *text;
        int64_t ns;
    } durations[] = {
        {"0", 0},
        {"1ns", 1},
        {"1.5us", 1500},
        {"100ms", 100000000},
        {"30s", 30000000000},
        {"1h30m", 5400000000000},
        {"1.5h", 5400000000000},
        {"7d", 604800000000000},
        {"2w", 1209600000000000},
    };
    static const struct {
        const char *text;
        uint64_t bytes;
    } sizes[] = {
        {"0", 0},          {"512", 512},       {"1K", 1024},
        {"1KB", 1024},     {"1KiB", 1024},     {"1 MB", 1 << 20},
        {"1.5M", 3 << 19}, {"2G", 1ull << 31}, {"1TiB", 1ull << 40},
        {"7B", 7},
    };
    static const char *const wrong[] = {"",    "s",    "-1s",       "1x",
                                        "1s2", "1e3s", "99999999w", "1..5s"};
    char text[64];

    for (size_t i = 0; i < sizeof(durations) / sizeof(*durations); i++) {
        struct fixture f;
        int64_t ns = -1;

        snprintf(text, sizeof(text), "v: %s\n", durations[i].text);
        read_yaml(&f, text);
        EXPECT(node_duration(f.root, "v", &ns, &f.err));
        EXPECT(ns == durations[i].ns);
        end(&f);
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct fixture f;
        uint64_t bytes = 1;

        snprintf(text, sizeof(text), "v: %s\n", sizes[i].text);
        read_yaml(&f, text);
        EXPECT(node_bytes(f.root, "v", &bytes, &f.err));
        EXPECT(bytes == sizes[i].bytes);
        end(&f);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct fixture f;
        int64_t ns;

        snprintf(text, sizeof(text), "v: \"%s\"\n", wrong[i]);
        read_yaml(&f, text);
        EXPECT(!node_duration(f.root, "v", &ns, &f.err));
        end(&f);
    }
}

/* --- syntax and limits ---------------------------------------------------- */

TEST(a_syntax_error_has_a_line_and_a_column)
{
    expect_refused("a: 1\nb: [1, 2\n",
                   "x.yaml:3:1: did not find expected ',' or ']' while "
                   "parsing a flow sequence");
    expect_refused("a: 1\na: 2\n", "x.yaml:2:1: the key \"a\" is there "
                                   "already: remove one of the two");
    expect_refused("<<: 1\n", "x.yaml:1:1: merge keys are not supported: write "
                              "the keys out");
    expect_refused("a: !int 1\n",
                   "x.yaml:1:4: tags are not supported: leave it out");
    expect_refused("[a]: 1\n",
                   "x.yaml:1:1: a key must be a word: write key: value");
    expect_refused("a: 1\n---\nb: 1\n", "x.yaml:2:1: a second document in one "
                                        "file: remove the --- line");
    expect_refused("a: *b\n",
                   "x.yaml:1:4: the alias has no anchor &b before it");
    expect_refused("a: &b [*b]\n",
                   "x.yaml:1:8: an alias within the value that it stands for");
    expect_json_refused("{\"a\": 1,\n}", "x.json:2:1: string or '}' expected "
                                         "near '}'");
    expect_json_refused("{\"a\": 1, \"a\": 2}",
                        "x.json:1:12: duplicate object key near '\"a\"'");
}

TEST(an_alias_is_what_it_stands_for)
{
    const struct node *x = NULL, *y = NULL;
    struct str one = STR(""), two = STR("");
    struct fixture f;

    read_yaml(&f, "x: &d {k: v}\ny: *d\n");
    EXPECT(f.root && node_map(f.root, "x", &x, &f.err) &&
           node_map(f.root, "y", &y, &f.err));
    EXPECT(x && y && node_text(x, "k", &one, &f.err) &&
           node_text(y, "k", &two, &f.err));
    EXPECT_STR(one, "v");
    EXPECT_STR(two, "v");
    end(&f);
}

TEST(a_few_lines_cannot_stand_for_a_billion_values)
{
    expect_refused("a: &a [x,x,x,x,x,x,x,x,x,x]\n"
                   "b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
                   "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
                   "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
                   "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n"
                   "f: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n",
                   "x.yaml: more than 100000 values");
}

TEST(depth_and_size_are_limited)
{
    struct document_limits limits = {.bytes = 10, .nodes = 10, .depth = 10};
    struct arena *a = arena_new();
    char deep[300];
    struct error err;

    memset(deep, '[', sizeof(deep));
    EXPECT(!document_read_yaml(
        a, (struct document_source){"d", str_of(deep, sizeof(deep))}, NULL,
        &err));
    EXPECT(str_contains(str_from(err.text), STR("nested too deeply")));
    memset(deep + 150, ']', 150);
    EXPECT(!document_read_json(
        a, (struct document_source){"d", str_of(deep, sizeof(deep))}, NULL,
        &err));
    EXPECT(str_contains(str_from(err.text), STR("nested too deeply")));
    EXPECT(!document_read_yaml(
        a, (struct document_source){"d", STR("a: 1234567890")}, &limits, &err));
    EXPECT_STR(str_from(err.text), "d: 13 bytes; the limit is 10");
    arena_free(a);
}

TEST(a_file_is_read_by_its_name)
{
    char path[] = "/tmp/test-document-XXXXXX.json";
    int fd = mkstemps(path, 5);
    struct arena *a = arena_new();
    const struct node *root;
    struct error err;
    int64_t value = 0;

    EXPECT(write(fd, "{\"a\": 5}", 8) == 8);
    close(fd);
    root = document_read_file(a, path, NULL, &err);
    EXPECT(root && node_int(root, "a", 0, 9, &value, &err) && value == 5);
    unlink(path);
    EXPECT(!document_read_file(a, path, NULL, &err));
    EXPECT(err.code == ENOENT);
    arena_free(a);
}

/* --- running out of memory ------------------------------------------------ */

struct reading {
    bool is_json;
    const struct node *root;
};

static void read_in_scope(void *arg)
{
    struct reading *r = arg;
    struct arena *a = arena_new();
    struct document_source yaml = {"x", STR(SOME)};
    struct document_source json = {"x", STR("{\"a\": [1, 2, {\"b\": []}]}")};
    struct error err;

    r->root = r->is_json ? document_read_json(a, json, NULL, &err)
                         : document_read_yaml(a, yaml, NULL, &err);
    arena_free(a);
}

TEST(a_budget_that_ends_leaves_nothing_behind)
{
    for (int is_json = 0; is_json < 2; is_json++)
        for (size_t budget = 64; budget < 20000; budget += 64) {
            struct reading r = {.is_json = is_json};
            size_t before = live_heap_bytes();
            struct error err;

            if (memory_scope_run(budget, read_in_scope, &r, &err))
                break;
            EXPECT(live_heap_bytes() == before);
        }
}

TEST_MAIN

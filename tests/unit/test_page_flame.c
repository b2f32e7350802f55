/* The flame graph's data, read by a decoder of its own. */
#include "test.h"

#include "page_support.h"
#include "random_profile.h"

struct wire {
    struct str rest;
    bool ok;
};

static uint64_t varint(struct wire *w)
{
    uint64_t value = 0;

    for (int shift = 0; shift < 64; shift += 7) {
        unsigned char c;

        if (w->rest.n == 0)
            break;
        c = (unsigned char)*w->rest.s;
        w->rest = str_skip(w->rest, 1);
        value |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80)
            return value;
    }
    w->ok = false;
    return 0;
}

static int64_t zigzag(struct wire *w)
{
    uint64_t v = varint(w);

    return (int64_t)(v >> 1 ^ (~(v & 1) + 1));
}

struct flame {
    struct arena *arena;
    struct str header;
    size_t nodes, sources, strings;
    bool base;
    uint64_t *children, *source;
    int64_t *self, *self_base;
    uint64_t *name, *display, *file, *binary, *package, *line, *flags;
    struct str *texts;
};

static struct str header_member(const struct flame *f, const char *name)
{
    struct json_view v, m;

    if (!json_view(f->header, &v) || !json_view_member(v, str_from(name), &m))
        return STR("");
    return m.text;
}

static size_t header_number(const struct flame *f, const char *name)
{
    uint64_t n = 0;

    EXPECT(str_to_u64(header_member(f, name), 10, &n));
    return n;
}

static uint64_t *column(struct flame *f, struct wire *w, size_t n)
{
    uint64_t *c = arena_new_array(f->arena, uint64_t, n + 1);

    for (size_t i = 0; i < n; i++)
        c[i] = varint(w);
    return c;
}

static int64_t *signed_column(struct flame *f, struct wire *w, size_t n)
{
    int64_t *c = arena_new_array(f->arena, int64_t, n + 1);

    for (size_t i = 0; i < n; i++)
        c[i] = zigzag(w);
    return c;
}

static void decode_header(struct flame *f, struct wire *w)
{
    size_t n = 0;

    EXPECT(w->rest.n > 12 && memcmp(w->rest.s, "PPFL\2\0\0\0", 8) == 0);
    for (int i = 4; i-- > 0;)
        n = n << 8 | (unsigned char)w->rest.s[8 + i];
    f->header = str_first(str_skip(w->rest, 12), n);
    w->rest = str_skip(w->rest, 12 + n);
    f->nodes = header_number(f, "nodes");
    f->sources = header_number(f, "sources");
    f->strings = header_number(f, "strings");
    f->base = str_eq(header_member(f, "base"), STR("true"));
}

/* Which source each node is: the n-th callee of its parent's, or a new one. */
static uint64_t *decode_sources(struct flame *f, struct wire *w)
{
    size_t n_fresh = header_number(f, "calls"), child = 1, next = 0, seen = 1;
    uint64_t *call = column(f, w, f->nodes - 1);
    uint64_t *fresh = column(f, w, n_fresh);
    uint64_t *source = arena_new_array(f->arena, uint64_t, f->nodes);
    struct {
        VEC(uint64_t) list;
    } *callees = arena_alloc(f->arena, f->sources * sizeof(*callees));

    for (size_t i = 0; i < f->nodes; i++)
        for (size_t k = 0; k < f->children[i] && child < f->nodes;
             k++, child++) {
            uint64_t c = call[child - 1];

            if (c == 0) {
                EXPECT(next < n_fresh);
                source[child] = fresh[next] ? fresh[next] : seen++;
                next++;
                *vec_push(f->arena, &callees[source[i]].list) = source[child];
            } else {
                EXPECT(c <= callees[source[i]].list.n);
                source[child] = callees[source[i]].list.v[c - 1];
            }
        }
    EXPECT(next == n_fresh && seen == f->sources);
    return source;
}

/* 0 is the next text, n the text n - 1; of displays 0 is the name. */
static uint64_t *text_column(struct flame *f, struct wire *w, uint64_t *seen,
                             const uint64_t *names)
{
    uint64_t *c = column(f, w, f->sources);

    for (size_t i = 0; i < f->sources; i++) {
        if (names && c[i]-- == 0) {
            c[i] = names[i];
            continue;
        }
        c[i] = c[i] == 0 ? (*seen)++ : c[i] - 1;
        EXPECT(c[i] < f->strings);
    }
    return c;
}

static void decode(struct flame *f, struct arena *a, struct str bytes)
{
    struct wire w = {.rest = bytes, .ok = true};
    uint64_t seen = 1;

    *f = (struct flame){.arena = a};
    decode_header(f, &w);
    f->children = column(f, &w, f->nodes);
    f->source = decode_sources(f, &w);
    f->self = signed_column(f, &w, f->nodes);
    f->self_base = f->base ? signed_column(f, &w, f->nodes) : NULL;
    f->name = text_column(f, &w, &seen, NULL);
    f->display = text_column(f, &w, &seen, f->name);
    f->file = text_column(f, &w, &seen, NULL);
    f->binary = text_column(f, &w, &seen, NULL);
    f->package = text_column(f, &w, &seen, NULL);
    f->line = column(f, &w, f->sources);
    f->flags = column(f, &w, f->sources);
    f->texts = arena_new_array(a, struct str, f->strings + 1);
    for (size_t i = 0; i < f->strings; i++) {
        size_t n = varint(&w);

        EXPECT(n <= w.rest.n);
        f->texts[i] = str_first(w.rest, n);
        w.rest = str_skip(w.rest, n);
    }
    EXPECT(w.ok && w.rest.n == 0 && seen == f->strings);
}

/* A line a node, "root;main;<read 10": "<" before what is inlined; with a
 * base two numbers. */
static void print(const struct flame *f, struct buf *out)
{
    struct str *path = arena_new_array(f->arena, struct str, f->nodes + 1);
    size_t next = 1;

    path[0] = STR("root");
    for (size_t i = 0; i < f->nodes; i++) {
        for (size_t k = 0; k < f->children[i]; k++, next++) {
            uint64_t s = f->source[next];

            EXPECT(next < f->nodes && s > 0 && s < f->sources);
            path[next] = str_from(arena_printf(
                f->arena, "%" STR_FMT ";%s%" STR_FMT, STR_ARG(path[i]),
                f->flags[s] & 1 ? "<" : "", STR_ARG(f->texts[f->name[s]])));
        }
        buf_add(out, path[i]);
        buf_addf(out, " %lld", (long long)f->self[i]);
        if (f->base)
            buf_addf(out, " %lld", (long long)f->self_base[i]);
        buf_add_char(out, '\n');
    }
    EXPECT(next == f->nodes);
}

static struct reply ask_flame(struct profile *p, const char *query)
{
    struct report_config c;
    struct page_options o = {.config = &c};
    struct file_source_options files = {.is_local = true};
    struct asker a;
    struct reply r;
    char line[128];

    config_init(&c);
    a = (struct asker){
        .page = page_new(
            file_source((struct profile_pair){.profile = p}, &files), &o)};
    snprintf(line, sizeof(line), "GET /ui/data/flame%s", query);
    r = ask(&a, line);
    page_free(a.page);
    return r;
}

static void expect_tree(const char *text, const char *query, const char *want)
{
    struct arena *a = arena_new();
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct reply r = ask_flame(sketch(text), query);
    struct flame f;

    EXPECT(r.status == 200);
    decode(&f, a, buf_str(&r.body));
    print(&f, &out);
    EXPECT_STR(buf_str(&out), want);
    buf_release(&out);
    reply_release(&r);
    arena_free(a);
}

TEST(nodes_come_by_level_the_heaviest_first)
{
    expect_tree("types n/count\n"
                "main;a;x 5\n"
                "main;b 30\n"
                "main;a;y 7\n"
                "main 20\n"
                "init 1\n",
                "",
                "root 0\n"
                "root;main 20\n"
                "root;init 1\n"
                "root;main;b 30\n"
                "root;main;a 0\n"
                "root;main;a;y 7\n"
                "root;main;a;x 5\n");
}

TEST(inlined_frames_are_nodes_that_say_so)
{
    expect_tree("types n/count\n"
                "main;work<help 2\n"
                "main;work;help 3\n",
                "",
                "root 0\n"
                "root;main 0\n"
                "root;main;work 0\n"
                "root;main;work;help 3\n"
                "root;main;work;<help 2\n");
}

TEST(recursion_goes_down_and_stacks_of_one_sample_add_up)
{
    expect_tree("types n/count\n"
                "f;f;f 1\n"
                "f;f 2\n"
                "f;f+ 4\n",
                "",
                "root 0\n"
                "root;f 0\n"
                "root;f;f 6\n"
                "root;f;f;f 1\n");
}

TEST(samples_without_frames_are_the_roots_own)
{
    expect_tree("types n/count\n- 3\nmain 1\n", "",
                "root 3\n"
                "root;main 1\n");
}

TEST(what_is_worth_nothing_is_left_out)
{
    expect_tree("types a/count b/count\nmain;x 3 0\nmain;y 0 4\n", "?si=a",
                "root 0\n"
                "root;main 0\n"
                "root;main;x 3\n");
}

TEST(a_base_has_a_column_of_its_own)
{
    expect_tree("types n/count\n"
                "main;a 5\n"
                "main;a -3 pprof::base=true\n"
                "main;gone -7 pprof::base=true\n",
                "",
                "root 0 0\n"
                "root;main 0 0\n"
                "root;main;a 5 3\n"
                "root;main;gone 0 7\n");
}

TEST(a_mean_is_that_of_the_node)
{
    expect_tree("types events/count delay/nanoseconds\n"
                "main 2 10\n"
                "main+ 3 20\n",
                "?si=delay&mean=t",
                "root 0\n"
                "root;main 6\n");
}

TEST(filters_hold_and_lines_are_told_apart_when_asked_for)
{
    const char *text = "types n/count\n"
                       "main;work@w.c:7 1\n"
                       "main;work@w.c:9 2\n"
                       "main;idle 4\n";

    expect_tree(text, "?f=work", "root 0\nroot;main 0\nroot;main;work 3\n");
    expect_tree(text, "?f=work&g=lines",
                "root 0\n"
                "root;main 0\n"
                "root;main;work:9 2\n"
                "root;main;work:7 1\n");
    expect_tree(text, "?f=nosuch", "root 0\n");
}

TEST(frames_without_symbols_are_places_in_a_file)
{
    expect_tree("types n/count\n"
                "map /bin/app 1000-5000\n"
                "/bin/app!#1010;/bin/app!#1020 1\n",
                "",
                "root 0\n"
                "root;[app]+0x10 0\n"
                "root;[app]+0x10;[app]+0x20 1\n");
}

TEST(sources_say_where_they_are)
{
    struct arena *a = arena_new();
    struct reply r =
        ask_flame(sketch("types n/count\n"
                         "map /bin/app 1000-5000\n"
                         "/bin/app!example.org/a/pkg.Work@src/w.go:7#1010 1\n"),
                  "?g=lines");
    struct flame f;

    decode(&f, a, buf_str(&r.body));
    EXPECT(f.sources == 2);
    EXPECT_STR(f.texts[f.name[1]], "example.org/a/pkg.Work:7");
    EXPECT_STR(f.texts[f.display[1]], "pkg.Work");
    EXPECT_STR(f.texts[f.file[1]], "src/w.go");
    EXPECT_STR(f.texts[f.binary[1]], "app");
    EXPECT_STR(f.texts[f.package[1]], "example.org/a/pkg");
    EXPECT(f.line[1] == 7 && f.flags[1] == 0);
    reply_release(&r);
    arena_free(a);
}

/* ---- random profiles ---- */

static int compare_lines(const void *x, const void *y)
{
    return str_cmp(*(const struct str *)x, *(const struct str *)y);
}

static struct str sorted_lines(struct arena *a, struct str text)
{
    VEC(struct str) lines = {0};
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct str line, sorted;

    while (str_next_line(&text, &line))
        *vec_push(a, &lines) = line;
    if (lines.n > 0)
        qsort(lines.v, lines.n, sizeof(*lines.v), compare_lines);
    for (size_t i = 0; i < lines.n; i++)
        buf_addf(&out, "%" STR_FMT "\n", STR_ARG(lines.v[i]));
    sorted = arena_str(a, buf_str(&out));
    buf_release(&out);
    return sorted;
}

/* The samples themselves, as lines like those of print(), one a node that
 * has a value of its own. */
static struct str leaves_of(const struct profile *p, size_t type,
                            struct arena *a)
{
    VEC(struct str) paths = {0};
    VEC(int64_t) sums = {0};
    struct buf out = BUF_INIT(BUF_NO_LIMIT), path = out;
    struct str all;

    for (size_t i = 0; i < p->n_samples; i++) {
        size_t at = 0;

        buf_clear(&path);
        buf_add(&path, STR("root"));
        for (size_t k = p->loc_start[i + 1]; k-- > p->loc_start[i];) {
            const struct location *l = &p->locations.v[p->stack[k]];

            for (uint32_t n = l->n_lines; n-- > 0;) {
                const struct function *f =
                    &p->functions.v[p->lines.v[l->line_start + n].function];

                buf_addf(&path, ";%s%" STR_FMT, n + 1 < l->n_lines ? "<" : "",
                         STR_ARG(profile_str(p, f->name)));
            }
        }
        while (at < paths.n && !str_eq(paths.v[at], buf_str(&path)))
            at++;
        if (at == paths.n) {
            *vec_push(a, &paths) = arena_str(a, buf_str(&path));
            *vec_push(a, &sums) = 0;
        }
        sums.v[at] += p->values[i * p->types.n + type];
    }
    for (size_t i = 0; i < paths.n; i++)
        if (sums.v[i] != 0)
            buf_addf(&out, "%" STR_FMT " %lld\n", STR_ARG(paths.v[i]),
                     (long long)sums.v[i]);
    all = sorted_lines(a, buf_str(&out));
    buf_release(&out);
    buf_release(&path);
    return all;
}

/* Names and lines for all, so that each frame prints as its function. */
static void name_all(struct profile *p)
{
    for (size_t i = 0; i < p->functions.n; i++) {
        char name[32];

        snprintf(name, sizeof(name), "f%zu", i);
        p->functions.v[i].name = profile_intern(p, str_from(name));
        p->functions.v[i].filename = 0;
    }
    for (size_t i = 0; i < p->locations.n; i++) {
        struct location *l = &p->locations.v[i];

        if (l->n_lines > 0)
            continue;
        l->line_start = (uint32_t)p->lines.n;
        l->n_lines = 1;
        *vec_push(p->arena, &p->lines) = (struct line){.function = 0};
    }
}

TEST(random_profiles_come_back_as_they_were)
{
    uint64_t state = random_seed();

    for (int i = 0; i < 200 && !test_failed; i++) {
        struct profile *p = random_profile(&state, -5);
        struct arena *a = arena_new();
        struct buf out = BUF_INIT(BUF_NO_LIMIT), leaves = out;
        struct str want, line, rest;
        struct flame f;
        struct reply r;

        name_all(p);
        want = leaves_of(p, 0, a);
        r = ask_flame(p, "?si=0&g=functions");
        EXPECT(r.status == 200);
        decode(&f, a, buf_str(&r.body));
        print(&f, &out);
        rest = buf_str(&out);
        while (str_next_line(&rest, &line))
            if (!str_has_suffix(line, STR(" 0")))
                buf_addf(&leaves, "%" STR_FMT "\n", STR_ARG(line));
        EXPECT(str_eq(sorted_lines(a, buf_str(&leaves)), want));
        buf_release(&out);
        buf_release(&leaves);
        reply_release(&r);
        arena_free(a);
    }
}

TEST_MAIN

/*
 * The flame graph's data: columns of small numbers, which gzip makes a few
 * bits each.  docs/page.md has the layout.
 */
#include <assert.h>

#include "base/path.h"
#include "page/data.h"
#include "page/flame_tree.h"
#include "page/frame_name.h"
#include "page/json_fields.h"
#include "page/text_table.h"
#include "report/short_name.h"
#include "report/stack/stacks.h"

#define VERSION 2

enum source_flags {
    SOURCE_INLINED = 1,
    SOURCE_BARE = 2, /* no symbol: "[prog]+0x12f0" */
};

/* What is sent about sources, a number each. */
enum column {
    COLUMN_NAME, /* those up to the package are texts, by number */
    COLUMN_DISPLAY,
    COLUMN_FILE,
    COLUMN_BINARY,
    COLUMN_PACKAGE,
    COLUMN_LINE,
    COLUMN_FLAGS,
    N_COLUMNS,
};

struct sender {
    struct report *report;
    struct buf *out;
    struct flame_tree tree;
    struct text_table texts; /* numbered as the columns first name them */
    uint32_t *columns[N_COLUMNS];

    /* The calls between sources: for each node but the root which callee of
     * its caller's source it is, from 1; 0 for the first of its kind, whose
     * source is then the next of `fresh`. */
    uint32_t *calls;
    VEC(uint32_t) fresh;
};

/* ---- numbers ---- */

static void add_u32(struct buf *out, uint32_t value)
{
    unsigned char bytes[4];

    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(value >> 8 * i);
    buf_add_bytes(out, bytes, sizeof(bytes));
}

static void add_varint(struct buf *out, uint64_t value)
{
    unsigned char bytes[10];
    size_t n = 0;

    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (unsigned char)(value | 0x80);
    bytes[n++] = (unsigned char)value;
    buf_add_bytes(out, bytes, n);
}

static void add_zigzag(struct buf *out, int64_t value)
{
    uint64_t sign = value < 0 ? UINT64_MAX : 0;

    add_varint(out, (uint64_t)value << 1 ^ sign);
}

/* ---- sources ---- */

static struct str binary_of(const struct sender *s, uint32_t location)
{
    const struct profile *p = s->report->profile;
    uint32_t mapping = p->locations.v[location].mapping;

    if (mapping == NO_INDEX || !p->mappings.v[mapping].file)
        return STR("");
    return path_base(profile_str(p, p->mappings.v[mapping].file));
}

/* The texts of all sources: texts[column][source]. */
struct source_texts {
    struct str *of[COLUMN_PACKAGE + 1];
};

static void describe(struct sender *s, struct source_texts *texts, size_t i)
{
    const struct flame_source *source = &s->tree.sources.v[i];
    struct arena *a = s->report->arena;
    struct frame f = node_frame(&s->tree.table, source->node);
    bool bare = f.name.n == 0 && f.file.n == 0;
    struct str name =
        bare ? node_name(&s->tree.table, source->node) : frame_full_name(a, &f);
    struct str shown = short_name(a, f.name);

    texts->of[COLUMN_NAME][i] = name;
    texts->of[COLUMN_DISPLAY][i] = shown.n > 0 ? shown : name;
    texts->of[COLUMN_FILE][i] = f.file;
    texts->of[COLUMN_BINARY][i] = binary_of(s, source->location);
    texts->of[COLUMN_PACKAGE][i] = frame_package(f.name);
    s->columns[COLUMN_LINE][i] =
        f.line > 0 && f.line < UINT32_MAX ? (uint32_t)f.line : 0;
    s->columns[COLUMN_FLAGS][i] =
        (source->inlined ? SOURCE_INLINED : 0) | (bare ? SOURCE_BARE : 0);
}

static void describe_sources(struct sender *s)
{
    struct arena *a = s->report->arena;
    size_t n = s->tree.sources.n;
    struct source_texts texts;

    for (int c = 0; c < N_COLUMNS; c++)
        s->columns[c] = arena_new_array(a, uint32_t, n);
    for (int c = 0; c <= COLUMN_PACKAGE; c++)
        texts.of[c] = arena_new_array(a, struct str, n);
    texts.of[COLUMN_NAME][0] = texts.of[COLUMN_DISPLAY][0] = STR("root");
    stacks_name_bare(&s->tree.table);
    for (size_t i = 1; i < n; i++)
        describe(s, &texts, i);
    text_table_init(&s->texts, a);
    for (int c = 0; c <= COLUMN_PACKAGE; c++)
        for (size_t i = 0; i < n; i++)
            s->columns[c][i] = text_table_add(&s->texts, texts.of[c][i]);
}

/* ---- calls ---- */

/*
 * A function calls few others: as the n-th callee of its caller a node is a
 * small number, where a source is one of tens of thousands.
 */
struct call_index {
    struct map map;
    VEC(uint64_t) pairs; /* caller's source, callee's */
    VEC(uint32_t) ranks;
    uint32_t *n_callees; /* by source */
    uint32_t n_seen;     /* sources so far */
};

/* The number of the callee, or 0 for one that is new. */
static uint32_t rank_of(struct call_index *x, struct arena *a, uint32_t caller,
                        uint32_t callee)
{
    uint64_t pair = (uint64_t)caller << 32 | callee;
    struct map_cursor c = map_find(&x->map, pair);

    while (map_next(&x->map, &c))
        if (x->pairs.v[c.record] == pair)
            return x->ranks.v[c.record];
    map_add(&x->map, &c, (uint32_t)x->pairs.n);
    *vec_push(a, &x->pairs) = pair;
    *vec_push(a, &x->ranks) = ++x->n_callees[caller];
    return 0;
}

static void find_calls(struct sender *s)
{
    const struct flame_tree *t = &s->tree;
    struct arena *a = s->report->arena;
    struct call_index x = {.n_seen = 1};
    size_t child = 1;

    map_init(&x.map, a, t->sources.n);
    x.n_callees = arena_new_array(a, uint32_t, t->sources.n);
    s->calls = arena_new_array(a, uint32_t, t->nodes.n);
    for (size_t i = 0; i < t->nodes.n; i++)
        for (uint32_t k = 0; k < t->nodes.v[i].n_children; k++, child++) {
            uint32_t source = t->nodes.v[child].source;

            s->calls[child] = rank_of(&x, a, t->nodes.v[i].source, source);
            if (s->calls[child] > 0)
                continue;
            /* 0 for a source that was not there yet: it is the next. */
            assert(source <= x.n_seen);
            *vec_push(a, &s->fresh) = source == x.n_seen ? 0 : source;
            x.n_seen += source == x.n_seen;
        }
    assert(child == t->nodes.n && x.n_seen == t->sources.n);
}

/* ---- the parts of the reply ---- */

static void add_levels(struct json *j, const struct flame_tree *t)
{
    json_key(j, STR("levels"));
    json_open(j, '[');
    for (size_t i = 0; i < t->levels.n; i++)
        json_i64(j, (int64_t)t->levels.v[i]);
    json_close(j, ']');
}

static void add_header(struct sender *s)
{
    const struct report *r = s->report;
    const struct flame_tree *t = &s->tree;
    struct buf text = arena_buf(r->arena);
    struct json j = json_start(&text, 0);
    /* Nothing is left out. */
    struct header_counts counts = {.flat_sum = r->total};

    json_open(&j, '{');
    json_add_i64(&j, "total", r->total);
    json_add_value_text(&j, "total_text", r, r->total);
    json_add_scale(&j, "scale", "unit", r);
    json_add_text(&j, "type", r->sample_type);
    json_add_text(&j, "sample_unit", r->sample_unit);
    json_add_i64(&j, "nodes", (int64_t)t->nodes.n);
    json_add_i64(&j, "sources", (int64_t)t->sources.n);
    json_add_i64(&j, "calls", (int64_t)s->fresh.n);
    json_add_i64(&j, "strings", (int64_t)s->texts.list.n);
    json_add_bool(&j, "base", t->has_base);
    add_levels(&j, t);
    json_key(&j, STR("hidden"));
    json_open(&j, '{');
    json_add_i64(&j, "samples", (int64_t)t->frameless);
    json_add_i64(&j, "value", t->frameless_value);
    json_close(&j, '}');
    json_add_legend(&j, r, &counts);
    json_close(&j, '}');
    buf_add(s->out, STR("PPFL"));
    add_u32(s->out, VERSION);
    add_u32(s->out, (uint32_t)text.len);
    buf_add(s->out, buf_str(&text));
    buf_release(&text);
}

static void add_nodes(const struct sender *s)
{
    const struct flame_tree *t = &s->tree;

    for (size_t i = 0; i < t->nodes.n; i++)
        add_varint(s->out, t->nodes.v[i].n_children);
    for (size_t i = 1; i < t->nodes.n; i++)
        add_varint(s->out, s->calls[i]);
    for (size_t i = 0; i < s->fresh.n; i++)
        add_varint(s->out, s->fresh.v[i]);
    for (size_t i = 0; i < t->nodes.n; i++)
        add_zigzag(s->out, t->nodes.v[i].self);
    for (size_t i = 0; t->has_base && i < t->nodes.n; i++)
        add_zigzag(s->out, t->nodes.v[i].base);
}

/* 0 is a text that no column named before: they come in that order.  A
 * display that is the name is 0, and all others are one more. */
static void add_text(const struct sender *s, enum column column, size_t source,
                     uint32_t *n_seen)
{
    uint32_t text = s->columns[column][source], more = 0;

    if (column == COLUMN_DISPLAY) {
        if (text == s->columns[COLUMN_NAME][source]) {
            add_varint(s->out, 0);
            return;
        }
        more = 1;
    }
    if (text == *n_seen) {
        ++*n_seen;
        add_varint(s->out, more);
    } else {
        add_varint(s->out, (uint64_t)text + 1 + more);
    }
}

static void add_sources(const struct sender *s)
{
    uint32_t n_seen = 1;

    for (int c = 0; c < N_COLUMNS; c++)
        for (size_t i = 0; i < s->tree.sources.n; i++) {
            if (c <= COLUMN_PACKAGE)
                add_text(s, (enum column)c, i, &n_seen);
            else
                add_varint(s->out, s->columns[c][i]);
        }
}

static void add_strings(const struct sender *s)
{
    for (size_t i = 0; i < s->texts.list.n; i++) {
        struct str text = s->texts.list.v[i];

        add_varint(s->out, text.n);
        buf_add(s->out, text);
    }
}

bool data_flame(struct report *r, struct buf *out, struct error *err)
{
    struct sender s = {.report = r, .out = out};

    (void)err;
    flame_tree_make(&s.tree, r);
    describe_sources(&s);
    find_calls(&s);
    add_header(&s);
    add_nodes(&s);
    add_sources(&s);
    add_strings(&s);
    return true;
}

/*
 * The flame graph's data: columns of small numbers, which gzip makes a few
 * bits each.  docs/page.md has the layout.
 */
#include "base/path.h"
#include "page/data.h"
#include "page/flame_tree.h"
#include "page/source_name.h"
#include "page/text_table.h"
#include "report/short_name.h"
#include "report/stacks.h"

#define VERSION 1

enum source_flags {
    SOURCE_INLINED = 1,
    SOURCE_BARE = 2, /* no symbol: "[prog]+0x12f0" */
};

/* What is sent about a source; texts by number. */
struct sent_source {
    uint32_t name, display, file, binary, package;
    uint64_t line;
    uint32_t flags;
};

struct sender {
    struct report *report;
    struct buf *out;
    struct flame_tree tree;
    struct text_table strings;
    struct sent_source *sources;
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

static uint32_t binary_of(struct sender *s, uint32_t location)
{
    const struct profile *p = s->report->profile;
    uint32_t mapping = p->locations.v[location].mapping;

    if (mapping == NO_INDEX || !p->mappings.v[mapping].file)
        return 0;
    return text_table_add(
        &s->strings, path_base(profile_str(p, p->mappings.v[mapping].file)));
}

static struct sent_source describe(struct sender *s,
                                   const struct flame_source *source)
{
    struct arena *a = s->report->arena;
    struct frame f = node_frame(&s->tree.table, source->node);
    struct sent_source sent = {
        .file = text_table_add(&s->strings, f.file),
        .binary = binary_of(s, source->location),
        .package = text_table_add(&s->strings, source_package(f.name)),
        .line = (uint64_t)(f.line > 0 ? f.line : 0),
        .flags = source->inlined ? SOURCE_INLINED : 0,
    };

    if (f.name.n > 0 || f.file.n > 0) {
        sent.name = text_table_add(&s->strings, source_full_name(a, &f));
        sent.display = text_table_add(&s->strings, short_name(a, f.name));
    } else {
        sent.name = text_table_add(&s->strings,
                                   node_name(&s->tree.table, source->node));
        sent.flags |= SOURCE_BARE;
    }
    if (sent.display == 0)
        sent.display = sent.name;
    return sent;
}

static void describe_sources(struct sender *s)
{
    struct flame_tree *t = &s->tree;

    text_table_init(&s->strings, s->report->arena);
    stacks_name_bare(&t->table);
    s->sources =
        arena_new_array(s->report->arena, struct sent_source, t->sources.n);
    s->sources[0].name = text_table_add(&s->strings, STR("root"));
    s->sources[0].display = s->sources[0].name;
    for (size_t i = 1; i < t->sources.n; i++)
        s->sources[i] = describe(s, &t->sources.v[i]);
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
    struct buf text = BUF_INIT(BUF_NO_LIMIT);
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
    json_add_i64(&j, "strings", (int64_t)s->strings.list.n);
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
    for (size_t i = 0; i < t->nodes.n; i++)
        add_varint(s->out, t->nodes.v[i].source);
    for (size_t i = 0; i < t->nodes.n; i++)
        add_zigzag(s->out, t->nodes.v[i].self);
    for (size_t i = 0; t->has_base && i < t->nodes.n; i++)
        add_zigzag(s->out, t->nodes.v[i].base);
}

static void add_sources(const struct sender *s)
{
    size_t n = s->tree.sources.n;

    for (size_t i = 0; i < n; i++)
        add_varint(s->out, s->sources[i].name);
    for (size_t i = 0; i < n; i++)
        add_varint(s->out, s->sources[i].display);
    for (size_t i = 0; i < n; i++)
        add_varint(s->out, s->sources[i].file);
    for (size_t i = 0; i < n; i++)
        add_varint(s->out, s->sources[i].binary);
    for (size_t i = 0; i < n; i++)
        add_varint(s->out, s->sources[i].package);
    for (size_t i = 0; i < n; i++)
        add_varint(s->out, s->sources[i].line);
    for (size_t i = 0; i < n; i++)
        add_varint(s->out, s->sources[i].flags);
}

static void add_strings(const struct sender *s)
{
    for (size_t i = 0; i < s->strings.list.n; i++) {
        struct str text = s->strings.list.v[i];

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
    add_header(&s);
    add_nodes(&s);
    add_sources(&s);
    add_strings(&s);
    return true;
}

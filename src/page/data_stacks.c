/*
 * The samples in google/pprof's form for flame graphs, JSON: one stack a
 * sample, frames by number.  For clients that were written for it.
 */
#include "base/i64.h"
#include "base/path.h"
#include "base/sha256.h"
#include "page/data.h"
#include "page/frame_name.h"
#include "page/json_fields.h"
#include "report/path_trim.h"
#include "report/short_name.h"

#define COLOURS 1048576

struct changed_path {
    size_t stack, position;
};

/* What makes two frames the same one. */
struct source_key {
    string_id name, file;
    int64_t line, column;
    bool inlined;
};

struct source {
    struct source_key key;
    struct str full_name, unique_name, file;
    int64_t self;
    VEC(struct changed_path) places;
};

struct maker {
    struct report *report;
    struct json json;
    struct map index, names;
    VEC(struct source) sources;
    VEC(uint32_t) open; /* sources of the stack at hand */
};

static bool same(const struct source_key *a, const struct source_key *b)
{
    return a->name == b->name && a->file == b->file && a->line == b->line &&
           a->column == b->column && a->inlined == b->inlined;
}

/* A name that was taken before gets the number of its function. */
static struct str unique_name(struct maker *m, struct str name,
                              uint64_t function_id)
{
    struct map_cursor c =
        map_find(&m->names, str_hash_seeded(name, m->names.seed));

    while (map_next(&m->names, &c))
        if (str_eq(m->sources.v[c.record].full_name, name))
            return str_from(arena_printf(m->report->arena, "%" STR_FMT "#%llu",
                                         STR_ARG(name),
                                         (unsigned long long)function_id));
    map_add(&m->names, &c, (uint32_t)m->sources.n);
    return name;
}

static uint32_t add_source(struct maker *m, const struct source_key *key,
                           const struct function *f)
{
    struct report *r = m->report;
    const struct profile *p = r->profile;
    struct source s = {.key = *key};
    struct frame frame = {.name = profile_str(p, f->name),
                          .line = key->line,
                          .column = key->column};

    s.file = path_trim(profile_str(p, f->filename), r->config.trim_path,
                       r->config.source_path);
    frame.file = s.file;
    s.full_name = frame_full_name(r->arena, &frame);
    s.unique_name = unique_name(m, s.full_name, f->id);
    *vec_push(r->arena, &m->sources) = s;
    return (uint32_t)m->sources.n - 1;
}

static uint32_t find_source(struct maker *m, const struct line *line,
                            bool inlined)
{
    const struct function *f = &m->report->profile->functions.v[line->function];
    struct source_key key = {.name = f->name,
                             .file = f->filename,
                             .line = line->line,
                             .column = line->column,
                             .inlined = inlined};
    uint64_t hash = map_mix(m->index.seed, (uint64_t)key.name << 32 | key.file);
    struct map_cursor c;

    hash = map_mix(hash, (uint64_t)key.line);
    hash = map_mix(hash, (uint64_t)key.column << 1 | inlined);
    c = map_find(&m->index, hash);
    while (map_next(&m->index, &c))
        if (same(&m->sources.v[c.record].key, &key))
            return c.record;
    map_add(&m->index, &c, (uint32_t)m->sources.n);
    return add_source(m, &key, f);
}

/* Fills m->open with the sources of a sample, root first. */
static void open_stack(struct maker *m, size_t sample)
{
    struct report *r = m->report;
    const struct profile *p = r->profile;

    m->open.n = 0;
    *vec_push(r->arena, &m->open) = 0;
    for (size_t i = p->loc_start[sample + 1]; i-- > p->loc_start[sample];) {
        const struct location *l = &p->locations.v[p->stack[i]];

        for (uint32_t k = l->n_lines; k-- > 0;)
            *vec_push(r->arena, &m->open) = find_source(
                m, &p->lines.v[l->line_start + k], k + 1 != l->n_lines);
    }
}

/* A source's place is the first that it has in a stack. */
static void note_places(struct maker *m, size_t stack)
{
    for (size_t i = 0; i < m->open.n; i++) {
        struct source *s = &m->sources.v[m->open.v[i]];

        if (s->places.n > 0 && s->places.v[s->places.n - 1].stack == stack)
            continue;
        *vec_push(m->report->arena, &s->places) =
            (struct changed_path){stack, i};
    }
}

static void add_stacks(struct maker *m)
{
    const struct profile *p = m->report->profile;
    struct json *j = &m->json;

    json_key(j, STR("Stacks"));
    json_open(j, '[');
    for (size_t i = 0; i < p->n_samples; i++) {
        int64_t value = report_value(m->report, i), *self;

        open_stack(m, i);
        note_places(m, i);
        self = &m->sources.v[m->open.v[m->open.n - 1]].self;
        *self = i64_add(*self, value);
        json_open(j, '{');
        json_add_i64(j, "Value", value);
        json_key(j, STR("Sources"));
        json_open(j, '[');
        for (size_t k = 0; k < m->open.n; k++)
            json_i64(j, m->open.v[k]);
        json_close(j, ']');
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* The name and every part of it that follows a separator. */
static void add_suffixes(struct json *j, struct str name, bool is_file)
{
    json_string(j, name);
    for (size_t i = 0; i < name.n; i++) {
        struct str rest = str_skip(name, i);
        size_t n = is_file ? str_has_prefix(rest, STR("/"))
                   : str_has_prefix(rest, STR("::"))
                       ? 2
                       : str_has_prefix(rest, STR("."));

        if (n == 0)
            continue;
        i += n - 1;
        if (i + 1 < name.n)
            json_string(j, str_skip(name, i + 1));
    }
}

static int64_t colour_of(struct str key)
{
    unsigned char digest[SHA256_BYTES];
    uint32_t number = 0;

    sha256(key, digest);
    for (int i = 4; i-- > 0;)
        number = number << 8 | digest[i];
    return number % COLOURS;
}

static void add_display(struct maker *m, const struct source *s)
{
    struct arena *a = m->report->arena;
    struct json *j = &m->json;
    struct str name = profile_str(m->report->profile, s->key.name);

    json_key(j, STR("Display"));
    json_open(j, '[');
    if (name.n > 0)
        add_suffixes(j, short_name(a, s->full_name), false);
    else
        add_suffixes(j, s->full_name, true);
    json_close(j, ']');
    json_add_i64(
        j, "Color",
        colour_of(name.n > 0 ? frame_package(name) : path_dir(a, s->file)));
}

static void add_source_json(struct maker *m, size_t number)
{
    const struct source *s = &m->sources.v[number];
    struct json *j = &m->json;

    json_open(j, '{');
    json_add_text(j, "FullName", s->full_name);
    json_add_text(j, "FileName", s->file);
    json_add_text(j, "UniqueName", s->unique_name);
    json_key(j, STR("Inlined"));
    json_bool(j, s->key.inlined);
    if (number > 0) {
        add_display(m, s);
    } else {
        json_key(j, STR("Display"));
        json_open(j, '[');
        json_string(j, STR("root"));
        json_close(j, ']');
        json_add_i64(j, "Color", 0);
    }
    json_key(j, STR("Places"));
    json_open(j, '[');
    for (size_t i = 0; i < s->places.n; i++) {
        json_open(j, '{');
        json_add_i64(j, "Stack", (int64_t)s->places.v[i].stack);
        json_add_i64(j, "Pos", (int64_t)s->places.v[i].position);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_add_i64(j, "Self", s->self);
    json_close(j, '}');
}

bool data_stacks(struct report *r, struct buf *out, struct error *err)
{
    struct maker m = {.report = r, .json = json_start(out, 0)};

    (void)err;
    map_init(&m.index, r->arena, 0);
    map_init(&m.names, r->arena, 0);
    *vec_push(r->arena, &m.sources) = (struct source){
        .key = {.name = NO_INDEX, .file = NO_INDEX}, .full_name = STR("root")};
    json_open(&m.json, '{');
    json_add_i64(&m.json, "Total", r->total);
    json_add_scale(&m.json, "Scale", "Unit", r);
    json_add_text(&m.json, "Type", r->sample_type);
    add_stacks(&m);
    json_key(&m.json, STR("Sources"));
    json_open(&m.json, '[');
    for (size_t i = 0; i < m.sources.n; i++)
        add_source_json(&m, i);
    json_close(&m.json, ']');
    json_close(&m.json, '}');
    return true;
}

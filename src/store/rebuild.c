/*
 * Rows to the model.  Each record is looked up once; which index it became is
 * kept in an array per table.
 */
#include "store/rebuild.h"

#include "base/memory_scope.h"
#include "store/intern.h"
#include "store/pack.h"

static string_id text_of(struct rebuilder *b, uint32_t id)
{
    if (!b->strings[id])
        b->strings[id] =
            profile_intern(b->p, dict_get(b->d, DICT_STRING, id)) + 1;
    return b->strings[id] - 1;
}

/* Records of a dictionary have been checked when it was read. */
static bool read_text(struct rebuilder *b, struct wire_reader *r,
                      string_id *out)
{
    uint32_t id;

    if (!unpack_u32(r, &id) || id >= b->d->tables[DICT_STRING].n)
        return false;
    *out = text_of(b, id);
    return true;
}

static bool read_header(struct rebuilder *b, uint32_t header)
{
    struct wire_reader r = unpack_begin(dict_get(b->d, DICT_HEADER, header));
    struct profile *p = b->p;
    uint64_t types, mask, comments;

    if (!wire_read_varint(&r, &types) || types > (size_t)(r.end - r.at))
        return false;
    for (uint64_t i = 0; i < types; i++) {
        struct value_type *t = vec_push(p->arena, &p->types);

        if (!read_text(b, &r, &t->type) || !read_text(b, &r, &t->unit))
            return false;
    }
    if (!wire_read_varint(&r, &mask) ||
        !read_text(b, &r, &p->period_type.type) ||
        !read_text(b, &r, &p->period_type.unit) ||
        !read_text(b, &r, &p->drop_frames) ||
        !read_text(b, &r, &p->keep_frames) ||
        !read_text(b, &r, &p->default_type) || !read_text(b, &r, &p->doc_url) ||
        !wire_read_varint(&r, &comments) || comments > (size_t)(r.end - r.at))
        return false;
    for (uint64_t i = 0; i < comments; i++)
        if (!read_text(b, &r, vec_push(p->arena, &p->comments)))
            return false;
    return true;
}

bool rebuild_begin(struct rebuilder *b, const struct dict *d, uint32_t header)
{
    *b = (struct rebuilder){.p = profile_new(), .d = d, .scratch = arena_new()};
    b->strings =
        arena_new_array(b->scratch, uint32_t, d->tables[DICT_STRING].n);
    b->functions =
        arena_new_array(b->scratch, uint32_t, d->tables[DICT_FUNCTION].n);
    b->mappings =
        arena_new_array(b->scratch, uint32_t, d->tables[DICT_MAPPING].n);
    b->locations =
        arena_new_array(b->scratch, uint32_t, d->tables[DICT_LOCATION].n);
    sample_builder_init(&b->samples, b->p);
    if (read_header(b, header))
        return true;
    rebuild_end(b, false);
    return false;
}

static bool add_mapping(struct rebuilder *b, uint32_t id, uint64_t start,
                        uint64_t size, uint64_t flags)
{
    struct wire_reader r = unpack_begin(dict_get(b->d, DICT_MAPPING, id));
    struct profile *p = b->p;
    struct mapping *m = vec_push(p->arena, &p->mappings);

    *m = (struct mapping){
        .id = p->mappings.n,
        .start = start,
        .limit = start + size,
        .has_functions = flags & 1,
        .has_filenames = flags & 2,
        .has_line_numbers = flags & 4,
        .has_inline_frames = flags & 8,
    };
    b->mappings[id] = (uint32_t)p->mappings.n;
    return read_text(b, &r, &m->file) && read_text(b, &r, &m->build_id) &&
           wire_read_varint(&r, &m->offset);
}

bool rebuild_image(struct rebuilder *b, uint32_t image)
{
    struct wire_reader r = unpack_begin(dict_get(b->d, DICT_IMAGE, image));

    while (wire_more(&r)) {
        uint64_t start, size, flags;
        uint32_t id;

        if (!unpack_u32(&r, &id) || id >= b->d->tables[DICT_MAPPING].n ||
            !wire_read_varint(&r, &start) || !wire_read_varint(&r, &size) ||
            !wire_read_varint(&r, &flags))
            return false;
        if (!b->mappings[id] && !add_mapping(b, id, start, size, flags))
            return false;
    }
    return true;
}

static bool add_function(struct rebuilder *b, uint32_t id, uint32_t *out)
{
    struct wire_reader r;
    struct profile *p = b->p;
    struct function f = {.id = p->functions.n + 1};

    if (id >= b->d->tables[DICT_FUNCTION].n)
        return false;
    if (!b->functions[id]) {
        r = unpack_begin(dict_get(b->d, DICT_FUNCTION, id));
        if (!read_text(b, &r, &f.name) || !read_text(b, &r, &f.system_name) ||
            !read_text(b, &r, &f.filename) || !unpack_signed(&r, &f.start_line))
            return false;
        *vec_push(p->arena, &p->functions) = f;
        b->functions[id] = (uint32_t)p->functions.n;
    }
    *out = b->functions[id] - 1;
    return true;
}

/* A location whose mapping is in no image that was given cannot be: the row
 * with the location names its image. */
static bool place_location(struct rebuilder *b, struct location *l,
                           uint64_t first, uint64_t relative)
{
    const struct mapping *m;

    l->is_folded = first & 1;
    l->mapping = NO_INDEX;
    l->address = relative;
    if (!(first >> 1))
        return true;
    if (first >> 1 > b->d->tables[DICT_MAPPING].n ||
        !b->mappings[(first >> 1) - 1])
        return false;
    l->mapping = b->mappings[(first >> 1) - 1] - 1;
    m = &b->p->mappings.v[l->mapping];
    l->address = relative - m->offset + m->start;
    return true;
}

static bool add_location(struct rebuilder *b, uint32_t id, uint32_t *out)
{
    struct wire_reader r;
    struct profile *p = b->p;
    struct location l = {.line_start = (uint32_t)p->lines.n};
    uint64_t first, relative;

    if (id >= b->d->tables[DICT_LOCATION].n)
        return false;
    if (b->locations[id]) {
        *out = b->locations[id] - 1;
        return true;
    }
    r = unpack_begin(dict_get(b->d, DICT_LOCATION, id));
    if (!wire_read_varint(&r, &first) || !wire_read_varint(&r, &relative) ||
        !place_location(b, &l, first, relative))
        return false;
    while (wire_more(&r)) {
        struct line line;
        uint32_t function;

        if (!unpack_u32(&r, &function) ||
            !add_function(b, function, &line.function) ||
            !unpack_signed(&r, &line.line) || !unpack_signed(&r, &line.column))
            return false;
        *vec_push(p->arena, &p->lines) = line;
    }
    l.n_lines = (uint32_t)p->lines.n - l.line_start;
    l.id = p->locations.n + 1;
    *vec_push(p->arena, &p->locations) = l;
    b->locations[id] = (uint32_t)p->locations.n;
    *out = b->locations[id] - 1;
    return true;
}

static bool add_labels(struct rebuilder *b, uint32_t labels)
{
    struct wire_reader r = unpack_begin(dict_get(b->d, DICT_LABELS, labels));

    while (wire_more(&r)) {
        struct label label = {0};
        uint64_t kind;

        if (!wire_read_varint(&r, &kind) || !read_text(b, &r, &label.key) ||
            (kind != LABEL_NUMBER && !read_text(b, &r, &label.str)) ||
            (kind != LABEL_STRING && !unpack_signed(&r, &label.num)))
            return false;
        label.kind = (enum label_kind)kind;
        sample_builder_label(&b->samples, label);
    }
    return true;
}

bool rebuild_sample(struct rebuilder *b, uint32_t node, uint32_t labels,
                    const int64_t *values)
{
    uint32_t location;

    for (; node; node = b->d->nodes[node].parent) {
        if (!add_location(b, b->d->nodes[node].location, &location))
            return false;
        sample_builder_frame(&b->samples, location);
    }
    if (labels && !add_labels(b, labels))
        return false;
    sample_builder_end(&b->samples, values);
    return true;
}

bool rebuild_extras(struct rebuilder *b, struct str extras)
{
    struct wire_reader r = unpack_begin(extras);
    uint32_t n, id, ignored;

    if (extras.n == 0)
        return true;
    if (!unpack_u32(&r, &n))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!unpack_u32(&r, &id) || !add_location(b, id, &ignored))
            return false;
    if (!unpack_u32(&r, &n))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!unpack_u32(&r, &id) || !add_function(b, id, &ignored))
            return false;
    return true;
}

void rebuild_comment(struct rebuilder *b, struct str comment)
{
    string_id id = profile_intern(b->p, comment);

    *vec_push(b->p->arena, &b->p->comments) = id;
}

struct profile *rebuild_end(struct rebuilder *b, bool ok)
{
    struct profile *p = b->p;

    arena_free(b->scratch);
    if (!ok) {
        profile_free(p);
        p = NULL;
    }
    *b = (struct rebuilder){0};
    return p;
}

struct whole {
    const struct dict *d;
    const struct row_meta *m;
    const struct row_samples *s;
    struct profile *p;
};

static void rebuild_whole(void *arg)
{
    struct whole *w = arg;
    const struct row_meta *m = w->m;
    struct rebuilder b;
    bool ok;

    if (!rebuild_begin(&b, w->d, m->header))
        return;
    b.p->time_ns = m->time_ns;
    b.p->duration_ns = m->duration_ns;
    b.p->period = m->period;
    ok = rebuild_image(&b, m->image);
    for (size_t i = 0; ok && i < w->s->n; i++)
        ok = rebuild_sample(&b, w->s->nodes[i], w->s->labels[i],
                            w->s->values + i * w->s->columns);
    ok = ok && rebuild_extras(&b, m->extras);
    w->p = rebuild_end(&b, ok);
}

struct profile *rebuild_profile(const struct dict *d, const struct row_meta *m,
                                const struct row_samples *s, struct error *err)
{
    struct whole w = {.d = d, .m = m, .s = s};

    if (!memory_scope_run(MEMORY_UNLIMITED, rebuild_whole, &w, err))
        return NULL;
    if (!w.p)
        error_set(err, "stored data are damaged");
    return w.p;
}

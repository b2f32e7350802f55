/*
 * Finds or adds mappings, functions and locations of a source in the sum.
 * What was translated once is remembered by its index in the source, so that
 * hashing happens once per record and not once per sample.
 */
#include "profile/merge_records.h"

#include <assert.h>

#include "profile/indices.h"

void merge_records_init(struct merge_records *m, struct profile *out,
                        const struct profile *first)
{
    *m = (struct merge_records){.out = out, .scratch = arena_new()};
    map_init(&m->mappings, m->scratch, first->mappings.n);
    map_init(&m->functions, m->scratch, first->functions.n);
    map_init(&m->locations, m->scratch, first->locations.n);
}

void merge_records_release(struct merge_records *m)
{
    arena_free(m->tables);
    arena_free(m->scratch);
}

void merge_records_source(struct merge_records *m, const struct profile *src)
{
    arena_free(m->tables);
    m->tables = arena_new();
    m->src = src;
    m->string_to = indices_new(m->tables, src->strings.n);
    m->mapping_to = indices_new(m->tables, src->mappings.n);
    m->function_to = indices_new(m->tables, src->functions.n);
    m->location_to = indices_new(m->tables, src->locations.n);
}

string_id merge_string(struct merge_records *m, string_id id)
{
    if (m->string_to[id] == NO_INDEX)
        m->string_to[id] = profile_intern(m->out, profile_str(m->src, id));
    return m->string_to[id];
}

/*
 * Mappings are the same when size, offset and build id (or file) are; where
 * they were loaded does not matter.
 */
struct mapping_key {
    uint64_t size, offset;
    string_id name;
};

static struct mapping_key mapping_key(const struct mapping *m)
{
    uint64_t size = m->limit - m->start;

    return (struct mapping_key){
        .size = (size + 0xfff) & ~(uint64_t)0xfff,
        .offset = m->offset,
        .name = m->build_id ? m->build_id : m->file,
    };
}

static uint32_t find_mapping(struct merge_records *m, struct mapping taken)
{
    struct profile *out = m->out;
    struct mapping_key key = mapping_key(&taken), other;
    struct map_cursor c = map_find(
        &m->mappings,
        map_mix(map_mix(map_mix(m->mappings.seed, key.size), key.offset),
                key.name));

    while (map_next(&m->mappings, &c)) {
        other = mapping_key(&out->mappings.v[c.record]);
        if (other.size == key.size && other.offset == key.offset &&
            other.name == key.name)
            return c.record;
    }
    map_add(&m->mappings, &c, (uint32_t)out->mappings.n);
    *vec_push(out->arena, &out->mappings) = taken;
    return (uint32_t)(out->mappings.n - 1);
}

uint32_t merge_mapping(struct merge_records *m, uint32_t index)
{
    struct mapping taken;

    if (index == NO_INDEX)
        return NO_INDEX;
    assert(index < m->src->mappings.n);
    if (m->mapping_to[index] == NO_INDEX) {
        taken = m->src->mappings.v[index];
        taken.id = m->out->mappings.n + 1;
        taken.file = merge_string(m, taken.file);
        taken.build_id = merge_string(m, taken.build_id);
        m->mapping_to[index] = find_mapping(m, taken);
    }
    return m->mapping_to[index];
}

static uint32_t find_function(struct merge_records *m, struct function taken)
{
    struct profile *out = m->out;
    uint64_t h = map_mix(map_mix(m->functions.seed, (uint64_t)taken.start_line),
                         (uint64_t)taken.name << 32 | taken.filename);
    struct map_cursor c =
        map_find(&m->functions, map_mix(h, taken.system_name));

    while (map_next(&m->functions, &c)) {
        const struct function *f = &out->functions.v[c.record];

        if (f->name == taken.name && f->filename == taken.filename &&
            f->system_name == taken.system_name &&
            f->start_line == taken.start_line)
            return c.record;
    }
    map_add(&m->functions, &c, (uint32_t)out->functions.n);
    *vec_push(out->arena, &out->functions) = taken;
    return (uint32_t)(out->functions.n - 1);
}

static uint32_t take_function(struct merge_records *m, uint32_t index)
{
    struct function taken;

    if (index == NO_INDEX)
        return NO_INDEX;
    assert(index < m->src->functions.n);
    if (m->function_to[index] == NO_INDEX) {
        taken = m->src->functions.v[index];
        taken.id = m->out->functions.n + 1;
        taken.name = merge_string(m, taken.name);
        taken.system_name = merge_string(m, taken.system_name);
        taken.filename = merge_string(m, taken.filename);
        m->function_to[index] = find_function(m, taken);
    }
    return m->function_to[index];
}

/*
 * Of the columns only that of the outermost line counts (google/pprof's
 * rule), so that locations which differ in others become the first of them.
 */
static uint64_t hash_location(const struct profile *p, const struct location *l,
                              uint64_t seed)
{
    uint64_t h = map_mix(map_mix(seed ^ l->is_folded, l->address), l->mapping);
    int64_t column = 0;

    for (size_t i = 0; i < l->n_lines; i++) {
        const struct line *line = &p->lines.v[l->line_start + i];

        h = map_mix(h, line->function);
        h = map_mix(h, (uint64_t)line->line);
        column = line->column;
    }
    return map_mix(h, (uint64_t)column);
}

static bool same_location(const struct profile *p, const struct location *a,
                          const struct location *b)
{
    size_t n = a->n_lines;

    if (a->address != b->address || a->mapping != b->mapping ||
        a->is_folded != b->is_folded || a->n_lines != b->n_lines)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct line *x = &p->lines.v[a->line_start + i];
        const struct line *y = &p->lines.v[b->line_start + i];

        if (x->function != y->function || x->line != y->line ||
            (i == n - 1 && x->column != y->column))
            return false;
    }
    return true;
}

/* The lines of the location are the last of the table; they go if an equal
 * location is there. */
static uint32_t find_location(struct merge_records *m, struct location taken)
{
    struct profile *out = m->out;
    struct map_cursor c =
        map_find(&m->locations, hash_location(out, &taken, m->locations.seed));

    while (map_next(&m->locations, &c)) {
        if (same_location(out, &out->locations.v[c.record], &taken)) {
            out->lines.n = taken.line_start;
            return c.record;
        }
    }
    map_add(&m->locations, &c, (uint32_t)out->locations.n);
    *vec_push(out->arena, &out->locations) = taken;
    return (uint32_t)(out->locations.n - 1);
}

uint32_t merge_location(struct merge_records *m, uint32_t index)
{
    const struct profile *src = m->src;
    struct profile *out = m->out;
    struct location taken = src->locations.v[index];
    size_t first_line = taken.line_start;

    if (m->location_to[index] != NO_INDEX)
        return m->location_to[index];
    if (taken.mapping != NO_INDEX) {
        uint64_t start = src->mappings.v[taken.mapping].start;

        taken.mapping = merge_mapping(m, taken.mapping);
        taken.address += out->mappings.v[taken.mapping].start - start;
    }
    taken.id = out->locations.n + 1;
    taken.line_start = (uint32_t)out->lines.n;
    for (size_t i = 0; i < taken.n_lines; i++) {
        struct line line = src->lines.v[first_line + i];

        line.function = take_function(m, line.function);
        *vec_push(out->arena, &out->lines) = line;
    }
    return m->location_to[index] = find_location(m, taken);
}

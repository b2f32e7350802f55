/*
 * The result has tables of its own.  While a source is walked, an array for
 * each kind of record says which record of the result one of the source
 * became: a frame costs one load, and texts are compared only when a
 * function, mapping or location is met for the first time.
 *
 * A sample is first written behind the last one of the result, in the
 * result's own indices, then looked for by its hash; if an equal one is
 * there its values are added and what was written is forgotten.  The arrays
 * have room for the samples of all sources from the start, so nothing grows
 * on the way; room that is not used costs no memory.
 */
#include "profile/merge.h"

#include <string.h>

#include "base/i64.h"
#include "profile/compact.h"
#include "profile/compatible.h"
#include "profile/indices.h"

struct merger {
    struct profile *out;
    struct arena *scratch; /* for the maps */
    struct map mappings, functions, locations, samples, comments;
    size_t frames, labels; /* of the result's samples */
    bool any_zero;         /* a sum may have become zero */

    /* The source at hand and what its records became (NO_INDEX: not met). */
    const struct profile *src;
    string_id *string_to;
    uint32_t *mapping_to, *function_to, *location_to;
};

static string_id take_string(struct merger *m, string_id id)
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

static uint32_t find_mapping(struct merger *m, struct mapping taken)
{
    struct profile *out = m->out;
    struct mapping_key key = mapping_key(&taken), other;
    struct map_cursor c =
        map_find(&m->mappings,
                 map_mix(map_mix(map_mix(0, key.size), key.offset), key.name));

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

static uint32_t take_mapping(struct merger *m, uint32_t index)
{
    struct mapping taken;

    if (index == NO_INDEX)
        return NO_INDEX;
    if (m->mapping_to[index] == NO_INDEX) {
        taken = m->src->mappings.v[index];
        taken.id = m->out->mappings.n + 1;
        taken.file = take_string(m, taken.file);
        taken.build_id = take_string(m, taken.build_id);
        m->mapping_to[index] = find_mapping(m, taken);
    }
    return m->mapping_to[index];
}

static uint32_t find_function(struct merger *m, struct function taken)
{
    struct profile *out = m->out;
    uint64_t h = map_mix(map_mix(0, (uint64_t)taken.start_line),
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

static uint32_t take_function(struct merger *m, uint32_t index)
{
    struct function taken;

    if (index == NO_INDEX)
        return NO_INDEX;
    if (m->function_to[index] == NO_INDEX) {
        taken = m->src->functions.v[index];
        taken.id = m->out->functions.n + 1;
        taken.name = take_string(m, taken.name);
        taken.system_name = take_string(m, taken.system_name);
        taken.filename = take_string(m, taken.filename);
        m->function_to[index] = find_function(m, taken);
    }
    return m->function_to[index];
}

/*
 * Of the columns only that of the outermost line counts (google/pprof's
 * rule), so that locations which differ in others become the first of them.
 */
static uint64_t hash_location(const struct profile *p, const struct location *l)
{
    uint64_t h = map_mix(map_mix(l->is_folded, l->address), l->mapping);
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
static uint32_t find_location(struct merger *m, struct location taken)
{
    struct profile *out = m->out;
    struct map_cursor c = map_find(&m->locations, hash_location(out, &taken));

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

static uint32_t take_location(struct merger *m, uint32_t index)
{
    const struct profile *src = m->src;
    struct profile *out = m->out;
    struct location taken = src->locations.v[index];
    size_t first_line = taken.line_start;

    if (taken.mapping != NO_INDEX) {
        uint64_t start = src->mappings.v[taken.mapping].start;

        taken.mapping = take_mapping(m, taken.mapping);
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

/* Writes the frames behind the last sample's; their hash. */
static uint64_t write_frames(struct merger *m, size_t sample)
{
    const struct profile *src = m->src;
    size_t end = src->loc_start[sample + 1];
    uint64_t h = profile_depth(src, sample);

    for (size_t i = src->loc_start[sample]; i < end; i++) {
        uint32_t location = m->location_to[src->stack[i]];

        if (location == NO_INDEX)
            location = take_location(m, src->stack[i]);
        m->out->stack[m->frames++] = location;
        h = map_mix(h, location);
    }
    return h;
}

static uint64_t write_labels(struct merger *m, size_t sample, uint64_t h)
{
    const struct profile *src = m->src;
    size_t end = src->label_start[sample + 1];

    for (size_t i = src->label_start[sample]; i < end; i++) {
        struct label label = src->labels[i];

        label.key = take_string(m, label.key);
        label.str = take_string(m, label.str);
        m->out->labels[m->labels++] = label;
        h = map_mix(h, (uint64_t)label.key << 32 | label.str);
        h = map_mix(h, (uint64_t)label.num + label.kind);
    }
    return h;
}

static bool same_labels(const struct label *a, const struct label *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i].key != b[i].key || a[i].str != b[i].str ||
            a[i].num != b[i].num || a[i].kind != b[i].kind)
            return false;
    return true;
}

/* Is sample i of the result what has been written behind the last one? */
static bool same_as_written(const struct merger *m, size_t i)
{
    const struct profile *out = m->out;
    size_t n = out->n_samples;
    size_t frames = m->frames - out->loc_start[n];
    size_t labels = m->labels - out->label_start[n];

    return profile_depth(out, i) == frames &&
           out->label_start[i + 1] - out->label_start[i] == labels &&
           memcmp(out->stack + out->loc_start[i],
                  out->stack + out->loc_start[n],
                  frames * sizeof(*out->stack)) == 0 &&
           same_labels(out->labels + out->label_start[i],
                       out->labels + out->label_start[n], labels);
}

static void add_values(struct merger *m, size_t sample, const int64_t *values)
{
    size_t n = m->out->types.n;
    int64_t *sum = m->out->values + sample * n;
    int64_t any = 0;

    for (size_t i = 0; i < n; i++)
        any |= sum[i] = i64_add(sum[i], values[i]);
    m->any_zero |= any == 0;
}

static void end_sample(struct merger *m, uint64_t hash, const int64_t *values)
{
    struct profile *out = m->out;
    struct map_cursor c = map_find(&m->samples, hash);
    size_t n = out->n_samples;

    while (map_next(&m->samples, &c)) {
        if (same_as_written(m, c.record)) {
            m->frames = out->loc_start[n];
            m->labels = out->label_start[n];
            add_values(m, c.record, values);
            return;
        }
    }
    map_add(&m->samples, &c, (uint32_t)n);
    memcpy(out->values + n * out->types.n, values,
           out->types.n * sizeof(*values));
    out->n_samples = ++n;
    out->loc_start[n] = m->frames;
    out->label_start[n] = m->labels;
}

static bool is_zero(const int64_t *values, size_t n)
{
    int64_t any = 0;

    for (size_t i = 0; i < n; i++)
        any |= values[i];
    return any == 0;
}

static void add_samples(struct merger *m)
{
    size_t types = m->out->types.n;

    for (size_t i = 0; types && i < m->src->n_samples; i++) {
        const int64_t *values = m->src->values + i * types;
        uint64_t hash;

        if (is_zero(values, types))
            continue;
        hash = write_frames(m, i);
        hash = write_labels(m, i, hash);
        end_sample(m, hash, values);
    }
}

static void add_comment(struct merger *m, string_id id)
{
    struct profile *out = m->out;
    struct map_cursor c = map_find(&m->comments, map_mix(0, id));

    while (map_next(&m->comments, &c))
        if (out->comments.v[c.record] == id)
            return;
    map_add(&m->comments, &c, (uint32_t)out->comments.n);
    *vec_push(out->arena, &out->comments) = id;
}

static void add_header(struct merger *m)
{
    const struct profile *src = m->src;
    struct profile *out = m->out;

    if (out->time_ns == 0 || src->time_ns < out->time_ns)
        out->time_ns = src->time_ns;
    out->duration_ns = i64_add(out->duration_ns, src->duration_ns);
    if (out->period == 0 || out->period < src->period)
        out->period = src->period;
    if (out->default_type == 0)
        out->default_type = take_string(m, src->default_type);
    if (out->doc_url == 0)
        out->doc_url = take_string(m, src->doc_url);
    for (size_t i = 0; i < src->comments.n; i++)
        add_comment(m, take_string(m, src->comments.v[i]));
}

/* What comes from the first profile alone. */
static void take_first_header(struct merger *m)
{
    const struct profile *src = m->src;
    struct profile *out = m->out;

    for (size_t i = 0; i < src->types.n; i++)
        *vec_push(out->arena, &out->types) = (struct value_type){
            take_string(m, src->types.v[i].type),
            take_string(m, src->types.v[i].unit),
        };
    out->period_type.type = take_string(m, src->period_type.type);
    out->period_type.unit = take_string(m, src->period_type.unit);
    out->drop_frames = take_string(m, src->drop_frames);
    out->keep_frames = take_string(m, src->keep_frames);
}

static void add_profile(struct merger *m, const struct profile *src)
{
    struct arena *tables = arena_new();
    bool first = !m->src;

    m->src = src;
    m->string_to = indices_new(tables, src->strings.n);
    m->mapping_to = indices_new(tables, src->mappings.n);
    m->function_to = indices_new(tables, src->functions.n);
    m->location_to = indices_new(tables, src->locations.n);
    if (first)
        take_first_header(m);
    add_header(m);
    if (m->out->mappings.n == 0 && src->mappings.n > 0)
        take_mapping(m, 0);
    add_samples(m);
    arena_free(tables);
}

/* How much the sources hold together. */
struct sizes {
    size_t samples, frames, labels, locations, lines;
};

static struct sizes sum_sizes(struct profile *const *sources, size_t n)
{
    struct sizes sum = {0};

    for (size_t i = 0; i < n; i++) {
        const struct profile *p = sources[i];

        sum.samples += p->n_samples;
        sum.frames += p->loc_start[p->n_samples];
        sum.labels += p->label_start[p->n_samples];
        sum.locations += p->locations.n;
        sum.lines += p->lines.n;
    }
    return sum;
}

static void make_room(struct merger *m, struct sizes sizes, size_t types)
{
    struct profile *out = m->out;
    struct arena *a = out->arena;

    out->stack = arena_new_array(a, uint32_t, sizes.frames);
    out->loc_start = arena_new_array(a, size_t, sizes.samples + 1);
    out->values = arena_new_array(a, int64_t, sizes.samples * types);
    out->labels = arena_new_array(a, struct label, sizes.labels);
    out->label_start = arena_new_array(a, size_t, sizes.samples + 1);
}

static bool check_sources(struct profile *const *sources, size_t n,
                          struct sizes sizes, struct error *err)
{
    if (n == 0)
        return error_set(err, "no profiles to merge");
    for (size_t i = 1; i < n; i++)
        if (!profile_same_types(sources[0], sources[i], err))
            return false;
    if (sizes.samples >= MAP_NONE || sizes.locations >= MAP_NONE ||
        sizes.lines >= NO_INDEX)
        return error_set(err, "profiles are too large to merge: %zu samples",
                         sizes.samples);
    return true;
}

struct profile *profile_merge(struct profile *const *sources, size_t n,
                              struct error *err)
{
    struct sizes sizes = sum_sizes(sources, n);
    struct merger m = {0};

    if (!check_sources(sources, n, sizes, err))
        return NULL;
    m.out = profile_new();
    m.scratch = arena_new();
    map_init(&m.comments, m.scratch, 0);
    map_init(&m.mappings, m.scratch, 0);
    map_init(&m.functions, m.scratch, sources[0]->functions.n);
    map_init(&m.locations, m.scratch, sources[0]->locations.n);
    map_init(&m.samples, m.scratch, sources[0]->n_samples);
    make_room(&m, sizes, sources[0]->types.n);
    for (size_t i = 0; i < n; i++)
        add_profile(&m, sources[i]);
    arena_free(m.scratch);
    if (m.any_zero)
        profile_compact(m.out);
    return m.out;
}

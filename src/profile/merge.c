/*
 * A sample of a source is written behind the last one of the result, in the
 * result's own indices, then looked for by its hash; if an equal one is
 * there its values are added and what was written is forgotten.  No text is
 * compared and nothing is allocated: the arrays have room for the samples of
 * all sources from the start, and room that is not used costs no memory.
 */
#include "profile/merge.h"

#include <string.h>

#include "base/i64.h"
#include "profile/compact.h"
#include "profile/merge_records.h"
#include "profile/same_types.h"

/* How many samples are hashed ahead of their search, so that the memory that
 * the searches look at is on its way. */
enum { BATCH = 32 };

/* A sample in the result's indices, behind the result's last. */
struct written {
    uint64_t hash;
    const int64_t *values;
    size_t frame, frame_end;
    size_t label, label_end;
};

struct merger {
    struct profile *out;
    struct merge_records records;
    struct arena *scratch; /* for the maps */
    struct map samples, comments;
    struct written batch[BATCH];
    size_t n_batch;
    bool any_zero; /* a sum may have become zero */
};

static uint64_t hash_frames(const uint32_t *frames, size_t n, uint64_t seed)
{
    uint64_t h = seed ^ n, pair;
    size_t i = 0;

    for (; i + 2 <= n; i += 2) {
        memcpy(&pair, frames + i, sizeof(pair));
        h = map_mix(h, pair);
    }
    return i < n ? map_mix(h, frames[i]) : h;
}

static void write_frames(struct merger *m, struct written *w, size_t sample)
{
    const struct profile *src = m->records.src;
    const uint32_t *location_to = m->records.location_to;
    uint32_t *to = m->out->stack + w->frame;

    for (size_t i = src->loc_start[sample]; i < src->loc_start[sample + 1];
         i++) {
        uint32_t location = location_to[src->stack[i]];

        if (location == NO_INDEX)
            location = merge_location(&m->records, src->stack[i]);
        *to++ = location;
    }
    w->frame_end = (size_t)(to - m->out->stack);
    w->hash = hash_frames(m->out->stack + w->frame, w->frame_end - w->frame,
                          m->samples.seed);
}

static void write_labels(struct merger *m, struct written *w, size_t sample)
{
    const struct profile *src = m->records.src;
    size_t end = src->label_start[sample + 1];

    w->label_end = w->label;
    for (size_t i = src->label_start[sample]; i < end; i++) {
        struct label label = src->labels[i];

        label.key = merge_string(&m->records, label.key);
        label.str = merge_string(&m->records, label.str);
        m->out->labels[w->label_end++] = label;
        w->hash = map_mix(w->hash, (uint64_t)label.key << 32 | label.str);
        w->hash = map_mix(w->hash, (uint64_t)label.num);
        w->hash = map_mix(w->hash, label.kind);
    }
}

/* Writes a sample of the source behind those of the batch. */
static void write_sample(struct merger *m, size_t sample, const int64_t *values)
{
    struct profile *out = m->out;
    struct written *w = &m->batch[m->n_batch];

    w->values = values;
    w->frame = m->n_batch ? w[-1].frame_end : out->loc_start[out->n_samples];
    w->label = m->n_batch ? w[-1].label_end : out->label_start[out->n_samples];
    write_frames(m, w, sample);
    write_labels(m, w, sample);
    map_prefetch(&m->samples, w->hash);
    m->n_batch++;
}

static bool same_labels(const struct label *a, const struct label *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i].key != b[i].key || a[i].str != b[i].str ||
            a[i].num != b[i].num || a[i].kind != b[i].kind)
            return false;
    return true;
}

/* Returns true if it equals sample i of the result. */
static bool is_sample(const struct profile *out, const struct written *w,
                      size_t i)
{
    size_t frames = w->frame_end - w->frame, labels = w->label_end - w->label;

    return profile_depth(out, i) == frames &&
           out->label_start[i + 1] - out->label_start[i] == labels &&
           memcmp(out->stack + out->loc_start[i], out->stack + w->frame,
                  frames * sizeof(*out->stack)) == 0 &&
           same_labels(out->labels + out->label_start[i],
                       out->labels + w->label, labels);
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

/* Makes it the result's last sample; if samples before it were found, there
 * is a gap to close. */
static void append(struct profile *out, const struct written *w)
{
    size_t n = out->n_samples++, types = out->types.n;
    size_t frames = w->frame_end - w->frame, labels = w->label_end - w->label;
    uint32_t *stack = out->stack + out->loc_start[n];
    struct label *label = out->labels + out->label_start[n];

    if (stack != out->stack + w->frame)
        memmove(stack, out->stack + w->frame, frames * sizeof(*stack));
    if (label != out->labels + w->label)
        memmove(label, out->labels + w->label, labels * sizeof(*label));
    memcpy(out->values + n * types, w->values, types * sizeof(*w->values));
    out->loc_start[n + 1] = out->loc_start[n] + frames;
    out->label_start[n + 1] = out->label_start[n] + labels;
}

static void find_or_append(struct merger *m, const struct written *w)
{
    struct profile *out = m->out;
    struct map_cursor c = map_find(&m->samples, w->hash);

    while (map_next(&m->samples, &c)) {
        if (is_sample(out, w, c.record)) {
            add_values(m, c.record, w->values);
            return;
        }
    }
    map_add(&m->samples, &c, (uint32_t)out->n_samples);
    append(out, w);
}

static void end_batch(struct merger *m)
{
    for (size_t i = 0; i < m->n_batch; i++)
        find_or_append(m, &m->batch[i]);
    m->n_batch = 0;
}

static bool is_zero(const int64_t *values, size_t n)
{
    int64_t any = 0;

    for (size_t i = 0; i < n; i++)
        any |= values[i];
    return any == 0;
}

static void add_samples(struct merger *m, const struct profile *src)
{
    size_t types = m->out->types.n;

    for (size_t i = 0; types && i < src->n_samples; i++) {
        const int64_t *values = src->values + i * types;

        if (is_zero(values, types))
            continue;
        write_sample(m, i, values);
        if (m->n_batch == BATCH)
            end_batch(m);
    }
    end_batch(m);
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

static void add_header(struct merger *m, const struct profile *src)
{
    struct profile *out = m->out;

    if (out->time_ns == 0 || src->time_ns < out->time_ns)
        out->time_ns = src->time_ns;
    out->duration_ns = i64_add(out->duration_ns, src->duration_ns);
    if (out->period == 0 || out->period < src->period)
        out->period = src->period;
    if (out->default_type == 0)
        out->default_type = merge_string(&m->records, src->default_type);
    if (out->doc_url == 0)
        out->doc_url = merge_string(&m->records, src->doc_url);
    for (size_t i = 0; i < src->comments.n; i++)
        add_comment(m, merge_string(&m->records, src->comments.v[i]));
}

/* What comes from the first profile alone. */
static void take_first_header(struct merger *m, const struct profile *src)
{
    struct merge_records *r = &m->records;
    struct profile *out = m->out;

    for (size_t i = 0; i < src->types.n; i++)
        *vec_push(out->arena, &out->types) = (struct value_type){
            merge_string(r, src->types.v[i].type),
            merge_string(r, src->types.v[i].unit),
        };
    out->period_type.type = merge_string(r, src->period_type.type);
    out->period_type.unit = merge_string(r, src->period_type.unit);
    out->drop_frames = merge_string(r, src->drop_frames);
    out->keep_frames = merge_string(r, src->keep_frames);
}

static void add_profile(struct merger *m, const struct profile *src)
{
    bool first = !m->records.src;

    merge_records_source(&m->records, src);
    if (first)
        take_first_header(m, src);
    add_header(m, src);
    if (m->out->mappings.n == 0 && src->mappings.n > 0)
        merge_mapping(&m->records, 0);
    add_samples(m, src);
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

static void make_room(struct profile *out, struct sizes sizes, size_t types)
{
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
    merge_records_init(&m.records, m.out, sources[0]);
    map_init(&m.comments, m.scratch, 0);
    map_init(&m.samples, m.scratch, sources[0]->n_samples);
    make_room(m.out, sizes, sources[0]->types.n);
    for (size_t i = 0; i < n; i++)
        add_profile(&m, sources[i]);
    merge_records_release(&m.records);
    arena_free(m.scratch);
    if (m.any_zero)
        profile_compact(m.out);
    return m.out;
}

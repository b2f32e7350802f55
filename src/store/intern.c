/*
 * Records are found by their content alone, never by a build id and an
 * address: two tools may give the same place different names, and what was
 * sent must come back.  Texts are interned only when a record that is used
 * refers to them.
 */
#include "store/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/i64.h"
#include "store/grow.h"
#include "store/header.h"
#include "store/pack.h"

void interner_release(struct interner *t)
{
    free(t->strings);
    free(t->functions);
    free(t->mappings);
    free(t->locations);
    free(t->used);
    free(t->twins);
    buf_release(&t->record);
    buf_release(&t->extras);
    row_samples_release(&t->samples);
    row_meta_release(&t->meta);
    *t = (struct interner){0};
}

static bool start_map(uint32_t **map, size_t *cap, size_t n)
{
    if (!grow(map, cap, n + 1))
        return false;
    memset(*map, 0, n * sizeof(**map));
    return true;
}

static bool start_used(struct interner *t, size_t n)
{
    if (!grow(&t->used, &t->used_cap, n + 1))
        return false;
    memset(t->used, 0, n * sizeof(*t->used));
    return true;
}

static bool start(struct interner *t, const struct intake *in, struct dict *d,
                  struct label_guard *guard)
{
    t->in = in;
    t->d = d;
    t->guard = guard;
    t->dropped_labels = 0;
    t->record.max = t->extras.max = STORE_BUF_BYTES;
    buf_clear(&t->extras);
    return start_map(&t->strings, &t->strings_cap, in->strings.n) &&
           start_map(&t->functions, &t->functions_cap, in->functions.n) &&
           start_map(&t->mappings, &t->mappings_cap, in->mappings.n) &&
           start_map(&t->locations, &t->locations_cap, in->locations.n) &&
           start_used(t, in->locations.n) &&
           start_map(&t->twins, &t->twins_cap,
                     d->tables[DICT_MAPPING].n + in->mappings.n);
}

bool intern_text(struct interner *t, uint32_t i, uint32_t *out)
{
    if (!t->strings[i]) {
        if (!dict_intern(t->d, DICT_STRING, t->in->strings.v[i], out))
            return false;
        t->strings[i] = *out + 1;
    }
    *out = t->strings[i] - 1;
    return true;
}

bool intern_put_text(struct interner *t, struct buf *record, uint32_t i)
{
    uint32_t id;

    if (!intern_text(t, i, &id))
        return false;
    wire_add_varint(record, id);
    return true;
}

bool intern_record(struct interner *t, enum dict_kind kind, uint32_t *out)
{
    return buf_ok(&t->record) &&
           dict_intern(t->d, kind, buf_str(&t->record), out);
}

bool intern_function(struct interner *t, uint32_t i, uint32_t *out)
{
    const struct in_function *f = &t->in->functions.v[i];

    if (!t->functions[i]) {
        buf_clear(&t->record);
        if (!intern_put_text(t, &t->record, f->name) ||
            !intern_put_text(t, &t->record, f->system_name) ||
            !intern_put_text(t, &t->record, f->filename))
            return false;
        pack_signed(&t->record, f->start_line);
        if (!intern_record(t, DICT_FUNCTION, out))
            return false;
        t->functions[i] = *out + 1;
    }
    *out = t->functions[i] - 1;
    return true;
}

/* Pages, as google/pprof rounds sizes when it compares mappings. */
static uint64_t size_in_pages(const struct in_mapping *m)
{
    uint64_t size = m->limit - m->start;

    return (size >> 12) + ((size & 0xfff) != 0);
}

static bool intern_mapping_twin(struct interner *t, const struct in_mapping *m,
                                uint32_t twin, uint32_t *out)
{
    buf_clear(&t->record);
    if (!intern_put_text(t, &t->record, m->file) ||
        !intern_put_text(t, &t->record, m->build_id))
        return false;
    wire_add_varint(&t->record, m->offset);
    wire_add_varint(&t->record, size_in_pages(m));
    wire_add_varint(&t->record, twin);
    return intern_record(t, DICT_MAPPING, out);
}

/* t->twins counts, by number of the first of them, how many equal mappings
 * the profile has had so far. */
static bool intern_mapping(struct interner *t, uint32_t i)
{
    const struct in_mapping *m = &t->in->mappings.v[i];
    uint32_t first, id;

    if (!intern_mapping_twin(t, m, 0, &first))
        return false;
    id = first;
    if (t->twins[first] && !intern_mapping_twin(t, m, t->twins[first], &id))
        return false;
    t->twins[first]++;
    t->mappings[i] = id + 1;
    return true;
}

/* Stacks that are walked side by side, from their roots. */
struct walks {
    struct {
        size_t sample, first, at; /* frames first .. at are still to go */
    } of[DICT_LANES];
    struct dict_node wanted[DICT_LANES];
    uint32_t found[DICT_LANES];
    size_t n, next;
};

static void begin_walks(struct interner *t, struct walks *w)
{
    const struct intake *in = t->in;

    for (; w->n < DICT_LANES && w->next < in->samples.n; w->next++) {
        size_t first = in->samples.v[w->next].frame_start;
        size_t end = in->samples.v[w->next + 1].frame_start;

        t->samples.nodes[w->next] = 0;
        if (first == end)
            continue;
        w->of[w->n].sample = w->next;
        w->of[w->n].first = first;
        w->of[w->n].at = end;
        w->wanted[w->n++].parent = 0;
    }
}

/* Takes the finished ones out. */
static void end_walks(struct interner *t, struct walks *w)
{
    for (size_t i = 0; i < w->n;) {
        if (w->of[i].at > w->of[i].first) {
            w->wanted[i].parent = w->found[i];
            i++;
            continue;
        }
        t->samples.nodes[w->of[i].sample] = w->found[i];
        w->n--;
        w->of[i] = w->of[w->n];
        w->found[i] = w->found[w->n];
    }
}

static bool intern_stacks(struct interner *t)
{
    struct walks w = {0};

    for (begin_walks(t, &w); w.n; begin_walks(t, &w)) {
        for (size_t i = 0; i < w.n; i++) {
            uint32_t place = t->in->stack.v[--w.of[i].at];

            t->used[place] = true;
            w.wanted[i].location = t->locations[place] - 1;
        }
        if (!dict_intern_nodes(t->d, w.wanted, w.n, w.found))
            return false;
        end_walks(t, &w);
    }
    return true;
}

static bool intern_samples(struct interner *t)
{
    const struct intake *in = t->in;
    size_t columns = in->types.n;
    struct row_samples *s = &t->samples;

    if (!row_samples_resize(s, in->samples.n, columns) ||
        !row_meta_totals(&t->meta, columns))
        return false;
    if (!intern_locations(t) || !intern_stacks(t))
        return false;
    for (size_t i = 0; i < s->n; i++)
        if (!intern_labels(t, i, &s->labels[i]))
            return false;
    for (size_t i = 0, k = 0; i < s->n; i++)
        for (size_t c = 0; c < columns; c++, k++) {
            s->values[k] = in->values.v[k];
            t->meta.totals[c] = i64_add(t->meta.totals[c], in->values.v[k]);
        }
    return true;
}

/*
 * Header, image, and what samples do not use.
 */

static uint64_t cumulative_types(const struct intake *in, bool is_delta)
{
    uint64_t mask = 0;

    for (size_t i = 0; !is_delta && i < in->types.n && i < 64; i++)
        if (type_counts_from_start(in->strings.v[in->types.v[i].type]))
            mask |= (uint64_t)1 << i;
    return mask;
}

static bool intern_header(struct interner *t, bool is_delta)
{
    const struct intake *in = t->in;
    struct buf *r = &t->record;
    const int64_t once[] = {in->period_type, in->period_unit,  in->drop_frames,
                            in->keep_frames, in->default_type, in->doc_url};

    buf_clear(r);
    wire_add_varint(r, in->types.n);
    for (size_t i = 0; i < in->types.n; i++)
        if (!intern_put_text(t, r, in->types.v[i].type) ||
            !intern_put_text(t, r, in->types.v[i].unit))
            return false;
    wire_add_varint(r, cumulative_types(in, is_delta));
    for (size_t i = 0; i < sizeof(once) / sizeof(*once); i++)
        if (!intern_put_text(t, r, (uint32_t)once[i]))
            return false;
    wire_add_varint(r, in->comments.n);
    for (size_t i = 0; i < in->comments.n; i++)
        if (!intern_put_text(t, r, (uint32_t)in->comments.v[i]))
            return false;
    return intern_record(t, DICT_HEADER, &t->meta.header);
}

static bool intern_image(struct interner *t)
{
    const struct intake *in = t->in;

    buf_clear(&t->record);
    for (size_t i = 0; i < in->mappings.n; i++) {
        const struct in_mapping *m = &in->mappings.v[i];

        wire_add_varint(&t->record, t->mappings[i] - 1);
        wire_add_varint(&t->record, m->start);
        wire_add_varint(&t->record, m->limit - m->start);
        wire_add_varint(&t->record, m->flags);
    }
    return intern_record(t, DICT_IMAGE, &t->meta.image);
}

/* Locations that no sample uses; and functions that no location uses, which
 * therefore have no number yet. */
static bool intern_extras(struct interner *t)
{
    const struct intake *in = t->in;
    size_t locations = 0, functions = 0;
    struct buf list = BUF_INIT(STORE_BUF_BYTES);
    uint32_t id;
    bool ok = true;

    for (uint32_t i = 0; i < in->locations.n; i++)
        if (!t->used[i]) {
            wire_add_varint(&list, t->locations[i] - 1);
            locations++;
        }
    wire_add_varint(&t->extras, locations);
    buf_add(&t->extras, buf_str(&list));
    buf_clear(&list);
    for (uint32_t i = 0; ok && i < in->functions.n; i++)
        if (!t->functions[i]) {
            ok = intern_function(t, i, &id);
            wire_add_varint(&list, id);
            functions++;
        }
    wire_add_varint(&t->extras, functions);
    buf_add(&t->extras, buf_str(&list));
    ok = ok && buf_ok(&list) && buf_ok(&t->extras);
    buf_release(&list);
    t->meta.extras = locations + functions ? buf_str(&t->extras) : STR("");
    return ok;
}

bool intern_profile(struct interner *t, const struct intake *in, struct dict *d,
                    struct label_guard *guard, bool is_delta)
{
    struct row_meta *m = &t->meta;

    if (!start(t, in, d, guard))
        return false;
    m->flags = 0;
    m->profiles = 1;
    m->time_ns = in->time_ns;
    m->duration_ns = in->duration_ns;
    m->period = in->period;
    m->samples = in->samples.n;
    for (uint32_t i = 0; i < in->mappings.n; i++)
        if (!intern_mapping(t, i))
            return false;
    return intern_samples(t) && intern_extras(t) &&
           intern_header(t, is_delta) && intern_image(t);
}

bool intern_series(struct interner *t, struct dict *d, struct str type,
                   const struct store_label *labels, size_t n, uint32_t *out)
{
    uint32_t id;

    t->record.max = STORE_BUF_BYTES;
    buf_clear(&t->record);
    if (!dict_intern(d, DICT_STRING, type, &id))
        return false;
    wire_add_varint(&t->record, id);
    for (size_t i = 0; i < n; i++) {
        if (!dict_intern(d, DICT_STRING, labels[i].key, &id))
            return false;
        wire_add_varint(&t->record, id);
        if (!dict_intern(d, DICT_STRING, labels[i].value, &id))
            return false;
        wire_add_varint(&t->record, id);
    }
    return buf_ok(&t->record) &&
           dict_intern(d, DICT_SERIES, buf_str(&t->record), out);
}

bool intern_opaque(struct interner *t, struct dict *d)
{
    static const struct intake nothing = {0};
    struct row_meta *m = &t->meta;
    struct intake in = nothing;
    struct str empty = STR("");

    in.strings.v = &empty;
    in.strings.n = 1;
    if (!start(t, &in, d, NULL) || !row_meta_totals(m, 0))
        return false;
    m->flags = ROW_OPAQUE;
    m->profiles = 1;
    m->time_ns = m->duration_ns = m->period = 0;
    m->samples = 0;
    m->extras = STR("");
    t->samples.n = t->samples.columns = 0;
    return intern_header(t, true) && intern_image(t);
}

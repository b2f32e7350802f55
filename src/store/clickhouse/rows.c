/*
 * Decoding rows.  Everything is checked: the bytes come over a network.
 */
#include "store/clickhouse/rows.h"

#include "store/header.h"

bool unrow_texts(struct wire_reader *r, struct str *out, size_t *n)
{
    const unsigned char *start;
    struct str text;
    uint64_t count;

    if (!wire_read_varint(r, &count))
        return false;
    start = r->at;
    for (uint64_t i = 0; i < count; i++)
        if (!unrow_text(r, &text))
            return false;
    *out = str_of((const char *)start, (size_t)(r->at - start));
    *n = count;
    return true;
}

bool ch_pack_labels(struct str keys, struct str values, size_t n,
                    struct buf *out)
{
    struct wire_reader k = unpack_begin(keys), v = unpack_begin(values);
    struct str text;

    buf_clear(out);
    for (size_t i = 0; i < n; i++) {
        if (!unrow_text(&k, &text))
            return false;
        pack_bytes(out, text);
        if (!unrow_text(&v, &text))
            return false;
        pack_bytes(out, text);
    }
    return buf_ok(out);
}

static bool read_samples(struct wire_reader *r, struct ch_row *row)
{
    size_t n;

    if (!unrow_array(r, &row->stacks) || !unrow_array(r, &row->labels))
        return false;
    n = row->stacks.n;
    if (row->labels.n && row->labels.n != n)
        return false;
    for (size_t c = 0; c < 4; c++)
        if (!unrow_array(r, &row->values[c]) ||
            row->values[c].n != (c < row->totals.n ? n : 0))
            return false;
    return unrow_array(r, &row->more) &&
           row->more.n == (row->totals.n > 4 ? (row->totals.n - 4) * n : 0);
}

bool ch_row_read(struct wire_reader *r, bool with_samples, struct ch_row *out)
{
    size_t n;

    if (r->end - r->at < STORE_ID_BYTES)
        return false;
    memcpy(out->id.bytes, r->at, STORE_ID_BYTES);
    r->at += STORE_ID_BYTES;
    return unrow_text(r, &out->service) && unrow_text(r, &out->type) &&
           unrow_texts(r, &out->label_keys, &out->n_labels) &&
           unrow_texts(r, &out->label_values, &n) && n == out->n_labels &&
           unrow_u64(r, &out->series) && unrow_i64(r, &out->created) &&
           unrow_u64(r, &out->header) && unrow_u64(r, &out->cumulative) &&
           unrow_u64(r, &out->image) && unrow_u64(r, &out->flags) &&
           unrow_i64(r, &out->time) && unrow_i64(r, &out->duration) &&
           unrow_i64(r, &out->period) && unrow_u64(r, &out->posted) &&
           unrow_u64(r, &out->samples) && unrow_array(r, &out->totals) &&
           unrow_u64(r, &out->profiles) && unrow_text(r, &out->extras) &&
           unrow_array(r, &out->extra_refs) &&
           (!with_samples || read_samples(r, out));
}

bool ch_row_want(const struct ch_row *row, bool with_samples, struct loader *l)
{
    bool ok = loader_want(l, DICT_HEADER, row->header);

    if (!with_samples)
        return ok;
    ok = ok && loader_want(l, DICT_IMAGE, row->image) &&
         loader_want_extras(l, row->extras, &row->extra_refs);
    for (size_t i = 0; ok && i < row->stacks.n; i++)
        ok = loader_want(l, KIND_STACK, unrow_at(&row->stacks, i));
    for (size_t i = 0; ok && i < row->labels.n; i++)
        ok = loader_want(l, DICT_LABELS, unrow_at(&row->labels, i));
    return ok;
}

bool ch_row_meta(const struct ch_row *row, bool with_samples, struct loader *l,
                 struct row_meta *m, struct buf *extras)
{
    uint64_t cumulative;
    size_t types;

    if (!row_meta_totals(m, row->totals.n) ||
        !loader_number(l, DICT_HEADER, row->header, &m->header) ||
        !dict_header_types(&l->d, m->header, &types, &cumulative) ||
        types != row->totals.n)
        return false;
    m->id = row->id;
    m->series = m->image = 0;
    m->created_ns = row->created;
    m->time_ns = row->time;
    m->duration_ns = row->duration;
    m->period = row->period;
    m->posted_bytes = row->posted;
    m->samples = row->samples;
    m->flags = row->flags & ROW_OPAQUE;
    m->profiles = row->profiles;
    m->extras = STR("");
    for (size_t i = 0; i < row->totals.n; i++)
        m->totals[i] = (int64_t)unrow_at(&row->totals, i);
    if (!with_samples)
        return true;
    buf_clear(extras);
    if (!loader_number(l, DICT_IMAGE, row->image, &m->image) ||
        !loader_extras(l, row->extras, &row->extra_refs, extras))
        return false;
    m->extras = buf_str(extras);
    return true;
}

bool ch_row_samples(const struct ch_row *row, const struct loader *l,
                    struct row_samples *out)
{
    size_t columns = row->totals.n;

    if (!row_samples_resize(out, row->stacks.n, columns))
        return false;
    for (size_t i = 0; i < row->stacks.n; i++) {
        out->labels[i] = 0;
        if (!loader_number(l, KIND_STACK, unrow_at(&row->stacks, i),
                           &out->nodes[i]) ||
            (row->labels.n &&
             !loader_number(l, DICT_LABELS, unrow_at(&row->labels, i),
                            &out->labels[i])))
            return false;
        for (size_t c = 0; c < columns; c++)
            out->values[i * columns + c] = ch_row_value(row, i, c);
    }
    return true;
}

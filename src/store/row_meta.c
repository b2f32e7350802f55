/*
 * Descriptions of rows as bytes: numbers as varints, times as differences to
 * the creation time, since they are close to each other.  Sums over several
 * profiles and changes since the previous row are present only where their
 * flag says so.
 */
#include <stdlib.h>
#include <string.h>

#include "base/i64.h"
#include "store/grow.h"
#include "store/pack.h"
#include "store/row.h"

void row_meta_release(struct row_meta *m)
{
    free(m->numbers);
    *m = (struct row_meta){0};
}

bool row_meta_totals(struct row_meta *m, size_t n)
{
    if (n > SIZE_MAX / 32 || !grow(&m->numbers, &m->numbers_cap, 2 * n + 1))
        return false;
    memset(m->numbers, 0, 2 * n * sizeof(*m->numbers));
    m->n_totals = n;
    m->totals = m->numbers;
    m->changes = m->numbers + n;
    return true;
}

void row_meta_pack(const struct row_meta *m, struct buf *out)
{
    buf_add_bytes(out, m->id.bytes, STORE_ID_BYTES);
    wire_add_varint(out, m->flags);
    wire_add_varint(out, m->series);
    wire_add_varint(out, m->header);
    wire_add_varint(out, m->image);
    pack_signed(out, m->created_ns);
    pack_signed(out, i64_sub(m->time_ns, m->created_ns));
    pack_signed(out, m->duration_ns);
    pack_signed(out, m->period);
    wire_add_varint(out, m->posted_bytes);
    wire_add_varint(out, m->samples);
    if (m->flags & ROW_SUM)
        wire_add_varint(out, m->profiles);
    wire_add_varint(out, m->n_totals);
    for (size_t i = 0; i < m->n_totals; i++)
        pack_signed(out, m->totals[i]);
    for (size_t i = 0; m->flags & ROW_CHANGES && i < m->n_totals; i++)
        pack_signed(out, m->changes[i]);
    pack_bytes(out, m->extras);
}

void row_count_changes(struct row_meta *m, uint64_t cumulative,
                       const struct row_samples *before)
{
    m->flags &= ~(uint32_t)(ROW_CHANGES | ROW_RESTART);
    if (!before || before->columns != m->n_totals)
        return;
    m->flags |= ROW_CHANGES;
    for (size_t c = 0; c < m->n_totals; c++) {
        int64_t sum = 0;

        m->changes[c] = m->totals[c];
        if (c >= 64 || !(cumulative >> c & 1))
            continue;
        for (size_t i = 0; i < before->n; i++)
            sum = i64_add(sum, before->values[i * before->columns + c]);
        m->changes[c] = i64_sub(m->totals[c], sum);
        if (m->changes[c] < 0)
            m->flags |= ROW_RESTART;
    }
    for (size_t c = 0; m->flags & ROW_RESTART && c < m->n_totals; c++)
        m->changes[c] = m->totals[c];
}

static bool unpack_refs(struct row_meta *m, struct wire_reader *r,
                        const struct dict *d)
{
    return unpack_u32(r, &m->flags) && unpack_u32(r, &m->series) &&
           m->series < d->tables[DICT_SERIES].n && unpack_u32(r, &m->header) &&
           m->header < d->tables[DICT_HEADER].n && unpack_u32(r, &m->image) &&
           m->image < d->tables[DICT_IMAGE].n;
}

static bool unpack_totals(struct row_meta *m, struct wire_reader *r)
{
    uint32_t n;

    if (!unpack_u32(r, &n) || n > (size_t)(r->end - r->at) ||
        !row_meta_totals(m, n))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!unpack_signed(r, &m->totals[i]))
            return false;
    for (size_t i = 0; m->flags & ROW_CHANGES && i < n; i++)
        if (!unpack_signed(r, &m->changes[i]))
            return false;
    return true;
}

static bool ref_exists(void *arg, enum dict_kind kind, uint32_t from,
                       uint32_t *to)
{
    const struct dict *d = arg;

    *to = from;
    return from < d->tables[kind].n;
}

static bool extras_exist(struct str extras, const struct dict *d)
{
    struct buf ignored = BUF_INIT(STORE_BUF_BYTES);
    bool ok = extras.n == 0 || d->n_nodes == 0 || /* just its head */
              row_extras_translate(extras, ref_exists, (void *)d, &ignored);

    buf_release(&ignored);
    return ok;
}

/* Returns true if the header has as many types as there are totals. */
static bool totals_fit(const struct row_meta *m, const struct dict *d)
{
    struct wire_reader r = unpack_begin(dict_get(d, DICT_HEADER, m->header));
    uint32_t types;

    return unpack_u32(&r, &types) && types == m->n_totals;
}

bool row_meta_unpack(struct row_meta *m, struct wire_reader *r,
                     const struct dict *d)
{
    int64_t since;

    if ((size_t)(r->end - r->at) < STORE_ID_BYTES)
        return false;
    memcpy(m->id.bytes, r->at, STORE_ID_BYTES);
    r->at += STORE_ID_BYTES;
    m->profiles = 1;
    if (!unpack_refs(m, r, d) || !unpack_signed(r, &m->created_ns) ||
        !unpack_signed(r, &since) || !unpack_signed(r, &m->duration_ns) ||
        !unpack_signed(r, &m->period) ||
        !wire_read_varint(r, &m->posted_bytes) ||
        !wire_read_varint(r, &m->samples) ||
        (m->flags & ROW_SUM && !wire_read_varint(r, &m->profiles)) ||
        !unpack_totals(m, r) || !unpack_bytes(r, &m->extras))
        return false;
    m->time_ns = i64_add(m->created_ns, since);
    return totals_fit(m, d) && extras_exist(m->extras, d);
}

static bool translate_list(struct wire_reader *r, enum dict_kind kind,
                           dict_ref *ref, void *arg, struct buf *out)
{
    uint32_t n, from, to;

    if (!unpack_u32(r, &n))
        return false;
    wire_add_varint(out, n);
    for (uint32_t i = 0; i < n; i++) {
        if (!unpack_u32(r, &from) || !ref(arg, kind, from, &to))
            return false;
        wire_add_varint(out, to);
    }
    return true;
}

bool row_extras_translate(struct str extras, dict_ref *ref, void *arg,
                          struct buf *out)
{
    struct wire_reader r = unpack_begin(extras);

    if (extras.n == 0)
        return true;
    return translate_list(&r, DICT_LOCATION, ref, arg, out) &&
           translate_list(&r, DICT_FUNCTION, ref, arg, out) && !wire_more(&r) &&
           buf_ok(out);
}

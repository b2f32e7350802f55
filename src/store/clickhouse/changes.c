/*
 * Totals in the order of series and time, each compared with the one before.
 */
#include "store/clickhouse/changes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/i64.h"
#include "store/clickhouse/sql.h"
#include "store/grow.h"

static size_t slot_of(const struct changes *k, const struct store_id *id)
{
    uint64_t a;
    uint32_t b;

    memcpy(&a, id->bytes, 8);
    memcpy(&b, id->bytes + 8, 4);
    return hash_mix(a ^ hash_mix(b)) & k->mask;
}

const struct change *ch_changes_find(const struct changes *k,
                                     const struct store_id *id)
{
    if (!k->mask)
        return NULL;
    for (size_t at = slot_of(k, id); k->slots[at]; at = (at + 1) & k->mask)
        if (memcmp(&k->v[k->slots[at] - 1].id, id, sizeof(*id)) == 0)
            return &k->v[k->slots[at] - 1];
    return NULL;
}

static bool make_slots(struct changes *k)
{
    size_t slots = 64;

    while (slots < 2 * k->n)
        slots *= 2;
    k->slots = calloc(slots, sizeof(*k->slots));
    if (!k->slots)
        return false;
    k->mask = slots - 1;
    for (size_t i = 0; i < k->n; i++) {
        size_t at = slot_of(k, &k->v[i].id);

        while (k->slots[at])
            at = (at + 1) & k->mask;
        k->slots[at] = (uint32_t)i + 1;
    }
    return true;
}

/* The rule of row_count_changes(). */
static void compare(struct changes *k, struct change *c)
{
    struct change *before = &k->v[c->before];
    int64_t *totals = k->totals + c->totals_at;
    int64_t *changes = totals + c->n;

    c->flags = ROW_CHANGES;
    for (size_t i = 0; i < c->n; i++) {
        changes[i] = totals[i];
        if (i >= 64 || !(c->cumulative >> i & 1))
            continue;
        changes[i] = i64_sub(totals[i], k->totals[before->totals_at + i]);
        if (changes[i] < 0)
            c->flags |= ROW_RESTART;
    }
    for (size_t i = 0; c->flags & ROW_RESTART && i < c->n; i++)
        changes[i] = totals[i];
}

static bool add(struct changes *k, struct change c,
                const struct unrow_array *totals)
{
    struct change *last = k->n ? &k->v[k->n - 1] : NULL;

    if (last && memcmp(&last->id, &c.id, sizeof(c.id)) == 0)
        return true; /* sent twice */
    if (!grow(&k->v, &k->cap, k->n + 1) ||
        !grow(&k->totals, &k->totals_cap, k->n_totals + 2 * totals->n + 1))
        return false;
    last = k->n ? &k->v[k->n - 1] : NULL;
    c.n = totals->n;
    c.totals_at = k->n_totals;
    c.before = NO_CHANGE;
    for (size_t i = 0; i < c.n; i++) {
        k->totals[c.totals_at + i] = (int64_t)unrow_at(totals, i);
        k->totals[c.totals_at + c.n + i] = 0;
    }
    k->n_totals += 2 * c.n;
    if (last && last->series == c.series && last->n == c.n)
        c.before = k->n - 1;
    k->v[k->n++] = c;
    if (c.before != NO_CHANGE)
        compare(k, &k->v[k->n - 1]);
    return true;
}

static bool read_all(struct changes *k, struct str reply)
{
    struct wire_reader r = unpack_begin(reply);

    while (wire_more(&r)) {
        struct change c = {0};
        struct unrow_array totals;
        uint8_t is_source;

        if (!unrow_u64(&r, &c.series) || !unrow_i64(&r, &c.created) ||
            r.end - r.at < STORE_ID_BYTES)
            return false;
        memcpy(c.id.bytes, r.at, STORE_ID_BYTES);
        r.at += STORE_ID_BYTES;
        if (!unrow_u64(&r, &c.cumulative) || !unrow_array(&r, &totals) ||
            !unrow_u8(&r, &is_source))
            return false;
        c.is_source = is_source;
        if (!add(k, c, &totals))
            return false;
    }
    return make_slots(k);
}

enum store_status ch_changes_load(struct changes *k, struct ch_store *s,
                                  struct str selection, struct str source,
                                  int64_t from_ns, int64_t to_ns,
                                  const struct store_budget *budget,
                                  struct error *err)
{
    struct buf sql = BUF_INIT((size_t)16 << 20);
    struct buf reply = BUF_INIT(STORE_BUF_BYTES);
    struct ch_request r = {.out = &reply, .budget = budget};
    enum store_status status;

    buf_addf(
        &sql,
        "SELECT series, created, id, cumulative, totals, toUInt8(1%" STR_FMT
        ") FROM pprofd_profiles WHERE ",
        STR_ARG(source));
    sql_range(&sql, ch_look_back(s, from_ns), to_ns);
    buf_addf(&sql,
             "%" STR_FMT " AND cumulative != 0 AND flags = 0 ORDER BY series, "
             "created, id FORMAT RowBinary",
             STR_ARG(selection));
    r.sql = buf_str(&sql);
    status = buf_ok(&sql) ? ch_run(s->client, &r, err) : store_no_memory(err);
    if (status == STORE_OK && !read_all(k, buf_str(&reply)))
        status = store_no_memory(err);
    buf_release(&sql);
    buf_release(&reply);
    return status;
}

void ch_changes_release(struct changes *k)
{
    free(k->v);
    free(k->totals);
    free(k->slots);
    *k = (struct changes){0};
}

void ch_changes_apply(const struct changes *k, struct row_meta *m)
{
    const struct change *c = ch_changes_find(k, &m->id);

    if (!c || c->n != m->n_totals || !(c->flags & ROW_CHANGES))
        return;
    m->flags |= c->flags;
    for (size_t i = 0; i < c->n; i++)
        m->changes[i] = k->totals[c->totals_at + c->n + i];
}

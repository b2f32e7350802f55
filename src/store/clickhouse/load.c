/*
 * Fetching records level by level.  What a level refers to is what the next
 * one has to bring; when all have come they get their numbers, from strings
 * up to stacks.
 */
#include "store/clickhouse/load.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/hash.h"
#include "profile/fingerprint.h"
#include "store/grow.h"

#define NO_NUMBER UINT32_MAX

enum { PRINTS_AT_ONCE = 100000 }; /* in one query */

/* Which kinds each level brings. */
static const unsigned levels[LOAD_LEVELS] = {
    1u << KIND_STACK | 1u << DICT_LABELS | 1u << DICT_HEADER | 1u << DICT_IMAGE,
    1u << DICT_LOCATION,
    1u << DICT_MAPPING | 1u << DICT_FUNCTION,
    1u << DICT_STRING,
};

/* --- fingerprints --------------------------------------------------------- */

static size_t find_slot(const struct print_map *m, uint64_t print)
{
    size_t at = hash_mix(print) & m->mask;

    while (m->places[at] && m->keys[at] != print)
        at = (at + 1) & m->mask;
    return at;
}

static bool widen(struct print_map *m)
{
    size_t slots = m->mask ? 2 * (m->mask + 1) : 256;
    struct print_map wide = *m;

    wide.keys = calloc(slots, sizeof(*wide.keys));
    wide.places = calloc(slots, sizeof(*wide.places));
    wide.mask = slots - 1;
    if (!wide.keys || !wide.places) {
        free(wide.keys);
        free(wide.places);
        return false;
    }
    for (size_t i = 0; i < m->n; i++) {
        size_t at = find_slot(&wide, m->list[i]);

        wide.keys[at] = m->list[i];
        wide.places[at] = (uint32_t)i + 1;
    }
    free(m->keys);
    free(m->places);
    *m = wide;
    return true;
}

static bool map_want(struct print_map *m, uint64_t print)
{
    size_t at;

    if ((!m->mask || m->n > m->mask / 2) && !widen(m))
        return false;
    at = find_slot(m, print);
    if (m->places[at])
        return true;
    if (!grow(&m->list, &m->cap, m->n + 1) ||
        !grow(&m->numbers, &m->numbers_cap, m->n + 1))
        return false;
    m->list[m->n] = print;
    m->numbers[m->n++] = NO_NUMBER;
    m->keys[at] = print;
    m->places[at] = (uint32_t)m->n;
    return true;
}

/* Where its number is kept; NULL: nobody wanted it. */
static uint32_t *map_at(const struct print_map *m, uint64_t print)
{
    uint32_t place = m->mask ? m->places[find_slot(m, print)] : 0;

    return place ? &m->numbers[place - 1] : NULL;
}

/* --- wanting -------------------------------------------------------------- */

bool loader_init(struct loader *l, struct ch_store *s,
                 const struct store_budget *budget)
{
    *l = (struct loader){.s = s, .budget = budget};
    for (size_t i = 0; i < LOAD_LEVELS; i++)
        l->replies[i] = BUF_INIT(STORE_BUF_BYTES);
    return dict_init(&l->d);
}

void loader_release(struct loader *l)
{
    for (size_t i = 0; i < KINDS; i++) {
        free(l->maps[i].keys);
        free(l->maps[i].places);
        free(l->maps[i].list);
        free(l->maps[i].numbers);
    }
    for (size_t i = 0; i < LOAD_LEVELS; i++)
        buf_release(&l->replies[i]);
    free(l->found);
    dict_release(&l->d);
}

bool loader_want(struct loader *l, unsigned kind, uint64_t print)
{
    if (kind == KIND_STACK && print == FINGERPRINT_EMPTY_STACK)
        return true;
    return (kind == DICT_LABELS && !print) || map_want(&l->maps[kind], print);
}

bool loader_number(const struct loader *l, unsigned kind, uint64_t print,
                   uint32_t *out)
{
    const uint32_t *at;

    *out = 0;
    if ((kind == KIND_STACK && print == FINGERPRINT_EMPTY_STACK) ||
        (kind == DICT_LABELS && !print))
        return true;
    at = map_at(&l->maps[kind], print);
    if (at)
        *out = *at;
    return at && *at != NO_NUMBER;
}

struct refs {
    struct loader *l;
    const struct unrow_array *list;
};

static bool want_ref(void *arg, enum dict_kind kind, uint32_t from,
                     uint32_t *to)
{
    struct refs *k = arg;

    *to = from;
    return from < k->list->n &&
           loader_want(k->l, kind, unrow_at(k->list, from));
}

static bool number_ref(void *arg, enum dict_kind kind, uint32_t from,
                       uint32_t *to)
{
    struct refs *k = arg;

    return from < k->list->n &&
           loader_number(k->l, kind, unrow_at(k->list, from), to);
}

bool loader_want_extras(struct loader *l, struct str extras,
                        const struct unrow_array *refs)
{
    struct buf ignored = BUF_INIT(STORE_BUF_BYTES);
    struct refs k = {l, refs};
    bool ok = row_extras_translate(extras, want_ref, &k, &ignored);

    buf_release(&ignored);
    return ok;
}

bool loader_extras(struct loader *l, struct str extras,
                   const struct unrow_array *refs, struct buf *out)
{
    struct refs k = {l, refs};

    return row_extras_translate(extras, number_ref, &k, out);
}

/* --- fetching ------------------------------------------------------------- */

/* The fingerprints are one text that ClickHouse splits: it parses a list of
 * as many literals four times slower. */
static void write_query(struct loader *l, unsigned kinds, size_t first,
                        struct buf *sql)
{
    const char *comma = "";
    size_t at = 0;

    buf_addf(sql,
             "SELECT kind, id, refs, record FROM pprofd_records WHERE "
             "%" STR_FMT "kind IN (",
             STR_ARG(l->where));
    for (unsigned kind = 0; kind < KINDS; kind++)
        if (kinds >> kind & 1) {
            buf_addf(sql, "%s%u", comma, kind);
            comma = ",";
        }
    buf_add(sql, STR(") AND id IN (SELECT toUInt64(arrayJoin(splitByChar(',', "
                     "'"));
    comma = "";
    for (unsigned kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; kinds >> kind & 1 && i < l->maps[kind].n; i++, at++)
            if (at >= first && at < first + PRINTS_AT_ONCE) {
                buf_addf(sql, "%s%" PRIu64, comma, l->maps[kind].list[i]);
                comma = ",";
            }
    buf_add(sql, STR("')))) FORMAT RowBinary"));
}

static bool fetch(struct loader *l, unsigned level, struct error *err)
{
    struct buf sql = BUF_INIT((size_t)16 << 20);
    struct ch_request r = {.out = &l->replies[level], .budget = l->budget};
    size_t n = 0;

    for (unsigned kind = 0; kind < KINDS; kind++)
        n += levels[level] >> kind & 1 ? l->maps[kind].n : 0;
    l->status = STORE_OK;
    for (size_t i = 0; i < n && l->status == STORE_OK; i += PRINTS_AT_ONCE) {
        buf_clear(&sql);
        write_query(l, levels[level], i, &sql);
        r.sql = buf_str(&sql);
        l->status =
            buf_ok(&sql) ? ch_run(l->s->client, &r, err) : store_no_memory(err);
    }
    buf_release(&sql);
    return l->status == STORE_OK;
}

static bool want_refs(struct loader *l, const struct found_record *f)
{
    struct buf ignored = BUF_INIT(STORE_BUF_BYTES);
    struct refs k = {l, &f->refs};
    bool ok = true;

    if (f->kind == KIND_STACK)
        for (size_t i = 0; ok && i < f->refs.n; i++)
            ok = loader_want(l, DICT_LOCATION, unrow_at(&f->refs, i));
    else
        ok = dict_translate((enum dict_kind)f->kind, f->record, want_ref, &k,
                            &ignored);
    buf_release(&ignored);
    return ok;
}

/* They may come for several weeks or from several collectors. */
bool loader_take(struct loader *l, unsigned level)
{
    struct wire_reader r = unpack_begin(buf_str(&l->replies[level]));

    while (wire_more(&r)) {
        struct found_record f;
        uint32_t *at;

        if (!unrow_u8(&r, &f.kind) || f.kind >= KINDS ||
            !unrow_u64(&r, &f.print) || !unrow_array(&r, &f.refs) ||
            !unrow_text(&r, &f.record))
            return false;
        at = map_at(&l->maps[f.kind], f.print);
        if (!at || *at == 0)
            continue;
        *at = 0; /* found; its number comes later */
        if (!want_refs(l, &f) ||
            !grow(&l->found, &l->found_cap, l->n_found + 1))
            return false;
        l->found[l->n_found++] = f;
    }
    return true;
}

/* --- numbers -------------------------------------------------------------- */

static bool number_stack(struct loader *l, const struct found_record *f,
                         uint32_t *out)
{
    uint32_t node = 0, location;

    for (size_t i = f->refs.n; i--;)
        if (!loader_number(l, DICT_LOCATION, unrow_at(&f->refs, i),
                           &location) ||
            !dict_intern_node(&l->d, node, location, &node))
            return false;
    *out = node;
    return true;
}

static bool number_record(struct loader *l, const struct found_record *f,
                          struct buf *scratch)
{
    struct refs k = {l, &f->refs};
    uint32_t number;

    if (f->kind == KIND_STACK) {
        if (!number_stack(l, f, &number))
            return false;
    } else {
        buf_clear(scratch);
        if (!dict_translate((enum dict_kind)f->kind, f->record, number_ref, &k,
                            scratch) ||
            !dict_intern(&l->d, (enum dict_kind)f->kind, buf_str(scratch),
                         &number))
            return false;
    }
    *map_at(&l->maps[f->kind], f->print) = number;
    return true;
}

/* Later levels are what earlier ones refer to. */
static bool number_all(struct loader *l)
{
    static const unsigned order[KINDS] = {
        DICT_STRING, DICT_FUNCTION, DICT_MAPPING, DICT_LOCATION, DICT_LABELS,
        DICT_IMAGE,  DICT_HEADER,   KIND_STACK,   DICT_SERIES};
    struct buf scratch = BUF_INIT(STORE_BUF_BYTES);
    bool ok = true;

    for (size_t k = 0; k < KINDS; k++)
        for (size_t i = 0; ok && i < l->n_found; i++)
            if (l->found[i].kind == order[k])
                ok = number_record(l, &l->found[i], &scratch);
    buf_release(&scratch);
    return ok;
}

static bool is_missing(const struct loader *l)
{
    for (size_t kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < l->maps[kind].n; i++)
            if (l->maps[kind].numbers[i] == NO_NUMBER)
                return true;
    return false;
}

bool loader_finish(struct loader *l, struct error *err)
{
    l->status = STORE_FAILED;
    if (is_missing(l))
        return error_set(err, "pprofd_records: names or stacks of a profile "
                              "are missing");
    if (!number_all(l))
        return error_set(err, "pprofd_records: stored data are damaged, or "
                              "memory ran out");
    l->status = STORE_OK;
    return true;
}

bool loader_run(struct loader *l, struct error *err)
{
    for (unsigned level = 0; level < LOAD_LEVELS; level++) {
        if (!fetch(l, level, err))
            return false;
        if (!loader_take(l, level)) {
            l->status = STORE_FAILED;
            return error_set(err, "pprofd_records: stored data are damaged, "
                                  "or memory ran out");
        }
    }
    return loader_finish(l, err);
}

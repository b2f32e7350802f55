/*
 * The version of a selection, from descriptions alone.
 *
 * Every row adds a number to a sum, and the number is linear in what the row
 * counts: its profiles, totals, changes and duration, times a hash of its
 * series.  The sum of an hour therefore adds what its profiles would have
 * added, and the version of a fixed range does not change when old profiles
 * are summed up.  Only the time of the newest row may: sums carry the start
 * of their step.
 */
#include "base/hash.h"
#include "store/read/read.h"

static uint64_t mix(uint64_t seed, uint64_t value)
{
    return hash_mix(seed ^ hash_mix(value + 1));
}

/* Odd, so that no count is lost in the product. */
static uint64_t series_of(const struct scan_row *row)
{
    return 1 | mix(mix(str_hash(row->service), str_hash(row->type)),
                   str_hash(row->labels));
}

static bool add(void *arg, const struct scan_row *row, struct error *err)
{
    struct store_version *v = arg;
    const struct row_meta *m = row->meta;
    uint64_t sum =
        m->profiles * mix(1, 0) + (uint64_t)m->duration_ns * mix(2, 0);

    (void)err;
    for (size_t i = 0; i < m->n_totals; i++)
        sum += (uint64_t)m->totals[i] * mix(3, i) +
               (uint64_t)m->changes[i] * mix(4, i);
    v->hash += series_of(row) * sum;
    v->profiles += m->profiles;
    if (v->newest_ns < m->created_ns)
        v->newest_ns = m->created_ns;
    return true;
}

enum store_status engine_version(struct store *s, const struct store_query *q,
                                 const struct store_budget *budget,
                                 struct store_version *out, struct error *err)
{
    struct store_version version = {.newest_ns = INT64_MIN};
    struct scan c = {.s = s,
                     .q = q,
                     .budget = budget,
                     .use_sums = true,
                     .row = add,
                     .arg = &version};
    enum store_status status = scan_run(&c, err);

    if (status == STORE_OK)
        *out = version;
    return status;
}

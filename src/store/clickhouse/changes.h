#ifndef STORE_CLICKHOUSE_CHANGES_H
#define STORE_CLICKHOUSE_CHANGES_H

#include "store/clickhouse/rows.h"

/*
 * How profiles with cumulative types count against the one before them in
 * their series: see STORE_CHANGES.  Collectors do not know each other's
 * profiles, so this is found out when somebody asks, from the totals of a
 * range and of some time before it (clickhouse_options.lookback_ns).
 */
struct change {
    struct store_id id;
    uint64_t series;
    int64_t created;
    uint64_t cumulative;
    size_t n, totals_at; /* in `totals`: the totals, then the changes */
    size_t before;       /* NO_CHANGE: none */
    uint32_t flags;      /* ROW_CHANGES, ROW_RESTART */
    bool is_source;      /* not only there for the one behind it */
};

#define NO_CHANGE SIZE_MAX

struct changes {
    struct change *v;
    size_t n, cap;
    int64_t *totals;
    size_t n_totals, totals_cap;
    uint32_t *slots; /* place + 1, by id */
    size_t mask;
};

/* `selection` are the conditions besides the range, each behind an AND;
 * `source` others, for those that have to count themselves. */
enum store_status ch_changes_load(struct changes *k, struct ch_store *s,
                                  struct str selection, struct str source,
                                  int64_t from_ns, int64_t to_ns,
                                  const struct store_budget *budget,
                                  struct error *err);
void ch_changes_release(struct changes *k);

/* NULL: it is not among them. */
const struct change *ch_changes_find(const struct changes *k,
                                     const struct store_id *id);

/* Sets flags and changes of a description. */
void ch_changes_apply(const struct changes *k, struct row_meta *m);

#endif

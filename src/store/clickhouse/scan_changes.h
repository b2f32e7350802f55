#ifndef STORE_CLICKHOUSE_SCAN_CHANGES_H
#define STORE_CLICKHOUSE_SCAN_CHANGES_H

#include "store/clickhouse/scan.h"
#include "store/sums.h"

/*
 * Changes of cumulative values by step and stack, for sums.
 */

/* A profile that counts in the changes of a step: times `weight`. */
struct weight {
    size_t change; /* in changes.v */
    int64_t step, weight;
};

struct step_changes {
    struct selection *k;
    struct loader *l; /* the caller's */
    struct changes changes;
    struct weight *weights;
    size_t n_weights, weights_cap;
    struct buf rows_reply;
    struct ch_row *rows; /* of rows_reply, sorted by id */
    size_t n_rows, rows_cap;
};

void step_changes_init(struct step_changes *u, struct selection *k,
                       struct loader *l);
void step_changes_release(struct step_changes *u);

/* Fetches the profiles that count, and wants their records from the loader. */
bool step_changes_ask(struct step_changes *u, struct error *err);

/* Adds those of a step and header, once the loader has run: behind the
 * `n_totals` columns, one for each bit of `cumulative`. */
bool step_changes_add(const struct step_changes *u, int64_t step,
                      uint64_t header, uint64_t cumulative, size_t n_totals,
                      struct sums *sums);

#endif

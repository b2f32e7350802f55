#ifndef STORE_SUMS_H
#define STORE_SUMS_H

#include "store/dict.h"
#include "store/row.h"

/*
 * Values added up by (node, labels).  Samples without labels, nearly all of
 * them, are found through an array by node; the others by hash.
 */
struct sums_key {
    uint32_t node, labels;
};

struct sums {
    size_t columns;
    struct sums_key *keys;
    int64_t *values; /* columns for each key */
    size_t n, keys_cap, values_cap;
    uint32_t *by_node; /* place + 1 */
    size_t nodes, by_node_cap;
    uint32_t *slots; /* place + 1, of keys with labels */
    size_t mask, n_slotted;
};

void sums_release(struct sums *s);

/* The values of a key, zero when it is new; NULL: out of memory. */
int64_t *sums_at(struct sums *s, uint32_t node, uint32_t labels);

/* Adds a whole row: as sent, or (`changes`) with cumulative columns as
 * differences to `before`. */
bool sums_add(struct sums *s, const struct row_samples *row);
bool sums_add_changes(struct sums *s, const struct row_meta *m,
                      const struct row_samples *row,
                      const struct row_samples *before, uint64_t cumulative);

#endif

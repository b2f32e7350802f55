#ifndef STORE_CLICKHOUSE_ROWS_H
#define STORE_CLICKHOUSE_ROWS_H

#include "store/clickhouse/load.h"

/*
 * Rows of pprofd_profiles as they come back, or of pprofd_sums.
 */
#define ROW_COLUMNS                                                            \
    "id, service, type, label_keys, label_values, series, created, header, "   \
    "cumulative, image, flags, time, duration, period, posted, samples, "      \
    "totals"
#define ROW_SAMPLES ", stacks, labels, v0, v1, v2, v3, more"

/* How each of the tables says what only the other one has. */
#define OF_PROFILES ", toUInt64(1), extras, extra_refs"
#define OF_SUMS     ", profiles, '', emptyArrayUInt64()"

struct ch_row {
    struct store_id id;
    struct str service, type;
    struct str label_keys, label_values; /* each text with its length */
    size_t n_labels;
    uint64_t series, header, cumulative, image, flags, posted, samples;
    int64_t created, time, duration, period;
    struct unrow_array totals;
    uint64_t profiles; /* 1, or of how many it is the sum */

    struct str extras;
    struct unrow_array extra_refs, stacks, labels, values[4], more;
};

bool ch_row_read(struct wire_reader *r, bool with_samples, struct ch_row *out);

/* An array of texts, as it stands. */
bool unrow_texts(struct wire_reader *r, struct str *out, size_t *n);

/* Keys and values by turns, as a scan_row has them. */
bool ch_pack_labels(struct str keys, struct str values, size_t n,
                    struct buf *out);

/* Wants all that the row refers to. */
bool ch_row_want(const struct ch_row *row, bool with_samples, struct loader *l);

/* The description in the numbers of the loaded dictionary; `extras` gets
 * what m->extras points to. */
bool ch_row_meta(const struct ch_row *row, bool with_samples, struct loader *l,
                 struct row_meta *m, struct buf *extras);
bool ch_row_samples(const struct ch_row *row, const struct loader *l,
                    struct row_samples *out);

static inline int64_t ch_row_value(const struct ch_row *row, size_t sample,
                                   size_t column)
{
    if (column < 4)
        return (int64_t)unrow_at(&row->values[column], sample);
    return (int64_t)unrow_at(&row->more,
                             sample * (row->totals.n - 4) + column - 4);
}

#endif

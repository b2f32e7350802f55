#ifndef STORE_ROW_H
#define STORE_ROW_H

#include "base/buf.h"
#include "store/dict.h"
#include "store/id.h"

/*
 * A stored profile: its description (`struct row_meta`) and its samples, in
 * the numbers of a dictionary.  Both have a packed form; the description is
 * kept apart from the samples so that listings and time lines read no
 * samples.
 */
enum row_flag {
    ROW_OPAQUE = 1,  /* the bytes are kept elsewhere; no samples */
    ROW_CHANGES = 2, /* the row before it is known, so `changes` counts */
    ROW_RESTART = 4, /* counts as a whole: the process has been restarted */
    ROW_SUM = 8,     /* the sum of several profiles; the cumulative types have
                        a second column each, behind the others, with the
                        sums of the changes */
};

struct row_meta {
    struct store_id id;
    uint32_t series, header, image;
    int64_t created_ns, time_ns, duration_ns, period;
    uint64_t posted_bytes;
    uint64_t samples;
    uint32_t flags;
    uint64_t profiles; /* 1, or of how many it is the sum */
    size_t n_totals;   /* one per sample type */
    int64_t *totals, *changes;
    /* Packed: locations that no sample uses, functions that no location
     * uses. */
    struct str extras;

    int64_t *numbers; /* room for totals and changes; ours */
    size_t numbers_cap;
};

void row_meta_release(struct row_meta *m);

/* Room for the totals of n types, zeroed. */
bool row_meta_totals(struct row_meta *m, size_t n);
void row_meta_pack(const struct row_meta *m, struct buf *out);

/* Reads one; numbers are checked against the dictionary.  `extras` points
 * into the bytes. */
bool row_meta_unpack(struct row_meta *m, struct wire_reader *r,
                     const struct dict *d);

/* Copies the extras with other numbers in them. */
bool row_extras_translate(struct str extras, dict_ref *ref, void *arg,
                          struct buf *out);

/*
 * Samples: (node, labels) and one value per column.
 */
struct row_samples {
    uint32_t *nodes, *labels;
    int64_t *values; /* columns for each sample */
    size_t n, columns;
    size_t nodes_cap, labels_cap, values_cap;
};

void row_samples_release(struct row_samples *s);
bool row_samples_resize(struct row_samples *s, size_t n, size_t columns);

/* Is a profile's own time before another one's?  0: it has none. */
static inline bool row_is_older(int64_t time_ns, int64_t than_ns)
{
    return time_ns != 0 && (than_ns == 0 || time_ns < than_ns);
}

/* How many columns the samples of a row have. */
static inline size_t row_columns(const struct row_meta *m, uint64_t cumulative)
{
    size_t more = 0;

    if (m->flags & ROW_SUM)
        more = (size_t)__builtin_popcountll(cumulative);
    return m->n_totals + more;
}

/*
 * Sets `changes` and the flags: how the row counts against the one before it
 * in its series (NULL: not known), by the rule of STORE_CHANGES.
 */
void row_count_changes(struct row_meta *m, uint64_t cumulative,
                       const struct row_samples *before);
void row_samples_swap(struct row_samples *a, struct row_samples *b);

/*
 * Packed samples, in the order given.  Alone, or as what changed since the
 * row before: stacks that came or went, and values that differ.  CPU time
 * that is everywhere the number of samples times the period is left out.
 */
void row_pack(const struct row_samples *s, int64_t period, struct buf *out);
void row_pack_changes(const struct row_samples *s,
                      const struct row_samples *before, struct buf *out);

/* Returns true if the packed form needs the row before it. */
bool row_is_changes(struct str packed);

/*
 * False when the bytes are malformed, or refer to what the dictionary does
 * not have, or need a row before that is not given, or memory runs out.
 */
bool row_unpack(struct str packed, int64_t period, size_t columns,
                const struct dict *d, const struct row_samples *before,
                struct row_samples *out);

#endif

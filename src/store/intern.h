#ifndef STORE_INTERN_H
#define STORE_INTERN_H

#include "store/intake.h"
#include "store/row.h"
#include "store/store.h"

/*
 * A profile that was read (`struct intake`) in the numbers of a dictionary.
 */

/*
 * Counts the values of each sample label, so that request ids and the like
 * cannot fill a dictionary: values above the limit are dropped and counted.
 */
struct label_guard {
    uint32_t max_values; /* of one key */
    struct table pairs;  /* key and value that have been seen */
    uint32_t *keys;      /* string numbers */
    uint32_t *counts;
    size_t n_keys, keys_cap, counts_cap;
};

void label_guard_release(struct label_guard *g);

/* Scratch memory, reused from profile to profile. */
struct interner {
    uint32_t *strings, *functions, *mappings, *locations; /* number + 1 */
    size_t strings_cap, functions_cap, mappings_cap, locations_cap;
    bool *used; /* locations, by samples */
    uint32_t *twins;
    size_t used_cap, twins_cap;
    struct buf record, extras;
    struct row_samples samples;
    struct row_meta meta;
    uint32_t dropped_labels;

    const struct intake *in;
    struct dict *d;
    struct label_guard *guard;
};

void interner_release(struct interner *t);

/*
 * Adds what is new to the dictionary and fills t->samples and t->meta (numbers,
 * times, totals, extras; not the id, the series or created_ns).  `is_delta`: no
 * type is cumulative.  False: out of memory; the dictionary may then have
 * unused records.
 */
bool intern_profile(struct interner *t, const struct intake *in, struct dict *d,
                    struct label_guard *guard, bool is_delta);

/* Parts of it: a text's number; the same appended to a record; the number of
 * t->record; a function's; all locations'; the number of a sample's label
 * set, without the labels that are over a bound. */
bool intern_text(struct interner *t, uint32_t i, uint32_t *out);
bool intern_put_text(struct interner *t, struct buf *record, uint32_t i);
bool intern_record(struct interner *t, enum dict_kind kind, uint32_t *out);
bool intern_function(struct interner *t, uint32_t i, uint32_t *out);
bool intern_locations(struct interner *t);
bool intern_labels(struct interner *t, size_t sample, uint32_t *out);

/* A series: the labels must be sorted. */
bool intern_series(struct interner *t, struct dict *d, struct str type,
                   const struct store_label *labels, size_t n, uint32_t *out);

/* A header and an image for bytes that are not read. */
bool intern_opaque(struct interner *t, struct dict *d);

#endif

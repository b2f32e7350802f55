#ifndef PROFILE_MERGE_RECORDS_H
#define PROFILE_MERGE_RECORDS_H

#include "profile/profile.h"

/*
 * The tables of a merged profile: strings, mappings, functions, locations.
 *
 * Sources come one after another.  An array for each table says which record of
 * the result a record of the source became; at the first request a record is
 * looked up in the result by its content and added if it is new.  So records
 * are numbered by first use, and unused ones are not copied.
 */
struct merge_records {
    struct profile *out;
    struct arena *scratch; /* for the maps */
    struct map mappings, functions, locations;

    const struct profile *src;
    struct arena *tables; /* for the arrays, one per source */
    string_id *string_to;
    uint32_t *mapping_to, *function_to;
    uint32_t *location_to; /* NO_INDEX: not asked for yet */
};

/* Expects tables about as large as those of `first`. */
void merge_records_init(struct merge_records *m, struct profile *out,
                        const struct profile *first);
void merge_records_release(struct merge_records *m);

/* From now on indices are those of this source; it must stay until the next
 * one or the release. */
void merge_records_source(struct merge_records *m, const struct profile *src);

/* What the source's record is in the result. */
string_id merge_string(struct merge_records *m, string_id id);
uint32_t merge_mapping(struct merge_records *m, uint32_t index);
uint32_t merge_location(struct merge_records *m, uint32_t index);

#endif

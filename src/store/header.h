#ifndef STORE_HEADER_H
#define STORE_HEADER_H

#include "store/dict.h"

/*
 * Reads the sample types of a profile from its header record (DICT_HEADER).
 */

/* How many sample types a header has, and a bit for each cumulative one (of
 * the first 64). */
bool dict_header_types(const struct dict *d, uint32_t header, size_t *n,
                       uint64_t *cumulative);

/* The names of one sample type. */
bool dict_header_type(const struct dict *d, uint32_t header, size_t i,
                      struct str *type, struct str *unit);

/* The number of the type that a report shows unless told otherwise: the
 * default type, else the last; or the one with this name.  False: none. */
bool dict_header_find_type(const struct dict *d, uint32_t header,
                           struct str name, size_t *out);

/* Returns true if a type of this name counts from the start of the program
 * ("alloc_space"), unless the sender says that it is a difference. */
bool type_counts_from_start(struct str type);

#endif

#ifndef PROFILE_INDICES_H
#define PROFILE_INDICES_H

#include <string.h>

#include "profile/profile.h"

/* A table of n indices that point at nothing yet: what the records of one
 * table become in another. */
static inline uint32_t *indices_new(struct arena *a, size_t n)
{
    uint32_t *table = arena_new_array(a, uint32_t, n);

    memset(table, 0xff, n * sizeof(*table));
    return table;
}

#endif

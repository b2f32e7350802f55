#ifndef STORE_TABLE_H
#define STORE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/*
 * Byte strings, each stored once and numbered from 0 in order of arrival.
 * Nothing is removed.
 *
 * The index that finds equal strings is built with the first table_intern();
 * a table that is only read or appended to has none.
 */
struct table {
    unsigned char *bytes;
    size_t bytes_n, bytes_cap;
    uint32_t *ends; /* record i is bytes[ends[i-1] .. ends[i]) */
    size_t n, cap;
    uint64_t *slots; /* upper half: hash, lower half: number + 1; 0 is free */
    size_t mask;
};

void table_release(struct table *t);

/* Appends without looking for an equal one.  False: out of memory, or over
 * 4 GB. */
bool table_append(struct table *t, struct str s);

/* The number of the string, added when new. */
bool table_intern(struct table *t, struct str s, uint32_t *out);

/* Its number if it is there. */
bool table_find(struct table *t, struct str s, uint32_t *out);

static inline struct str table_get(const struct table *t, uint32_t i)
{
    uint32_t start = i ? t->ends[i - 1] : 0;

    if (!t->bytes) /* all are empty */
        return str_of("", 0);
    return str_of((const char *)t->bytes + start, t->ends[i] - start);
}

size_t table_memory(const struct table *t);

#endif

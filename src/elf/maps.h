#ifndef ELF_MAPS_H
#define ELF_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pages.h"
#include "base/str.h"

/*
 * The address space as /proc/PID/maps tells it, read whole with plain system
 * calls (no stdio, no allocator).
 */
struct maps_entry {
    uint64_t start, limit, offset;
    uint64_t inode;
    bool readable, writable, executable, is_shared;
    struct str path; /* "/usr/bin/x", "[vdso]", "" ; " (deleted)" cut off */
};

struct maps {
    struct pages_vec entries; /* of struct maps_entry, by address */
    struct pages_vec text;    /* what the paths point into */
};

/* False: the file cannot be read or memory is out.  Release it either way. */
bool maps_read(struct maps *m, const char *path);
void maps_release(struct maps *m);

static inline const struct maps_entry *maps_at(const struct maps *m, size_t i)
{
    return (const struct maps_entry *)m->entries.p + i;
}

/* The entry that contains an address, or NULL. */
const struct maps_entry *maps_find(const struct maps *m, uint64_t address);

/* One line, without the newline; false when it is not one of maps. */
bool maps_parse_line(struct str line, struct maps_entry *out);

#endif

#ifndef RUNTIME_WRITE_LINE_CACHE_H
#define RUNTIME_WRITE_LINE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/write/lines.h"

/*
 * Lines that were found for earlier profiles.  Profiles of one program have
 * most of their addresses in common, and debug information is expensive to
 * read: it is often compressed.
 *
 * An answer belongs to a file of a certain build and an address in it.  So it
 * stays true when modules are loaded and unloaded.  An address that was not
 * found, or not completely, is looked up again after a minute: a debug file
 * may have been installed.
 *
 * A cache holds at most about the number of bytes given.  When it is full, it
 * starts again from nothing with the next profile.  Without memory it stays
 * empty.  For one thread at a time.
 */
#define LINE_CACHE_ID_MAX 64

/* A file of a certain build. */
struct line_module {
    char path[512];
    uint8_t build_id[LINE_CACHE_ID_MAX];
    size_t build_id_n;
};

bool line_module_equal(const struct line_module *a,
                       const struct line_module *b);

struct line_cache {
    struct lines lines;
    struct pages_vec modules; /* of struct line_module */
    struct pages_vec entries; /* of struct line_cache_entry */
    struct pages_vec slots;   /* of uint32_t: hash to entry + 1 */
    size_t max_bytes;
    bool is_full;
};

void line_cache_init(struct line_cache *c, size_t max_bytes);
void line_cache_release(struct line_cache *c);

/* The module's number, for the calls below.  False: it is not known, or there
 * is no room for it. */
bool line_cache_find_module(const struct line_cache *c,
                            const struct line_module *m, uint32_t *out);

/* Copies the lines of an address to `place` of `to`.  False: not known. */
bool line_cache_find(const struct line_cache *c, uint32_t module,
                     uint64_t vaddr, int64_t now_ns, struct lines *to,
                     struct line_place *place);

/* Before the answers for a profile are added. */
void line_cache_begin(struct line_cache *c);
bool line_cache_add_module(struct line_cache *c, const struct line_module *m,
                           uint32_t *out);
void line_cache_add(struct line_cache *c, uint32_t module, uint64_t vaddr,
                    int64_t now_ns, const struct lines *from,
                    struct line_place place);

#endif

#ifndef STORE_SEGMENT_H
#define STORE_SEGMENT_H

#include "base/error.h"
#include "store/dict.h"

/*
 * The sealed form of a dictionary: sorted, renumbered, compressed.
 *
 * Strings are sorted and share prefixes with their predecessor; functions,
 * locations and nodes are sorted so that differences are small, and stand
 * column by column.  Sorting halves the size of a series of CPU profiles,
 * but gives everything new numbers: segment_pack() says which.
 */
struct segment_map {
    uint32_t *to[DICT_KINDS + 1]; /* new number of each record; nodes last */
};

void segment_map_release(struct segment_map *m);

/* `level` is zstd's. */
bool segment_pack(const struct dict *d, int level, struct segment_map *map,
                  struct buf *out, struct error *err);

/* Fills an empty dictionary, without the indexes for interning (they are
 * made when needed).  Checks everything. */
bool segment_unpack(struct str packed, struct dict *d, struct error *err);

/* The same without functions, locations and nodes: enough for descriptions
 * of profiles. */
bool segment_unpack_head(struct str packed, struct dict *d, struct error *err);

/*
 * Compressed bytes with a checksum. `limit` bounds the size to which a damaged
 * or hostile input may expand.
 */
bool squeeze(struct str bytes, int level, struct buf *out);
bool unsqueeze(struct str bytes, size_t limit, struct buf *out,
               struct error *err);

#endif

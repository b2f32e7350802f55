#ifndef STORE_ARCHIVE_ARCHIVED_STORE_H
#define STORE_ARCHIVE_ARCHIVED_STORE_H

#include "store/archive/archive.h"

/*
 * A store whose profiles also go to an archive: `inner` does everything, and
 * what it has stored is added to the archive before the caller is told.  Puts
 * keep a copy of the profile until then; if the copies exceed `memory_bytes`,
 * further puts return STORE_BUSY.
 *
 * Takes both over; store_close() closes `inner`, then the archive, which may
 * take `patience_ns` to send what waits.  NULL: out of memory, and both are
 * still the caller's.
 */
struct store *archived_store_new(struct store *inner, struct archive *archive,
                                 uint64_t memory_bytes, int64_t patience_ns);

#endif

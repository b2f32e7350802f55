#ifndef CMD_PPROFD_START_ARCHIVE_H
#define CMD_PPROFD_START_ARCHIVE_H

#include "cmd/pprofd/settings.h"
#include "store/archive/archive.h"

/*
 * The archive of `serve`: puts it around the store, if the settings name one.
 *
 * *store is replaced by one that archives, and *archive is what its metrics
 * come from, which belongs to that store; both stay as they are without an
 * archive.
 */
bool start_archive(const struct settings *s, struct arena *a,
                   struct store **store, struct archive **archive,
                   struct error *err);

/* For /metrics; `arg` is the archive, or NULL. */
void archive_metrics_write(void *arg, struct buf *out);

#endif

#ifndef STORE_SQLITE_SQLITE_H
#define STORE_SQLITE_SQLITE_H

#include "store/options.h"

/*
 * The embedded store: one directory, one process.
 *
 *     head.db                 recent profiles, one row per commit
 *     day-YYYYMMDD.db         sealed profiles of a UTC day, and their sums
 *     lock                    held while a process has the store open
 *
 * New profiles live in memory and in the log of head.db.  A background
 * thread seals them into day files, joins the small segments of a service
 * and day, makes the sums, and deletes what has expired.
 */

/*
 * Opens or makes a store and replays its log.  NULL with an error when
 * another process has it open, it was written by a newer version, or its
 * files are damaged.  `options` is copied, the retention rules included.
 */
struct store *sqlite_store_open(const struct store_options *options,
                                struct error *err);

/* Replaces retention rules and the disk limit of an open store. */
bool sqlite_store_set_retention(struct store *s,
                                const struct store_retention *rules, size_t n,
                                uint64_t max_disk_bytes, struct error *err);

/*
 * One bounded step of background work; false when there is nothing to do.
 * The store's own thread calls this; tests with no_background do so too.
 */
bool sqlite_store_work(struct store *s);

/* Seals everything that is committed now. */
bool sqlite_store_seal_all(struct store *s, struct error *err);

/*
 * Verifies the store in `dir`, which no process may have open: every page of
 * every file, every dictionary, block and row.  Calls `say` for each finding
 * with what to do about it.  False when something is damaged or it could not
 * be examined.
 */
struct store_check_result {
    uint64_t files, segments, blocks, profiles, problems;
};

bool sqlite_store_check(const char *dir,
                        void (*say)(void *arg, const char *finding), void *arg,
                        struct store_check_result *out, struct error *err);

#endif

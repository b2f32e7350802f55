#ifndef STORE_CLICKHOUSE_KEEP_H
#define STORE_CLICKHOUSE_KEEP_H

#include "store/clickhouse/engine.h"

/*
 * What the files of retention share: keep.c has the thread and what is left of
 * profiles, expire.c the profiles themselves, make_sums.c their sums.
 */

/* Days before this one have expired at a level; 0: none. */
unsigned keep_first_day(const struct ch_store *s,
                        const struct store_retention *rule, unsigned level);

/* Levels, a bit for each, whose sums of a day are wanted and have not expired
 * yet. */
unsigned keep_wanted(const struct ch_store *s,
                     const struct store_retention *rule, unsigned day);

/* Drops a partition, written as ClickHouse writes it in SQL. */
bool keep_drop(struct ch_store *s, const char *table, struct str partition,
               struct error *err);

/* Deletes rows in the background.  Does nothing while another deletion from
 * the table is under way: ClickHouse rewrites whole parts. */
bool keep_delete(struct ch_store *s, const char *table, struct str where,
                 struct error *err);

/* Profiles of expired days become sums, if some are wanted, and are dropped. */
bool keep_expire(struct ch_store *s, const struct retention *r,
                 struct error *err);

#endif

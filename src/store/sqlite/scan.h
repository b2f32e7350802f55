#ifndef STORE_SQLITE_SCAN_H
#define STORE_SQLITE_SCAN_H

#include "store/read/scan.h"
#include "store/sqlite/engine.h"

/*
 * Scanning the embedded engine: the service's rows in memory come first,
 * under its lock, then those of its day files as they were at that moment.
 */
enum store_status engine_scan(struct scan *c, struct error *err);

/* The profiles of one service in one file. */
bool scan_day(struct scan *c, struct day *day, struct str service,
              struct error *err);

/* The names of all services, in memory and in the files of a range. */
bool scan_services(struct sqlite_store *s, const struct store_query *q,
                   struct table *names, struct error *err);

enum store_status engine_usage(struct store *s, store_each_usage *each,
                               void *arg, struct error *err);

/* One profile, and the bytes of an opaque one: see struct scan_ops. */
enum store_status find_id(struct store *store, const struct store_id *id,
                          scan_each_row *row, void *arg, struct error *err);
enum store_status find_blob(struct store *store, const struct store_id *id,
                            int64_t created_ns, struct buf *out,
                            struct error *err);

#endif

#ifndef STORE_SQLITE_SCAN_PARTS_H
#define STORE_SQLITE_SCAN_PARTS_H

#include "store/sqlite/scan.h"

/*
 * Shared by the files of a scan: scan_run.c walks over services and their rows
 * in memory, scan_plan.c chooses the files, scan_file.c reads one.
 */

/* A block that has to be read. */
struct found_block {
    int64_t id, segment;
    size_t series; /* in `series` */
};

struct found_series {
    int64_t id;
    struct scan_count counted; /* in blocks that need not be read */
    struct str type, labels;   /* in `text` */
    size_t type_at, labels_at;
};

/* A file, or a range of it, for one service. */
struct day_scan {
    struct scan *c;
    struct day *day;
    struct day_conn *conn;
    struct str service;
    int64_t from_ns, to_ns;
    struct buf text;
    struct found_series *series;
    size_t n_series, series_cap;
    struct found_block *blocks;
    size_t n_blocks, blocks_cap;
};

/* A service and the files that have to be read for it. */
struct service_scan {
    struct scan *c;
    struct str name;
    struct day_scan *days;
    size_t n_days, days_cap;
};

/* Returns true if sums of this level may be used in the answer. */
bool level_fits(const struct scan *c, int level);

/* Adds the files whose rows, or sums, make up the range of the query. */
bool scan_plan(struct service_scan *k, struct error *err);

/* Adds a range of a file, both ends included; nothing if it is empty. */
bool scan_add_part(struct service_scan *k, struct day *day, int64_t from_ns,
                   int64_t to_ns);

/* Begins a read transaction: from here on the file does not change for us. */
bool day_scan_begin(struct day_scan *k, struct error *err);
bool day_scan_run(struct day_scan *k, struct error *err);
void day_scan_release(struct day_scan *k);

#endif

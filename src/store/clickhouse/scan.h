#ifndef STORE_CLICKHOUSE_SCAN_H
#define STORE_CLICKHOUSE_SCAN_H

#include "store/clickhouse/changes.h"
#include "store/clickhouse/rows.h"

/*
 * What the files of a scan share.
 *
 * scan.c finds out which series a selection has, and answers readers that
 * only count; scan_rows.c hands over profiles one by one; scan_sums.c has
 * ClickHouse add them up by stack; scan_changes.c adds up changes of
 * cumulative values.
 *
 * Readers that can do with sums get them for what has expired
 * (make_sums.h): the scan is made once for the profiles that are left, and
 * once for each level of sums.
 */
struct selection {
    struct scan *c;
    struct ch_store *s;
    struct buf range;    /* condition for the times */
    struct buf matchers; /* " AND …" */
    struct buf records;  /* "… AND " for pprofd_records */
    bool is_empty;       /* no series matches */

    /* Where the rows are: profiles, or a level of sums. */
    const char *table;
    bool of_sums;
    struct buf source; /* " AND …": which of them count */
    struct buf builds; /* of sums in the range: numbers and commas */
};

/* Runs a query for the scan; a failure is the scan's status. */
bool selection_ask(struct selection *k, struct buf *sql, struct buf *reply,
                   struct error *err);

/* "(SELECT columns FROM the table WHERE …)", each row once. */
void selection_once(const struct selection *k, const char *columns,
                    const char *more, struct buf *sql);

/* The conditions, behind "FROM the table". */
void selection_where(const struct selection *k, struct buf *sql);

/* The start of the step that a profile is in, as SQL. */
void selection_step(const struct selection *k, struct buf *sql);

bool selection_loader(struct selection *k, struct loader *l, struct error *err);

bool scan_descriptions(struct selection *k, struct error *err);
bool scan_profiles(struct selection *k, const char *more, struct error *err);
bool scan_sums(struct selection *k, struct error *err);

/* Rows that a query has returned, with their samples. */
bool scan_hand_over(struct selection *k, struct str reply, bool with_samples,
                    const struct changes *changes, struct error *err);

bool scan_damaged(struct error *err);

#endif

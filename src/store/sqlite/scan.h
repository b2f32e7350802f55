#ifndef STORE_SQLITE_SCAN_H
#define STORE_SQLITE_SCAN_H

#include "store/sqlite/engine.h"

/*
 * Every profile of a selection, for whatever reads them.
 *
 * Rows come segment by segment: `segment` is called before the rows of a
 * dictionary, `segment_end` behind them.  The dictionary and everything in
 * the row are valid until then.  The service's rows in memory come first,
 * under its lock, then those of its day files as they were at that moment.
 */
struct scan_row {
    struct str service, type;
    struct str labels; /* packed, see series_labels() */
    const struct dict *d;
    const struct row_meta *meta;
    uint64_t cumulative;               /* which types are */
    const struct row_samples *samples; /* NULL unless asked for */
    const struct row_samples *before;  /* the row before, or NULL */
};

/* How many profiles of a series there are, and when. */
struct scan_count {
    uint64_t profiles;
    int64_t first_ns, last_ns;
};

struct scan {
    struct sqlite_store *s;
    const struct store_query *q;
    const struct store_budget *budget;
    struct store_progress *progress;
    bool with_samples;
    /* Sums may stand for the profiles of whole minutes, hours or days. */
    bool use_sums;
    int64_t step_ns; /* but not beyond the step of the answer; 0: any */

    bool (*segment)(void *arg, const struct dict *d, struct error *err);
    bool (*row)(void *arg, const struct scan_row *row, struct error *err);
    /* `own` is the dictionary if the callee may keep it (and leave an empty
     * one behind), else NULL. */
    bool (*segment_end)(void *arg, struct dict *own, struct error *err);
    /* In place of all of these, for a reader that only counts: the profiles
     * of the row's series, in one call or in several.  The row has the texts
     * alone.  Blocks inside the range are not read. */
    bool (*count)(void *arg, const struct scan_row *row,
                  const struct scan_count *n, struct error *err);
    void *arg;

    /* Ours. */
    struct store_progress own;
    int64_t cpu_start;
    unsigned since_check;
    enum store_status status;
    struct store_label *labels;
    size_t labels_cap;
    struct buf label_text;
};

enum store_status scan_run(struct scan *c, struct error *err);

/* The profiles of one service in one file. */
bool scan_day(struct scan *c, struct day *day, struct str service,
              struct error *err);

/* Adds up; `to` begins as zeros. */
void scan_add_count(struct scan_count *to, const struct scan_count *n);

/* Does a series belong to the selection? */
bool query_matches(const struct store_query *q, struct str service,
                   struct str type, const struct store_label *labels, size_t n);
bool query_matches_service(const struct store_query *q, struct str service);

/* The names of all services, in memory and in the files of a range. */
bool scan_services(struct sqlite_store *s, const struct store_query *q,
                   struct table *names, struct error *err);

/* Every few rows: is the budget used up? */
bool scan_check(struct scan *c, struct error *err);

#endif

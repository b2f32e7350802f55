#ifndef STORE_READ_SCAN_H
#define STORE_READ_SCAN_H

#include "store/row.h"
#include "store/store.h"

/*
 * Visits every profile of a selection.
 *
 * An engine knows how to walk over its profiles (`struct scan_ops`); the
 * readers in this directory are the same for all engines.
 *
 * Rows come segment by segment: `segment` is called before the rows of a
 * dictionary, `segment_end` behind them.  The dictionary and everything in
 * the row are valid until then.
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

typedef bool scan_each_row(void *arg, const struct scan_row *row,
                           struct error *err);

struct scan {
    struct store *s;
    const struct store_query *q;
    const struct store_budget *budget;
    struct store_progress *progress;
    bool with_samples;
    bool with_changes; /* the reader looks at them: see STORE_CHANGES */
    /* Sums may stand for the profiles of whole minutes, hours or days. */
    bool use_sums;
    int64_t step_ns; /* but not beyond the step of the answer; 0: any */
    /* Rows that are not on this page need not come; NULL: all are wanted. */
    const struct store_page *page;

    bool (*segment)(void *arg, const struct dict *d, struct error *err);
    scan_each_row *row;
    /* `own` is the dictionary if the callee may keep it (and leave an empty
     * one behind), else NULL. */
    bool (*segment_end)(void *arg, struct dict *own, struct error *err);
    /* In place of all of these, for a reader that only counts: the profiles
     * of the row's series, in one call or in several.  The row has the texts
     * alone.  Blocks inside the range are not read. */
    bool (*count)(void *arg, const struct scan_row *row,
                  const struct scan_count *n, struct error *err);
    void *arg;

    /* The engine's. */
    struct store_progress own;
    int64_t cpu_start;
    unsigned since_check;
    enum store_status status;
    struct store_label *labels;
    size_t labels_cap;
    struct buf label_text;
};

/* What an engine does for the readers. */
struct scan_ops {
    enum store_status (*run)(struct scan *c, struct error *err);
    /* Calls `row` for the profile with this id, with its samples. */
    enum store_status (*find)(struct store *s, const struct store_id *id,
                              scan_each_row *row, void *arg, struct error *err);
    /* Appends the bytes of an opaque profile as they were sent. */
    enum store_status (*blob)(struct store *s, const struct store_id *id,
                              int64_t created_ns, struct buf *out,
                              struct error *err);
};

static inline enum store_status scan_run(struct scan *c, struct error *err)
{
    return c->s->scans->run(c, err);
}

/* Begins and ends counting what a scan costs; ending fills in the reader's
 * progress and returns the status. */
void scan_begin(struct scan *c);
enum store_status scan_end(struct scan *c, bool ok);

/* Call it every few rows: returns whether the budget is used up. */
bool scan_check(struct scan *c, struct error *err);

/* Hands over a row, or counts it where the reader only counts. */
bool scan_deliver(struct scan *c, struct scan_row *row,
                  const struct row_meta *m, const struct row_samples *samples,
                  const struct row_samples *before, struct error *err);
bool scan_begin_segment(struct scan *c, const struct dict *d,
                        struct error *err);
bool scan_end_segment(struct scan *c, struct dict *own, struct error *err);

/* Adds up; `to` begins as zeros. */
void scan_add_count(struct scan_count *to, const struct scan_count *n);

/* Returns true if a series belongs to the selection. */
bool query_matches(const struct store_query *q, struct str service,
                   struct str type, const struct store_label *labels, size_t n);
bool query_matches_service(const struct store_query *q, struct str service);

/* Packed labels as a list: key, value, key, value, each with its length. */
bool series_labels(struct str packed, struct store_label **labels, size_t *cap,
                   size_t *n);

/* Sets the error, and returns STORE_FAILED. */
enum store_status store_no_memory(struct error *err);

#endif

/*
 * What every engine's scan shares: budgets are watched here, so that no
 * reader has to, and rows are handed over here.
 */
#include "store/read/scan.h"

#include <stdlib.h>

#include "base/clock.h"
#include "store/header.h"
#include "store/pack.h"

enum { CHECK_EVERY = 64 }; /* rows */

enum store_status store_no_memory(struct error *err)
{
    error_set(err, "out of memory");
    return STORE_FAILED;
}

static bool out_of(struct scan *c, const char *limit, struct error *err)
{
    c->own.limit = limit;
    c->status = STORE_LIMITED;
    return error_set(err,
                     "the query's limit of %s is reached after %llu profiles",
                     limit, (unsigned long long)c->own.profiles);
}

bool scan_check(struct scan *c, struct error *err)
{
    const struct store_budget *b = c->budget;

    if (!b)
        return true;
    if (b->profiles && c->own.profiles > b->profiles)
        return out_of(c, "profiles", err);
    if (b->bytes && c->own.bytes > b->bytes)
        return out_of(c, "bytes", err);
    if (c->since_check++ % CHECK_EVERY)
        return true;
    if (b->cancelled && b->cancelled(b->arg)) {
        c->status = STORE_CANCELLED;
        return error_set(err, "the query was cancelled");
    }
    if (b->cpu_ns &&
        clock_ns(CLOCK_THREAD_CPUTIME_ID) - c->cpu_start > b->cpu_ns)
        return out_of(c, "CPU time", err);
    return true;
}

bool scan_deliver(struct scan *c, struct scan_row *row,
                  const struct row_meta *m, const struct row_samples *samples,
                  const struct row_samples *before, struct error *err)
{
    size_t types;

    c->own.profiles += m->profiles;
    c->own.bytes += samples ? samples->n * (8 + 8 * samples->columns) : 64;
    if (!scan_check(c, err))
        return false;
    if (c->count)
        return c->count(
            c->arg, row,
            &(struct scan_count){m->profiles, m->created_ns, m->created_ns},
            err);
    row->meta = m;
    row->samples = samples;
    row->before = m->flags & ROW_CHANGES ? before : NULL;
    if (!dict_header_types(row->d, m->header, &types, &row->cumulative))
        return error_set(err, "block: stored data are damaged");
    return c->row(c->arg, row, err);
}

bool scan_begin_segment(struct scan *c, const struct dict *d, struct error *err)
{
    return !c->segment || c->segment(c->arg, d, err);
}

bool scan_end_segment(struct scan *c, struct dict *own, struct error *err)
{
    return !c->segment_end || c->segment_end(c->arg, own, err);
}

void scan_add_count(struct scan_count *to, const struct scan_count *n)
{
    if (!to->profiles || n->first_ns < to->first_ns)
        to->first_ns = n->first_ns;
    if (!to->profiles || n->last_ns > to->last_ns)
        to->last_ns = n->last_ns;
    to->profiles += n->profiles;
}

void scan_begin(struct scan *c)
{
    c->status = STORE_OK;
    c->own = (struct store_progress){0};
    c->cpu_start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    c->label_text = BUF_INIT(STORE_BUF_BYTES);
}

enum store_status scan_end(struct scan *c, bool ok)
{
    free(c->labels);
    c->labels = NULL;
    c->labels_cap = 0;
    buf_release(&c->label_text);
    c->own.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - c->cpu_start;
    if (c->progress)
        *c->progress = c->own;
    if (!ok && c->status == STORE_OK)
        c->status = STORE_FAILED;
    return c->status;
}

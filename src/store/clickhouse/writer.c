/*
 * The writer gathers what waits into batches and inserts them, one after
 * another: a record that counts as sent is in an earlier batch or in the same
 * one.  Within a batch the records go first, so that whoever finds a profile
 * finds what it refers to.
 *
 * An insert that failed may have happened nevertheless.  It is repeated as it
 * is: the second row of a profile has the same id.
 */
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/thread.h"
#include "store/clickhouse/engine.h"
#include "store/pack.h"

#define RETRY_NS (SECOND / 5)

static const struct str insert_records =
    STR_INIT("INSERT INTO pprofd_records (week, service, kind, id, refs, "
             "record) FORMAT RowBinary");
static const struct str insert_rows =
    STR_INIT("INSERT INTO pprofd_profiles (day, service, type, created, id, "
             "series, label_keys, label_values, header, cumulative, image, "
             "flags, time, duration, period, posted, samples, totals, extras, "
             "extra_refs, stacks, labels, v0, v1, v2, v3, more, blob) FORMAT "
             "RowBinary");

static enum store_status insert(struct ch_store *s, struct str sql,
                                struct str data, struct error *err)
{
    struct ch_request r = {.sql = sql,
                           .data = data,
                           .timeout_ns = s->ch.insert_timeout_ns,
                           .is_sync = s->cluster != NULL};

    return data.n ? ch_run(s->client, &r, err) : STORE_OK;
}

enum store_status ch_insert(struct ch_store *s, struct str records,
                            struct str rows, struct error *err)
{
    enum store_status status = ch_prepare(s, err);

    if (status == STORE_OK)
        status = insert(s, insert_records, records, err);
    if (status == STORE_OK)
        status = insert(s, insert_rows, rows, err);
    return status;
}

/* --- one batch ------------------------------------------------------------ */

struct batch {
    struct ch_entry *first, **last;
    size_t n;
    struct buf records, rows;
};

static void settle(struct ch_store *s, struct ch_entry *e,
                   enum store_status status, const struct error *err)
{
    pthread_mutex_lock(&s->stats_lock);
    if (status != STORE_OK) { /* it was counted when it was queued */
        s->stats.puts--;
        s->stats.busy += status == STORE_BUSY;
        s->stats.failed += status != STORE_BUSY;
    } else {
        s->stats.dropped_labels += e->receipt.dropped_labels;
    }
    pthread_mutex_unlock(&s->stats_lock);
    e->done(e->arg, status, &e->receipt, status == STORE_OK ? NULL : err);
    ch_unreserve(s, e->reserved);
    ch_entry_free(e);
}

/* Entries whose records were in a batch that has been given up. */
static void refuse_stale(struct ch_store *s, struct batch *b)
{
    unsigned epoch = atomic_load(&s->epoch);
    struct ch_entry **at = &b->first;
    struct error err;

    error_set(&err, "ClickHouse could not be written; try again");
    while (*at) {
        struct ch_entry *e = *at;

        if (e->epoch == epoch) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        b->n--;
        settle(s, e, STORE_BUSY, &err);
    }
    b->last = at;
}

static bool is_closing(struct ch_store *s)
{
    bool closing;

    pthread_mutex_lock(&s->queue);
    closing = s->closing;
    pthread_mutex_unlock(&s->queue);
    return closing;
}

/* Repeats what may succeed later, for a while. */
static enum store_status insert_patiently(struct ch_store *s, struct batch *b,
                                          struct error *err)
{
    int64_t end = clock_monotonic_ns() + s->ch.insert_timeout_ns;
    struct timespec pause = clock_timespec(RETRY_NS);

    for (;;) {
        enum store_status status =
            ch_insert(s, buf_str(&b->records), buf_str(&b->rows), err);

        if (status != STORE_BUSY || s->wal || is_closing(s) ||
            clock_monotonic_ns() > end)
            return status;
        nanosleep(&pause, NULL);
    }
}

static enum store_status write_batch(struct ch_store *s, struct batch *b,
                                     struct error *err)
{
    enum store_status status = STORE_BUSY;

    for (struct ch_entry *e = b->first; e; e = e->next) {
        buf_add(&b->records, buf_str(&e->records));
        buf_add(&b->rows, buf_str(&e->row));
    }
    if (!buf_ok(&b->records) || !buf_ok(&b->rows))
        return store_no_memory(err);
    /* Behind what waits in the log, since it may refer to that. */
    if (!s->wal || ch_wal_is_empty(s))
        status = insert_patiently(s, b, err);
    if (status != STORE_OK && s->wal) {
        ch_background_error(s, err);
        status =
            ch_wal_add(s, buf_str(&b->records), buf_str(&b->rows), b->n, err);
    }
    return status;
}

static void run_batch(struct ch_store *s, struct batch *b)
{
    struct error err = {.text = ""};
    enum store_status status = STORE_OK;
    int64_t start = clock_monotonic_ns(), took;

    b->records = b->rows = BUF_INIT(STORE_BUF_BYTES);
    refuse_stale(s, b);
    if (b->first)
        status = write_batch(s, b, &err);
    took = clock_monotonic_ns() - start;
    if (status != STORE_OK) {
        atomic_fetch_add(&s->epoch, 1);
        ch_background_error(s, &err);
    }
    pthread_mutex_lock(&s->stats_lock);
    s->stats.commits += b->first != NULL;
    s->stats.commit_ns_total += (uint64_t)took;
    if (s->stats.commit_ns_max < (uint64_t)took)
        s->stats.commit_ns_max = (uint64_t)took;
    pthread_mutex_unlock(&s->stats_lock);
    while (b->first) {
        struct ch_entry *e = b->first;

        b->first = e->next;
        settle(s, e, status, &err);
    }
    buf_release(&b->records);
    buf_release(&b->rows);
}

/* --- the thread ----------------------------------------------------------- */

void ch_enqueue(struct ch_store *s, struct ch_entry *e)
{
    pthread_mutex_lock(&s->queue);
    e->next = NULL;
    *s->last = e;
    s->last = &e->next;
    s->waiting++;
    s->waiting_bytes += e->row.len + e->records.len;
    pthread_cond_signal(&s->queue_grew);
    pthread_mutex_unlock(&s->queue);
}

static bool is_enough(const struct ch_store *s)
{
    return s->closing || s->waiting >= s->ch.batch_profiles ||
           s->waiting_bytes >= s->ch.batch_bytes;
}

/* Waits for company, then takes as much as a batch may have.  False: there
 * is nothing left and nothing will come. */
static bool gather(struct ch_store *s, struct batch *b)
{
    size_t bytes = 0;
    struct timespec until;

    *b = (struct batch){.last = &b->first};
    pthread_mutex_lock(&s->queue);
    while (!s->waiting && !s->closing)
        pthread_cond_wait(&s->queue_grew, &s->queue);
    until = clock_timespec(clock_monotonic_ns() + s->ch.batch_wait_ns);
    while (!is_enough(s))
        if (pthread_cond_timedwait(&s->queue_grew, &s->queue, &until))
            break;
    while (s->first && b->n < s->ch.batch_profiles &&
           (b->n == 0 || bytes < s->ch.batch_bytes)) {
        struct ch_entry *e = s->first;
        size_t size = e->row.len + e->records.len;

        s->first = e->next;
        if (!s->first)
            s->last = &s->first;
        s->waiting--;
        s->waiting_bytes -= size;
        bytes += size;
        e->next = NULL;
        *b->last = e;
        b->last = &e->next;
        b->n++;
    }
    pthread_mutex_unlock(&s->queue);
    return b->n > 0;
}

static void *write_loop(void *arg)
{
    struct ch_store *s = arg;
    struct batch b;

    while (gather(s, &b))
        run_batch(s, &b);
    return NULL;
}

bool ch_writer_start(struct ch_store *s, struct error *err)
{
    s->has_writer = pthread_create(&s->writer, NULL, write_loop, s) == 0;
    return s->has_writer || error_set(err, "no thread for writing");
}

void ch_writer_stop(struct ch_store *s)
{
    if (!s->has_writer)
        return;
    pthread_mutex_lock(&s->queue);
    s->closing = true;
    pthread_cond_signal(&s->queue_grew);
    pthread_mutex_unlock(&s->queue);
    pthread_join(s->writer, NULL);
    s->has_writer = false;
}

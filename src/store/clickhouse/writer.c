/*
 * Writers gather what waits into batches and insert them, several at a time,
 * so that ClickHouse is busy while the next one is on its way.
 *
 * Whoever finds a profile must find the records that it refers to.  They are
 * in the profile's batch or in one that was gathered before it.  So a batch
 * inserts its records first and then waits for its turn: until all earlier
 * batches have inserted theirs.  Then it inserts its rows.
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

enum { SMALL_PART = 8 }; /* a batch is small below this part of the largest */

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
    enum store_status status = data.n ? ch_run(s->client, &r, err) : STORE_OK;

    ch_note_write(s, status, err);
    return status;
}

static enum store_status put_records(struct ch_store *s, struct str records,
                                     struct error *err)
{
    enum store_status status = ch_prepare(s, err);

    return status == STORE_OK ? insert(s, insert_records, records, err)
                              : status;
}

static enum store_status put_rows(struct ch_store *s, struct str rows,
                                  struct error *err)
{
    return insert(s, insert_rows, rows, err);
}

enum store_status ch_insert(struct ch_store *s, struct str records,
                            struct str rows, struct error *err)
{
    enum store_status status = put_records(s, records, err);

    return status == STORE_OK ? put_rows(s, rows, err) : status;
}

/* --- one batch ------------------------------------------------------------ */

struct batch {
    uint64_t number; /* in the order in which they were gathered */
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
    put_gate_leave(&s->gate, e->reserved);
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
static enum store_status patiently(struct ch_store *s,
                                   enum store_status (*what)(struct ch_store *,
                                                             struct str,
                                                             struct error *),
                                   const struct buf *data, struct error *err)
{
    int64_t end = clock_monotonic_ns() + s->ch.insert_timeout_ns;
    struct timespec pause = clock_timespec(RETRY_NS);

    for (;;) {
        enum store_status status = what(s, buf_str(data), err);

        if (status != STORE_BUSY || s->wal || is_closing(s) ||
            clock_monotonic_ns() > end)
            return status;
        nanosleep(&pause, NULL);
    }
}

/* To the log, after ClickHouse did not take it. */
static enum store_status log_batch(struct ch_store *s, struct batch *b,
                                   struct error *err)
{
    enum store_status status;

    if (err->text[0])
        ch_background_error(s, err);
    pthread_mutex_lock(&s->log);
    status = ch_wal_add(s, buf_str(&b->records), buf_str(&b->rows), b->n, err);
    pthread_mutex_unlock(&s->log);
    return status;
}

static void wait_for_turn(struct ch_store *s, const struct batch *b)
{
    pthread_mutex_lock(&s->queue);
    while (s->turn != b->number)
        pthread_cond_wait(&s->turned, &s->queue);
    pthread_mutex_unlock(&s->queue);
}

static void end_turn(struct ch_store *s)
{
    pthread_mutex_lock(&s->queue);
    s->turn++;
    pthread_cond_broadcast(&s->turned);
    pthread_mutex_unlock(&s->queue);
}

/*
 * Everything until the batch's records are safe.  `is_logged`: and its rows,
 * since they are in the log, behind what they may refer to.
 */
static enum store_status write_records(struct ch_store *s, struct batch *b,
                                       bool *is_logged, struct error *err)
{
    enum store_status status = STORE_BUSY;

    for (struct ch_entry *e = b->first; e; e = e->next)
        buf_add(&b->records, buf_str(&e->records));
    if (!buf_ok(&b->records))
        status = store_no_memory(err);
    else if (!s->wal || ch_wal_is_empty(s))
        status = patiently(s, put_records, &b->records, err);
    wait_for_turn(s, b);
    refuse_stale(s, b);
    for (struct ch_entry *e = b->first; e; e = e->next)
        buf_add(&b->rows, buf_str(&e->row));
    if (!buf_ok(&b->records) || !buf_ok(&b->rows))
        status = store_no_memory(err);
    else if (b->first && s->wal &&
             (status != STORE_OK || !ch_wal_is_empty(s))) {
        status = log_batch(s, b, err);
        *is_logged = true;
    }
    if (status != STORE_OK)
        atomic_fetch_add(&s->epoch, 1);
    end_turn(s);
    return status;
}

static enum store_status write_batch(struct ch_store *s, struct batch *b,
                                     struct error *err)
{
    bool is_logged = false;
    enum store_status status = write_records(s, b, &is_logged, err);

    if (status != STORE_OK || is_logged || !b->first)
        return status;
    status = patiently(s, put_rows, &b->rows, err);
    return status != STORE_OK && s->wal ? log_batch(s, b, err) : status;
}

static void count_batch(struct ch_store *s, const struct batch *b,
                        int64_t took_ns)
{
    pthread_mutex_lock(&s->stats_lock);
    s->stats.commits += b->first != NULL;
    s->stats.commit_ns_total += (uint64_t)took_ns;
    if (s->stats.commit_ns_max < (uint64_t)took_ns)
        s->stats.commit_ns_max = (uint64_t)took_ns;
    pthread_mutex_unlock(&s->stats_lock);
}

static void run_batch(struct ch_store *s, struct batch *b)
{
    struct error err = {.text = ""};
    int64_t start = clock_monotonic_ns();
    enum store_status status;

    b->records = b->rows = BUF_INIT(STORE_BUF_BYTES);
    status = write_batch(s, b, &err);
    if (status != STORE_OK)
        ch_background_error(s, &err);
    count_batch(s, b, clock_monotonic_ns() - start);
    while (b->first) {
        struct ch_entry *e = b->first;

        b->first = e->next;
        settle(s, e, status, &err);
    }
    buf_release(&b->records);
    buf_release(&b->rows);
}

/* --- the threads ---------------------------------------------------------- */

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

/* Returns true if at least this part of the largest batch is waiting. */
static bool has_part(const struct ch_store *s, size_t part)
{
    return s->waiting >= s->ch.batch_profiles / part ||
           s->waiting_bytes >= s->ch.batch_bytes / part;
}

/*
 * An insert costs ClickHouse much the same whether it is small or large.  So
 * as long as another one is on its way, a small batch waits for more.
 */
static void wait_for_company(struct ch_store *s)
{
    struct timespec until =
        clock_timespec(clock_monotonic_ns() + s->ch.batch_wait_ns);
    bool has_waited = false;

    while (!s->closing && !has_part(s, 1)) {
        if (!has_waited)
            has_waited =
                pthread_cond_timedwait(&s->queue_grew, &s->queue, &until) != 0;
        else if (s->inserting && !has_part(s, SMALL_PART))
            pthread_cond_wait(&s->queue_grew, &s->queue);
        else
            break;
    }
}

/* Waits for company, then takes as much as a batch may have.  False: there
 * is nothing left and nothing will come. */
static bool gather_alone(struct ch_store *s, struct batch *b)
{
    size_t bytes = 0;

    *b = (struct batch){.last = &b->first};
    pthread_mutex_lock(&s->queue);
    while (!s->waiting && !s->closing)
        pthread_cond_wait(&s->queue_grew, &s->queue);
    wait_for_company(s);
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
    if (b->n) {
        b->number = s->next_batch++;
        s->inserting++;
    }
    pthread_mutex_unlock(&s->queue);
    return b->n > 0;
}

/* One writer gathers at a time; the others insert. */
static bool gather(struct ch_store *s, struct batch *b)
{
    bool ok;

    pthread_mutex_lock(&s->gathering);
    ok = gather_alone(s, b);
    pthread_mutex_unlock(&s->gathering);
    return ok;
}

static void *write_loop(void *arg)
{
    struct ch_store *s = arg;
    struct batch b;

    while (gather(s, &b)) {
        run_batch(s, &b);
        pthread_mutex_lock(&s->queue);
        s->inserting--;
        pthread_cond_signal(&s->queue_grew);
        pthread_mutex_unlock(&s->queue);
    }
    return NULL;
}

bool ch_writers_start(struct ch_store *s, struct error *err)
{
    while (s->n_writers < WRITERS) {
        if (pthread_create(&s->writers[s->n_writers], NULL, write_loop, s) != 0)
            return error_set(err, "no thread for writing");
        s->n_writers++;
    }
    return true;
}

void ch_writers_stop(struct ch_store *s)
{
    pthread_mutex_lock(&s->queue);
    s->closing = true;
    pthread_cond_signal(&s->queue_grew);
    pthread_mutex_unlock(&s->queue);
    while (s->n_writers)
        pthread_join(s->writers[--s->n_writers], NULL);
}

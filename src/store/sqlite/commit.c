/*
 * The commit thread: takes what waits, writes it as one row of the log, and
 * tells everybody when it is on disk.
 *
 * A commit that fails leaves dictionaries in memory that the log does not
 * have.  Entries behind it that rely on them fail too (their epoch is old),
 * and the next entry of the segment brings the missing part along.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/thread.h"
#include "store/pack.h"
#include "store/sqlite/engine.h"

const char head_schema[] = "CREATE TABLE log(seq INTEGER PRIMARY KEY, b BLOB);"
                           "CREATE TABLE blob(id BLOB PRIMARY KEY, b BLOB)";

void entry_free(struct entry *e)
{
    buf_release(&e->bytes);
    buf_release(&e->blob);
    free(e);
}

/* Not against malice: against disks. */
uint64_t log_checksum(struct str bytes)
{
    return str_hash_seeded(bytes, 0x6c6f67);
}

void commit_enqueue(struct sqlite_store *s, struct entry *e)
{
    pthread_mutex_lock(&s->queue);
    *s->last = e;
    s->last = &e->next;
    s->waiting++;
    /* In between the commit thread waits for its time to be up. */
    if (s->waiting == 1 || s->waiting >= s->opt.commit_profiles)
        pthread_cond_signal(&s->queue_grew);
    pthread_mutex_unlock(&s->queue);
}

/* Waits for company, but not for long. */
static void wait_for_more(struct sqlite_store *s)
{
    struct timespec until =
        clock_timespec(clock_monotonic_ns() + s->opt.commit_wait_ns);

    while (s->waiting < s->opt.commit_profiles && !s->closing)
        if (pthread_cond_timedwait(&s->queue_grew, &s->queue, &until) ==
            ETIMEDOUT)
            break;
}

/* The next batch; NULL when the store closes and nothing waits. */
static struct entry *take_batch(struct sqlite_store *s)
{
    struct entry *batch, **end;
    size_t n = 0;

    pthread_mutex_lock(&s->queue);
    while (!s->first && !s->closing)
        pthread_cond_wait(&s->queue_grew, &s->queue);
    if (s->first)
        wait_for_more(s);
    batch = s->first;
    for (end = &batch; *end && n < s->opt.commit_profiles; n++)
        end = &(*end)->next;
    s->first = *end;
    if (!s->first)
        s->last = &s->first;
    s->waiting -= n;
    *end = NULL;
    pthread_mutex_unlock(&s->queue);
    return batch;
}

static bool insert_blob(struct sqlite_store *s, const struct entry *e,
                        struct error *err)
{
    db_bind_str(s->insert_blob, 1,
                str_of((const char *)e->receipt.id.bytes, STORE_ID_BYTES));
    db_bind_str(s->insert_blob, 2, buf_str(&e->blob));
    return db_run(s->head, s->insert_blob, "write", err);
}

static bool write_batch(struct sqlite_store *s, struct entry *const *entries,
                        size_t n, struct error *err)
{
    struct buf record = BUF_INIT(STORE_BUF_BYTES);
    uint64_t sum;
    bool ok = true;

    buf_add_pad(&record, 0, sizeof(sum));
    for (size_t i = 0; i < n; i++)
        pack_bytes(&record, buf_str(&entries[i]->bytes));
    if (!buf_ok(&record)) {
        buf_release(&record);
        return error_set(err, "out of memory");
    }
    sum = log_checksum(str_skip(buf_str(&record), sizeof(sum)));
    memcpy(record.data, &sum, sizeof(sum));
    for (size_t i = 0; ok && i < n; i++)
        ok = !entries[i]->is_opaque || insert_blob(s, entries[i], err);
    sqlite3_bind_int64(s->insert_log, 1, s->next_seq);
    db_bind_str(s->insert_log, 2, buf_str(&record));
    ok = ok && db_run(s->head, s->insert_log, "write", err);
    if (ok)
        atomic_fetch_add(&s->log_bytes, (long long)record.len);
    buf_release(&record);
    return ok;
}

static bool commit(struct sqlite_store *s, struct entry *const *entries,
                   size_t n, struct error *err)
{
    int64_t start = clock_monotonic_ns(), took;
    struct error ignored;
    bool ok;

    pthread_mutex_lock(&s->head_lock);
    ok = db_exec(s->head, "BEGIN IMMEDIATE", err);
    if (ok) {
        ok = write_batch(s, entries, n, err) && db_exec(s->head, "COMMIT", err);
        if (!ok)
            db_exec(s->head, "ROLLBACK", &ignored);
    }
    if (ok)
        s->next_seq++;
    pthread_mutex_unlock(&s->head_lock);
    took = clock_monotonic_ns() - start;
    pthread_mutex_lock(&s->stats_lock);
    s->stats.commits += ok;
    s->stats.commit_ns_total += (uint64_t)took;
    if ((uint64_t)took > s->stats.commit_ns_max)
        s->stats.commit_ns_max = (uint64_t)took;
    s->stats.failed += ok ? 0 : n;
    pthread_mutex_unlock(&s->stats_lock);
    return ok;
}

/* Returns true if the entry depends on something that could not be written. */
static bool is_stale(struct entry *e)
{
    bool stale;

    pthread_mutex_lock(&e->service->lock);
    stale = e->epoch != e->segment->epoch;
    pthread_mutex_unlock(&e->service->lock);
    return stale;
}

static void settle(struct sqlite_store *s, struct entry *e, bool ok,
                   int64_t seq, const struct error *err)
{
    struct open_segment *g = e->segment;

    pthread_mutex_lock(&e->service->lock);
    e->row->state = ok ? ROW_DONE : ROW_FAILED;
    g->pending--;
    if (ok && !g->first_seq)
        g->first_seq = seq;
    if (!ok && e->epoch == g->epoch) {
        g->epoch++;
        g->logged = e->before;
        open_segment_forget(g);
    }
    pthread_mutex_unlock(&e->service->lock);
    if (ok)
        change_clock_count(&s->changes, e->receipt.created_at_ns);
    e->done(e->arg, ok ? STORE_OK : STORE_FAILED, &e->receipt, ok ? NULL : err);
    pthread_mutex_lock(&s->stats_lock);
    s->stats.dropped_labels += e->receipt.dropped_labels;
    pthread_mutex_unlock(&s->stats_lock);
    put_gate_leave(&s->gate, e->reserved);
    service_put(s, e->service);
    entry_free(e);
}

static void commit_batch(struct sqlite_store *s, struct entry *batch,
                         struct entry **fresh)
{
    struct error err;
    struct entry *next;
    int64_t seq = s->next_seq;
    size_t n = 0;
    bool ok;

    for (struct entry *e = batch; e; e = next) {
        next = e->next;
        if (is_stale(e)) {
            error_set(&err, "an earlier profile of the service could not be "
                            "written");
            settle(s, e, false, 0, &err);
        } else {
            fresh[n++] = e;
        }
    }
    if (n == 0)
        return;
    ok = commit(s, fresh, n, &err);
    for (size_t i = 0; i < n; i++)
        settle(s, fresh[i], ok, seq, &err);
    if (ok)
        atomic_store(&s->settled_seq, seq);
}

static void *run(void *arg)
{
    struct sqlite_store *s = arg;
    struct entry *batch;

    while ((batch = take_batch(s)))
        commit_batch(s, batch, s->batch);
    return NULL;
}

static int note_wal(void *arg, sqlite3 *db, const char *name, int pages)
{
    struct sqlite_store *s = arg;

    (void)name;
    atomic_store(&s->wal_pages, pages);
    if (s->opt.no_background && pages > WAL_PAGES)
        sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL,
                                  NULL);
    return SQLITE_OK;
}

bool commit_start(struct sqlite_store *s, struct error *err)
{
    int rc;

    s->insert_log = db_prepare(s->head, "INSERT INTO log VALUES(?,?)", err);
    s->insert_blob =
        db_prepare(s->head, "INSERT OR REPLACE INTO blob VALUES(?,?)", err);
    s->batch = calloc(s->opt.commit_profiles, sizeof(*s->batch));
    if (!s->insert_log || !s->insert_blob)
        return false;
    if (!s->batch)
        return error_set(err, "out of memory");
    sqlite3_wal_hook(s->head, note_wal, s);
    rc = thread_start(&s->committer, "store-commit", 256 * 1024, run, s);
    if (rc)
        return error_set_os(err, "start", "commit thread", rc);
    s->has_committer = true;
    return true;
}

void commit_stop(struct sqlite_store *s)
{
    if (s->has_committer) {
        pthread_mutex_lock(&s->queue);
        s->closing = true;
        pthread_cond_signal(&s->queue_grew);
        pthread_mutex_unlock(&s->queue);
        pthread_join(s->committer, NULL);
    }
    sqlite3_finalize(s->insert_log);
    sqlite3_finalize(s->insert_blob);
    free(s->batch);
}

/*
 * The log of head.db once it has been written: what is sealed goes from it,
 * and its file gets shorter.
 *
 * Rows go in the order of their coming, up to the oldest that some open
 * segment needs.  Rows behind that may belong to segments that are sealed
 * already, and a part of such a segment cannot be read.  Therefore a mark
 * in head.db says for each of them that it is complete in the day files.  The
 * marks do not depend on these files, which retention may delete before the
 * log has got so far.
 */
#include <stdio.h>

#include "store/sqlite/engine.h"

bool marks_open(struct sqlite_store *s, struct error *err)
{
    return db_exec(s->head,
                   "CREATE TABLE IF NOT EXISTS sealed(service BLOB, generation "
                   "INTEGER, seq INTEGER, PRIMARY KEY(service, generation)) "
                   "WITHOUT ROWID",
                   err);
}

/* No row of the log from now on is of the segment. */
bool mark_sealed(struct sqlite_store *s, struct str service,
                 uint64_t generation, struct error *err)
{
    sqlite3_stmt *st;
    bool ok;

    pthread_mutex_lock(&s->head_lock);
    st =
        db_prepare(s->head, "INSERT OR REPLACE INTO sealed VALUES(?,?,?)", err);
    ok = st != NULL;
    if (ok) {
        db_bind_str(st, 1, service);
        sqlite3_bind_int64(st, 2, (int64_t)generation);
        sqlite3_bind_int64(st, 3, s->next_seq - 1);
        ok = db_run(s->head, st, "write", err);
    }
    sqlite3_finalize(st);
    pthread_mutex_unlock(&s->head_lock);
    return ok;
}

static bool trim_marks(struct sqlite_store *s, int64_t below, struct error *err)
{
    char sql[80];
    bool ok;

    snprintf(sql, sizeof(sql), "DELETE FROM sealed WHERE seq<%lld",
             (long long)below);
    pthread_mutex_lock(&s->head_lock);
    ok = db_exec(s->head, sql, err);
    pthread_mutex_unlock(&s->head_lock);
    return ok;
}

static bool oldest(struct service *v, void *arg)
{
    int64_t *min = arg;
    struct open_segment *list[2];

    pthread_mutex_lock(&v->lock);
    list[0] = v->open;
    list[1] = v->sealing;
    for (int i = 0; i < 2; i++)
        if (list[i] && list[i]->first_seq && list[i]->first_seq < *min)
            *min = list[i]->first_seq;
    pthread_mutex_unlock(&v->lock);
    return true;
}

/* In small transactions, so that commits are not held up. */
static bool trim_some(struct sqlite_store *s, int64_t below, bool *more,
                      struct error *err)
{
    char sql[160];
    bool ok;

    snprintf(sql, sizeof(sql),
             "DELETE FROM log WHERE seq IN (SELECT seq FROM log WHERE "
             "seq<%lld LIMIT 16)",
             (long long)below);
    pthread_mutex_lock(&s->head_lock);
    ok = db_exec(s->head, sql, err);
    *more = ok && sqlite3_changes(s->head) == 16;
    pthread_mutex_unlock(&s->head_lock);
    return ok;
}

static bool measure_log(struct sqlite_store *s, struct error *err)
{
    sqlite3_stmt *st;
    bool more, ok;

    pthread_mutex_lock(&s->head_lock);
    st = db_prepare(s->head, "SELECT total(length(b)) FROM log", err);
    ok = st && db_step(s->head, st, &more, "read", err);
    if (ok)
        atomic_store(&s->log_bytes, sqlite3_column_int64(st, 0));
    sqlite3_finalize(st);
    pthread_mutex_unlock(&s->head_lock);
    return ok;
}

/*
 * Gives the free pages of head.db back to the file system, but only when they
 * are the larger part of it: the next profiles will need some again.  A step
 * under the lock moves few pages, so that commits are not held up; `pages` is
 * the size before it, and a step that changed nothing is the last.
 */
static bool shrink_some(struct sqlite_store *s, int64_t *pages, bool *more,
                        struct error *err)
{
    int64_t before = *pages, unused;
    bool ok;

    pthread_mutex_lock(&s->head_lock);
    ok = db_number(s->head, "PRAGMA page_count", pages, err) &&
         db_number(s->head, "PRAGMA freelist_count", &unused, err);
    *more = ok && unused > *pages / 2 && *pages < before;
    if (*more)
        ok = db_exec(s->head, "PRAGMA incremental_vacuum(128)", err);
    pthread_mutex_unlock(&s->head_lock);
    return ok;
}

/* The file gets shorter when its pages come back from the WAL. */
static bool shrink_head(struct sqlite_store *s, struct error *err)
{
    bool more = true, ok = true, shrunk = false;
    int64_t pages = INT64_MAX;

    while (ok && (ok = shrink_some(s, &pages, &more, err)) && more)
        shrunk = true;
    if (ok && shrunk)
        sqlite3_wal_checkpoint_v2(s->checkpointer, NULL,
                                  SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    return ok;
}

/* Only rows whose entries have all been marked: the others are not known to
 * their segments yet. */
bool trim_log(struct sqlite_store *s, struct error *err)
{
    int64_t below = atomic_load(&s->settled_seq) + 1;
    bool more = true, ok = true;

    service_each(s, oldest, &below);
    while (ok && more)
        ok = trim_some(s, below, &more, err);
    return ok && trim_marks(s, below, err) && measure_log(s, err) &&
           shrink_head(s, err);
}

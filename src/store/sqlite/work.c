/*
 * The background thread: one bounded step after another, the most urgent
 * kind first, and a short rest when there is nothing to do.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"
#include "store/sqlite/engine.h"

enum { REST_MS = 200, REST_AFTER_ERROR_MS = 2000 };

/* Moves the log's pages into head.db, beside the commits. */
static bool checkpoint_step(struct sqlite_store *s)
{
    if (s->opt.no_background || atomic_load(&s->wal_pages) < WAL_PAGES)
        return false;
    atomic_store(&s->wal_pages, 0);
    sqlite3_wal_checkpoint_v2(s->checkpointer, NULL, SQLITE_CHECKPOINT_PASSIVE,
                              NULL, NULL);
    return true;
}

/* Steps that put sums in the place of profiles, or remove them.  What they did
 * before they failed counts, too. */
static bool replacing_step(struct sqlite_store *s, bool *did, struct error *err)
{
    bool ok =
        downsample_step(s, did, err) && (*did || retain_step(s, did, err));

    if (*did || !ok)
        change_clock_count_all(&s->changes);
    return ok;
}

static bool work(struct sqlite_store *s, bool *did, struct error *err)
{
    static bool (*const steps[])(struct sqlite_store *, bool *,
                                 struct error *) = {seal_step, compact_step,
                                                    replacing_step};

    *did = checkpoint_step(s);
    for (size_t i = 0; !*did && i < sizeof(steps) / sizeof(*steps); i++)
        if (!steps[i](s, did, err))
            return false;
    return true;
}

bool sqlite_store_work(struct store *store)
{
    struct sqlite_store *s = engine_of(store);
    struct error err;
    bool did = false, ok;

    pthread_mutex_lock(&s->work_lock);
    ok = work(s, &did, &err);
    pthread_mutex_unlock(&s->work_lock);
    if (!ok)
        engine_background_error(s, &err);
    return ok && did;
}

struct sealing_all {
    struct sqlite_store *s;
    struct error *err;
};

static bool seal_one(struct service *v, void *arg)
{
    struct sealing_all *k = arg;

    /* Twice: what waits from before must be first. */
    return seal_service(k->s, v, k->err) && seal_service(k->s, v, k->err);
}

bool sqlite_store_seal_all(struct store *store, struct error *err)
{
    struct sqlite_store *s = engine_of(store);
    struct sealing_all k = {s, err};
    bool ok;

    pthread_mutex_lock(&s->work_lock);
    ok = service_each(s, seal_one, &k) && trim_log(s, err);
    pthread_mutex_unlock(&s->work_lock);
    return ok;
}

static void *run(void *arg)
{
    struct sqlite_store *s = arg;
    struct error err;

    pthread_mutex_lock(&s->work_lock);
    while (!s->work_stop) {
        bool did = false, ok = work(s, &did, &err);
        struct timespec until;

        if (!ok)
            engine_background_error(s, &err);
        if (ok && did)
            continue;
        until = clock_timespec(clock_monotonic_ns() +
                               (int64_t)(ok ? REST_MS : REST_AFTER_ERROR_MS) *
                                   1000000);
        pthread_cond_timedwait(&s->work_wake, &s->work_lock, &until);
    }
    pthread_mutex_unlock(&s->work_lock);
    return NULL;
}

bool worker_start(struct sqlite_store *s, struct error *err)
{
    int rc;

    if (s->opt.no_background)
        return true;
    rc = thread_start(&s->worker, "store-work", 512 * 1024, run, s);
    if (rc)
        return error_set_os(err, "start", "background thread", rc);
    s->has_worker = true;
    return true;
}

void worker_stop(struct sqlite_store *s)
{
    if (!s->has_worker)
        return;
    pthread_mutex_lock(&s->work_lock);
    s->work_stop = true;
    pthread_cond_signal(&s->work_wake);
    pthread_mutex_unlock(&s->work_lock);
    pthread_join(s->worker, NULL);
}

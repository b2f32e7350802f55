/*
 * A thread that loads and sleeps, and a lock around its last result.  Each
 * result has an arena of its own, which the next one replaces.
 */
#include "collector/scrape/refresh.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"

#define STACK ((size_t)512 << 10)

struct refresh {
    struct refresh_source source;
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t wake;
    bool stops;
    uint64_t version;
    struct arena *arena; /* of targets; NULL: none yet */
    struct scrape_targets targets;
    bool has_failed;
    struct error failure;
};

/* --- the thread ----------------------------------------------------------- */

static void refresh_once(struct refresh *r)
{
    struct arena *a = arena_new(), *old = a;
    struct scrape_targets targets = {0};
    struct error err;
    bool same = false;
    bool ok = r->source.load(r->source.self, a, &targets, &same, &err);

    if (!ok && (!r->has_failed || strcmp(err.text, r->failure.text) != 0))
        log_warn("discovery failed; the last targets remain",
                 log_text("mechanism", r->source.name), log_failure(&err));
    pthread_mutex_lock(&r->lock);
    r->has_failed = !ok;
    if (!ok)
        r->failure = err;
    if (ok && !same) {
        old = r->arena;
        r->arena = a;
        r->targets = targets;
        r->version++;
    }
    pthread_mutex_unlock(&r->lock);
    arena_free(old);
}

static void pause_for(struct refresh *r)
{
    struct timespec until =
        clock_timespec(clock_monotonic_ns() + r->source.interval_ns);

    pthread_mutex_lock(&r->lock);
    while (!r->stops && pthread_cond_timedwait(&r->wake, &r->lock, &until) == 0)
        ;
    pthread_mutex_unlock(&r->lock);
}

static bool must_stop(struct refresh *r)
{
    bool stops;

    pthread_mutex_lock(&r->lock);
    stops = r->stops;
    pthread_mutex_unlock(&r->lock);
    return stops;
}

static void *run(void *arg)
{
    struct refresh *r = arg;

    while (!must_stop(r)) {
        refresh_once(r);
        pause_for(r);
    }
    return NULL;
}

/* --- the discovery -------------------------------------------------------- */

static uint64_t version(void *d)
{
    struct refresh *r = d;
    uint64_t v;

    pthread_mutex_lock(&r->lock);
    v = r->version;
    pthread_mutex_unlock(&r->lock);
    return v;
}

static bool snapshot(void *d, struct arena *a, struct label_set **out,
                     size_t *n, struct error *err)
{
    struct refresh *r = d;

    (void)err;
    pthread_mutex_lock(&r->lock);
    *n = r->targets.list.n;
    *out = arena_new_array(a, struct label_set, *n);
    for (size_t i = 0; i < *n; i++)
        (*out)[i] = label_set_copy(a, &r->targets.list.v[i]);
    pthread_mutex_unlock(&r->lock);
    return true;
}

static bool failure(void *d, struct error *out)
{
    struct refresh *r = d;
    bool has_failed;

    pthread_mutex_lock(&r->lock);
    has_failed = r->has_failed;
    if (has_failed)
        *out = r->failure;
    pthread_mutex_unlock(&r->lock);
    return has_failed;
}

static void release(struct refresh *r)
{
    r->source.free(r->source.self);
    arena_free(r->arena);
    pthread_cond_destroy(&r->wake);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

static void refresh_free(void *d)
{
    struct refresh *r = d;

    pthread_mutex_lock(&r->lock);
    r->stops = true;
    pthread_cond_signal(&r->wake);
    pthread_mutex_unlock(&r->lock);
    pthread_join(r->thread, NULL);
    release(r);
}

static const struct discovery_ops ops = {.version = version,
                                         .snapshot = snapshot,
                                         .failure = failure,
                                         .free = refresh_free};

bool refresh_new(const struct refresh_source *source, struct discovery *out,
                 struct error *err)
{
    struct refresh *r = calloc(1, sizeof(*r));
    pthread_condattr_t monotonic;
    int rc;

    if (!r) {
        source->free(source->self);
        return error_set(err, "out of memory");
    }
    r->source = *source;
    pthread_mutex_init(&r->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&r->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    rc = thread_start(&r->thread, "discover", STACK, run, r);
    if (rc != 0) {
        release(r);
        return error_set_os(err, "start", "thread", rc);
    }
    *out = (struct discovery){&ops, r};
    return true;
}

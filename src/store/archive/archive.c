/*
 * Each sending thread has a client, and so a connection, of its own.  It takes
 * an object from the spool and keeps trying until that is sent; the others do
 * the same with the next ones.
 */
#include "store/archive/archive.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "store/archive/object_key.h"
#include "store/archive/spool.h"

#define STACK          ((size_t)512 << 10)
#define KEY_ROOM       ((size_t)64 << 10)
#define FIRST_PAUSE_NS SECOND
#define LAST_PAUSE_NS  (30 * SECOND)

struct sender {
    struct archive *archive;
    struct s3_client *client;
    pthread_t thread;
    bool is_started;
};

struct archive {
    struct arena *arena;
    struct str bucket, prefix;
    struct spool *spool;
    struct sender *senders;
    unsigned n_senders;

    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    bool stops;
    struct archive_stats stats;
    struct error last; /* what was logged; "": nothing since it worked */
};

/* --- sending -------------------------------------------------------------- */

/* The words before the key, which is another one each time. */
static bool is_news(struct archive *a, const struct error *err)
{
    const char *now = strstr(err->text, ": "),
               *was = strstr(a->last.text, ": ");

    return !now || !was || strcmp(now, was) != 0;
}

static void note_failure(struct archive *a, const struct error *err)
{
    bool says;

    pthread_mutex_lock(&a->lock);
    a->stats.failures++;
    says = !a->stats.is_failing || is_news(a, err);
    a->stats.is_failing = true;
    a->last = *err;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    if (says)
        log_warn("the archive cannot be written; trying again",
                 log_failure(err));
}

static void note_success(struct archive *a, uint64_t bytes)
{
    bool says;

    pthread_mutex_lock(&a->lock);
    a->stats.sent++;
    a->stats.sent_bytes += bytes;
    says = a->stats.is_failing;
    a->stats.is_failing = false;
    pthread_mutex_unlock(&a->lock);
    if (says)
        log_info("the archive can be written again");
}

/* False: the archive ends. */
static bool pause_for(struct archive *a, int64_t ns)
{
    struct timespec until = clock_timespec(clock_monotonic_ns() + ns);
    bool stops;

    pthread_mutex_lock(&a->lock);
    while (!a->stops &&
           clock_monotonic_ns() < until.tv_sec * SECOND + until.tv_nsec)
        pthread_cond_timedwait(&a->changed, &a->lock, &until);
    stops = a->stops;
    pthread_mutex_unlock(&a->lock);
    return !stops;
}

static bool send_item(struct sender *s, const struct spool_item *item)
{
    struct archive *a = s->archive;
    int64_t pause_ns = FIRST_PAUSE_NS;
    struct error err;

    while (!s3_put(s->client, a->bucket, item->key, item->bytes, &err)) {
        note_failure(a, &err);
        if (!pause_for(a, pause_ns))
            return false;
        pause_ns = pause_ns * 2 < LAST_PAUSE_NS ? pause_ns * 2 : LAST_PAUSE_NS;
    }
    note_success(a, item->bytes.n);
    return true;
}

static void *run(void *arg)
{
    struct sender *s = arg;
    struct archive *a = s->archive;
    struct spool_item item;

    while (spool_take(a->spool, &item)) {
        bool is_sent = send_item(s, &item);

        spool_finish(a->spool, &item, is_sent);
        pthread_mutex_lock(&a->lock);
        pthread_cond_broadcast(&a->changed); /* archive_free() may wait */
        pthread_mutex_unlock(&a->lock);
    }
    return NULL;
}

/* --- adding --------------------------------------------------------------- */

static void count(struct archive *a, uint64_t *which, const char *why,
                  const struct error *err)
{
    bool is_first;

    pthread_mutex_lock(&a->lock);
    is_first = (*which)++ == 0;
    pthread_mutex_unlock(&a->lock);
    if (is_first)
        log_error("a profile is stored but not archived; further ones are "
                  "only counted",
                  log_text("reason", why), log_failure(err));
}

void archive_add(struct archive *a, const struct store_profile *p,
                 bool is_delta, struct str bytes)
{
    struct buf key = BUF_INIT(KEY_ROOM);
    struct error err = {.text = ""};

    buf_add(&key, a->prefix);
    object_key_add(&key, p, is_delta);
    if (!buf_ok(&key) || key.len > S3_KEY_MAX) {
        error_set(&err, "%zu bytes, and S3 allows %d", key.len, S3_KEY_MAX);
        count(a, &a->stats.long_keys, "its key is too long", &err);
    } else if (!spool_add(a->spool, buf_str(&key), bytes, &err)) {
        if (err.code == ENOSPC)
            count(a, &a->stats.full, "the spool is full", &err);
        else
            count(a, &a->stats.unwritable, "the spool cannot be written", &err);
    }
    buf_release(&key);
}

void archive_get_stats(struct archive *a, struct archive_stats *out)
{
    struct spool_stats spool;

    spool_get_stats(a->spool, &spool);
    pthread_mutex_lock(&a->lock);
    *out = a->stats;
    pthread_mutex_unlock(&a->lock);
    out->waiting = spool.objects;
    out->waiting_bytes = spool.bytes;
    out->damaged = spool.damaged;
}

/* --- beginning and end ---------------------------------------------------- */

static bool start_sender(struct archive *a, struct sender *s,
                         const struct archive_options *o, struct error *err)
{
    int rc;

    s->archive = a;
    s->client = s3_client_new(&o->server, err);
    if (!s->client)
        return false;
    rc = thread_start(&s->thread, "archive", STACK, run, s);
    s->is_started = rc == 0;
    return rc == 0 || error_set_os(err, "start", "thread", rc);
}

struct archive *archive_new(const struct archive_options *o, struct error *err)
{
    struct arena *arena = arena_new();
    struct archive *a = arena_alloc(arena, sizeof(*a));
    pthread_condattr_t monotonic;
    bool ok;

    a->arena = arena;
    a->bucket = arena_str(arena, o->bucket);
    a->prefix = arena_str(arena, o->prefix);
    pthread_mutex_init(&a->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&a->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    a->senders = arena_new_array(arena, struct sender, o->connections);
    a->spool = spool_open(o->dir, o->max_bytes, err);
    ok = a->spool != NULL;
    for (; ok && a->n_senders < o->connections; a->n_senders++)
        ok = start_sender(a, &a->senders[a->n_senders], o, err);
    if (ok)
        return a;
    archive_free(a, 0);
    return NULL;
}

/* While that works. */
static void wait_until_sent(struct archive *a, int64_t patience_ns)
{
    struct timespec until = clock_timespec(clock_monotonic_ns() + patience_ns);
    struct spool_stats spool;
    int rc = patience_ns > 0 ? 0 : ETIMEDOUT;

    pthread_mutex_lock(&a->lock);
    while (rc == 0 && !a->stats.is_failing) {
        spool_get_stats(a->spool, &spool);
        if (spool.objects == 0)
            break;
        rc = pthread_cond_timedwait(&a->changed, &a->lock, &until);
    }
    a->stops = true;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
}

static void stop_senders(struct archive *a)
{
    spool_stop(a->spool);
    for (unsigned i = 0; i < a->n_senders; i++)
        if (a->senders[i].client)
            s3_client_cancel(a->senders[i].client);
    for (unsigned i = 0; i < a->n_senders; i++) {
        if (a->senders[i].is_started)
            pthread_join(a->senders[i].thread, NULL);
        s3_client_free(a->senders[i].client);
    }
}

void archive_free(struct archive *a, int64_t patience_ns)
{
    if (!a)
        return;
    if (a->spool) {
        wait_until_sent(a, patience_ns);
        stop_senders(a);
    }
    spool_free(a->spool);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    arena_free(a->arena);
}

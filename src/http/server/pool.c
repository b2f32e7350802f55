/*
 * Workers take jobs from one queue.  A handler that defers its exchange
 * leaves the job to whoever will finish it: the pool only counts such jobs,
 * so that nothing is freed under their feet.
 *
 * A streamed reply moves through `unsent`: the handler appends under the
 * lock and waits while too much is there; the event thread takes all of it
 * away at once.
 */
#include "http/server/pool.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"

#define STACK_BYTES ((size_t)1 << 20)
#define WORKER_IDLE (5 * SECOND)

/* What handlers may spend at once: a few profiles shall not wait. */
#define SAVED SECOND

/* A streamed reply may be this far ahead of its client. */
#define MAX_UNSENT ((size_t)1 << 20)

static struct job *next_job(struct pool *p)
{
    struct timespec until = clock_timespec(clock_monotonic_ns() + WORKER_IDLE);
    struct job *job;
    int rc = 0;

    p->idle_workers++;
    while (!p->queue && !p->stopping && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&p->work, &p->lock, &until);
    p->idle_workers--;
    job = p->queue;
    if (job) {
        p->queued--;
        p->queue = job->next;
        if (!p->queue)
            p->queue_end = &p->queue;
    }
    return job;
}

void pool_wake(struct pool *p)
{
    uint64_t one = 1;

    /* Can only fail when 2^64-1 wake-ups are pending. */
    (void)!write(p->wakeup, &one, sizeof(one));
}

/* Another request has used up the CPU time of handlers: this one waits. */
static void wait_for_budget(struct pool *p, struct job *job)
{
    int64_t wait = budget_spend(&p->budget, 0, clock_monotonic_ns());

    while (wait > 0 && !job->gone && !p->stopping) {
        struct timespec until = clock_timespec(clock_monotonic_ns() + wait);

        pthread_cond_timedwait(&job->changed, &p->lock, &until);
        wait = budget_spend(&p->budget, 0, clock_monotonic_ns());
    }
}

/* With the lock, but not while the hook or the handler runs.  The job may
 * belong to another thread afterwards. */
static void run_job(struct pool *p, struct job *job)
{
    int64_t cpu_ns;

    wait_for_budget(p, job);
    if (job->gone)
        return;
    pthread_mutex_unlock(&p->lock);
    cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (job->task == JOB_ADMIT)
        job->is_admitted = p->o.admit(&job->x, p->o.arg);
    else
        p->o.handler(&job->x, p->o.arg);
    cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
    pthread_mutex_lock(&p->lock);
    budget_spend(&p->budget, cpu_ns, clock_monotonic_ns());
}

static void give_back(struct pool *p, struct job *job)
{
    job->next = p->done;
    p->done = job;
    pool_wake(p);
}

static void *work(void *arg)
{
    struct pool *p = arg;
    struct job *job;

    if (p->o.thread_begins)
        p->o.thread_begins();
    pthread_mutex_lock(&p->lock);
    while ((job = next_job(p))) {
        job->in_worker = true;
        run_job(p, job);
        job->in_worker = false;
        if (!job->is_deferred || job->is_finished)
            give_back(p, job);
    }
    /* Before anybody may think that all workers are gone. */
    if (p->o.thread_ends)
        p->o.thread_ends();
    p->workers--;
    pthread_cond_signal(&p->quiet);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* A worker for one more job: an idle one, or a new one.  Idle workers that
 * have not woken up yet have a job in the queue already.  False when there is
 * none at all. */
static bool have_worker(struct pool *p)
{
    pthread_t thread;

    if (p->idle_workers > p->queued || p->workers == p->o.max_workers)
        return true;
    if (thread_start(&thread, "pprof-worker", STACK_BYTES, work, p) != 0)
        return p->workers > 0;
    pthread_detach(thread);
    p->workers++;
    return true;
}

void pool_init(struct pool *p, const struct pool_options *options)
{
    pthread_condattr_t attr;

    *p = (struct pool){.o = *options, .wakeup = -1};
    p->queue_end = &p->queue;
    budget_init(&p->budget, options->cpu_percent, SAVED, clock_monotonic_ns());
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&p->work, &attr);
    pthread_cond_init(&p->quiet, &attr);
    pthread_condattr_destroy(&attr);
}

void pool_release(struct pool *p)
{
    assert(p->workers == 0 && p->deferred == 0);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->quiet);
}

bool pool_add(struct pool *p, struct job *job)
{
    bool taken;

    job->pool = p;
    pthread_mutex_lock(&p->lock);
    taken = have_worker(p);
    if (taken) {
        job->next = NULL;
        *p->queue_end = job;
        p->queue_end = &job->next;
        p->queued++;
        pthread_cond_signal(&p->work);
    }
    pthread_mutex_unlock(&p->lock);
    return taken;
}

void pool_collect(struct pool *p, struct job **done, struct job **streams)
{
    uint64_t count;

    (void)!read(p->wakeup, &count, sizeof(count));
    pthread_mutex_lock(&p->lock);
    *done = p->done;
    *streams = p->streams;
    for (struct job *job = p->streams; job; job = job->next_stream)
        job->in_streams = false;
    p->done = NULL;
    p->streams = NULL;
    pthread_mutex_unlock(&p->lock);
}

bool pool_take_pieces(struct pool *p, struct job *job, struct buf *out)
{
    bool ok;

    pthread_mutex_lock(&p->lock);
    *out = job->unsent;
    job->unsent = BUF_INIT(out->max);
    ok = !job->is_broken;
    pthread_cond_signal(&job->changed);
    pthread_mutex_unlock(&p->lock);
    return ok;
}

void pool_abandon(struct pool *p, struct job *job)
{
    bool tell;

    pthread_mutex_lock(&p->lock);
    tell = !job->gone && job->is_deferred && !job->is_finished;
    job->gone = true;
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&p->lock);
    /* Without the lock: the hook may want locks of its own.  The job stays,
     * since this thread is the one that frees it. */
    if (tell && job->deferral.on_gone)
        job->deferral.on_gone(&job->x, job->deferral.data);
}

bool pool_is_stopping(struct pool *p)
{
    bool stopping;

    pthread_mutex_lock(&p->lock);
    stopping = p->stopping;
    pthread_mutex_unlock(&p->lock);
    return stopping;
}

void pool_stop(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    p->stopping = true;
    pthread_cond_broadcast(&p->work);
    pool_wake(p);
    pthread_mutex_unlock(&p->lock);
}

void pool_join(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    while (p->workers > 0 || p->deferred > 0)
        pthread_cond_wait(&p->quiet, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

/* --- what handlers call ----------------------------------------------------
 */

bool http_exchange_wait(struct http_exchange *x, int64_t ns)
{
    struct job *job = (struct job *)x;
    struct pool *p = job->pool;
    struct timespec until = clock_timespec(clock_monotonic_ns() + ns);
    bool here;
    int rc = 0;

    pthread_mutex_lock(&p->lock);
    while (ns > 0 && !job->gone && !p->stopping && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&job->changed, &p->lock, &until);
    here = !job->gone && !p->stopping;
    pthread_mutex_unlock(&p->lock);
    return here;
}

void http_exchange_defer(struct http_exchange *x,
                         const struct http_deferral *deferral)
{
    struct job *job = (struct job *)x;
    struct pool *p = job->pool;
    bool is_gone;

    pthread_mutex_lock(&p->lock);
    assert(job->in_worker && !job->is_deferred);
    job->deferral = *deferral;
    job->is_deferred = true;
    p->deferred++;
    is_gone = job->gone || p->stopping;
    job->gone |= is_gone;
    pthread_mutex_unlock(&p->lock);
    /* The client has already gone: no other event will report it. */
    if (is_gone && deferral->on_gone)
        deferral->on_gone(x, deferral->data);
}

void http_exchange_finish(struct http_exchange *x)
{
    struct job *job = (struct job *)x;
    struct pool *p = job->pool;

    pthread_mutex_lock(&p->lock);
    assert(job->is_deferred && !job->is_finished);
    job->is_finished = true;
    p->deferred--;
    if (!job->in_worker) /* else the worker gives it back */
        give_back(p, job);
    pthread_cond_signal(&p->quiet);
    pthread_mutex_unlock(&p->lock);
}

/* With the lock. */
static void add_to_streams(struct pool *p, struct job *job)
{
    job->is_streamed = true;
    if (job->in_streams)
        return;
    job->in_streams = true;
    job->next_stream = p->streams;
    p->streams = job;
    pool_wake(p);
}

bool http_exchange_flush(struct http_exchange *x)
{
    struct job *job = (struct job *)x;
    struct pool *p = job->pool;
    bool ok;

    pthread_mutex_lock(&p->lock);
    while (job->unsent.len > MAX_UNSENT && !job->gone && !p->stopping)
        pthread_cond_wait(&job->changed, &p->lock);
    if (job->unsent.len == 0) {
        struct buf empty = job->unsent;

        job->unsent = x->body;
        x->body = empty;
    } else {
        buf_add(&job->unsent, buf_str(&x->body));
        job->unsent.failed |= x->body.failed;
    }
    buf_clear(&x->body);
    if (!buf_ok(&job->unsent) || !buf_ok(&x->headers))
        job->is_broken = true;
    add_to_streams(p, job);
    ok = !job->is_broken && !job->gone && !p->stopping;
    pthread_mutex_unlock(&p->lock);
    return ok;
}

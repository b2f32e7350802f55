#include "http/pool.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"

#define SECOND      ((int64_t)1000000000)
#define STACK_BYTES ((size_t)1 << 20)
#define WORKER_IDLE (5 * SECOND)

/* What handlers may spend at once: a few profiles shall not wait. */
#define SAVED SECOND

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
        p->queue = job->next;
        if (!p->queue)
            p->queue_end = &p->queue;
    }
    return job;
}

static void wake_event_thread(struct pool *p)
{
    uint64_t one = 1;

    /* Can only fail when 2^64-1 wake-ups are pending. */
    (void)!write(p->wakeup, &one, sizeof(one));
}

/* Another's request has used up what handlers may: this one waits. */
static void wait_for_budget(struct pool *p, struct job *job)
{
    int64_t wait = budget_spend(&p->budget, 0, clock_monotonic_ns());

    while (wait > 0 && !job->gone && !p->stopping) {
        struct timespec until = clock_timespec(clock_monotonic_ns() + wait);

        pthread_cond_timedwait(&job->changed, &p->lock, &until);
        wait = budget_spend(&p->budget, 0, clock_monotonic_ns());
    }
}

/* With the lock, but not while the handler runs. */
static void run_handler(struct pool *p, struct job *job)
{
    int64_t cpu_ns;

    wait_for_budget(p, job);
    if (job->gone)
        return;
    pthread_mutex_unlock(&p->lock);
    cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    p->handler(&job->x, p->arg);
    cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
    pthread_mutex_lock(&p->lock);
    budget_spend(&p->budget, cpu_ns, clock_monotonic_ns());
}

static void *work(void *arg)
{
    struct pool *p = arg;
    struct job *job;

    if (p->thread_begins)
        p->thread_begins();
    pthread_mutex_lock(&p->lock);
    while ((job = next_job(p))) {
        run_handler(p, job);
        job->next = p->done;
        p->done = job;
        wake_event_thread(p);
    }
    /* Before anybody may think that all workers are gone. */
    if (p->thread_ends)
        p->thread_ends();
    p->workers--;
    pthread_cond_signal(&p->quiet);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* A worker for the job just queued: an idle one, or a new one.  False when
 * there is none at all. */
static bool have_worker(struct pool *p)
{
    pthread_t thread;

    if (p->idle_workers > 0 || p->workers == p->max_workers)
        return true;
    if (thread_start(&thread, "pprof-worker", STACK_BYTES, work, p) != 0)
        return p->workers > 0;
    pthread_detach(thread);
    p->workers++;
    return true;
}

void pool_init(struct pool *p, const struct http_server_options *options,
               const struct http_limits *limits)
{
    pthread_condattr_t attr;

    *p = (struct pool){
        .handler = options->handler,
        .arg = options->arg,
        .thread_begins = options->thread_begins,
        .thread_ends = options->thread_ends,
        .max_workers = limits->workers,
        .wakeup = -1,
    };
    p->queue_end = &p->queue;
    budget_init(&p->budget, limits->cpu_percent, SAVED, clock_monotonic_ns());
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&p->work, &attr);
    pthread_cond_init(&p->quiet, &attr);
    pthread_condattr_destroy(&attr);
}

void pool_release(struct pool *p)
{
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
        *p->queue_end = job;
        p->queue_end = &job->next;
        pthread_cond_signal(&p->work);
    }
    pthread_mutex_unlock(&p->lock);
    return taken;
}

struct job *pool_take_done(struct pool *p)
{
    struct job *done;
    uint64_t count;

    (void)!read(p->wakeup, &count, sizeof(count));
    pthread_mutex_lock(&p->lock);
    done = p->done;
    p->done = NULL;
    pthread_mutex_unlock(&p->lock);
    return done;
}

void pool_abandon(struct pool *p, struct job *job)
{
    pthread_mutex_lock(&p->lock);
    job->gone = true;
    pthread_cond_signal(&job->changed);
    pthread_mutex_unlock(&p->lock);
}

bool http_exchange_wait(struct http_exchange *x, int64_t ns)
{
    struct job *job = (struct job *)x;
    struct pool *p = job->pool;
    struct timespec until = clock_timespec(clock_monotonic_ns() + ns);
    bool here;
    int rc = 0;

    pthread_mutex_lock(&p->lock);
    while (!job->gone && !p->stopping && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&job->changed, &p->lock, &until);
    here = !job->gone && !p->stopping;
    pthread_mutex_unlock(&p->lock);
    return here;
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
    wake_event_thread(p);
    pthread_mutex_unlock(&p->lock);
}

void pool_wake(struct pool *p, struct job *job)
{
    pthread_mutex_lock(&p->lock);
    pthread_cond_signal(&job->changed);
    pthread_mutex_unlock(&p->lock);
}

void pool_join(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    while (p->workers > 0)
        pthread_cond_wait(&p->quiet, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

/*
 * The life of a scraper and its thread: take over what discoveries found,
 * start what is due, wait for the network or the next time.
 */
#include "collector/scrape/scraper.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/thread.h"
#include "collector/scrape/scraper_parts.h"

#define STACK       ((size_t)512 << 10)
#define MAX_WAIT_NS (SECOND / 2) /* discoveries are asked so often */

const struct scraper_options scraper_default_options = {
    .max_transfers = 4096,
    .max_measuring = 2048,
    .max_measuring_per_host = 4,
    .memory_bytes = (size_t)64 << 20,
    .max_targets = 100000,
};

struct scraper *scraper_new(const struct scraper_options *options,
                            struct scrape_config *config, struct error *err)
{
    struct scraper *s = calloc(1, sizeof(*s));
    struct job *jobs = NULL;

    if (!s) {
        scrape_config_free(config);
        error_set(err, "out of memory");
        return NULL;
    }
    s->options = *options;
    s->waiting_end = &s->waiting;
    pthread_mutex_init(&s->lock, NULL);
    s->transfers = transfers_new(options->memory_bytes, err);
    if (!s->transfers || !jobs_make(s, config, &jobs, err)) {
        scrape_config_free(config);
        scraper_free(s);
        return NULL;
    }
    jobs_replace(s, config, jobs);
    if (options->self)
        jobs_add_self(s);
    return s;
}

bool scraper_configure(struct scraper *s, struct scrape_config *config,
                       struct error *err)
{
    struct job *jobs;

    if (!jobs_make(s, config, &jobs, err)) {
        scrape_config_free(config);
        return false;
    }
    pthread_mutex_lock(&s->lock);
    jobs_replace(s, config, jobs);
    pthread_mutex_unlock(&s->lock);
    transfers_wake(s->transfers);
    return true;
}

/* --- the thread ----------------------------------------------------------- */

/* One turn; the lock is held, but for the wait. */
static void turn(struct scraper *s)
{
    int64_t now = clock_monotonic_ns(), wait = MAX_WAIT_NS;
    struct schedule_item *first;

    jobs_sync(s);
    tasks_run_due(s, now);
    first = schedule_first(&s->schedule);
    if (first && first->due_ns - now < wait)
        wait = first->due_ns > now ? first->due_ns - now : 0;
    pthread_mutex_unlock(&s->lock);
    transfers_wait(s->transfers, wait);
    pthread_mutex_lock(&s->lock);
    transfers_work(s->transfers);
    self_collect(s);
}

static void *scrape(void *arg)
{
    struct scraper *s = arg;

    pthread_mutex_lock(&s->lock);
    while (!atomic_load(&s->stops))
        turn(s);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

bool scraper_start(struct scraper *s, struct error *err)
{
    int rc;

    if (!self_open(s, err))
        return false;
    rc = thread_start(&s->thread, "scrape", STACK, scrape, s);
    s->is_started = rc == 0;
    return s->is_started || error_set_os(err, "start", "thread", rc);
}

void scraper_stop(struct scraper *s)
{
    if (!s)
        return;
    atomic_store(&s->stops, true);
    if (s->is_started) {
        transfers_wake(s->transfers);
        pthread_join(s->thread, NULL);
        s->is_started = false;
    }
    self_close(s);
}

void scraper_free(struct scraper *s)
{
    if (!s)
        return;
    scraper_stop(s);
    for (size_t i = 0; i < s->n_entries; i++)
        target_entry_free(s, s->entries[i]);
    free(s->entries);
    transfers_free(s->transfers);
    jobs_free(s->jobs, s->n_jobs);
    schedule_release(&s->schedule);
    scrape_config_free(s->config);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* --- one round ------------------------------------------------------------ */

static bool is_idle(const struct scraper *s)
{
    return s->schedule.n == 0 && !s->waiting && s->counts.running == 0;
}

static void report(struct scraper *s, scraper_failed *failed, void *arg)
{
    for (size_t i = 0; i < s->n_entries; i++)
        for (struct task *t = s->entries[i]->tasks; t; t = t->next)
            if (t->outcome.reason != SCRAPE_OK &&
                (!task_is_index(t) || !t->next))
                failed(arg, s->entries[i]->target->url,
                       task_is_index(t) ? STR("index page")
                                        : t->profile.kind.name,
                       t->outcome.words ? t->outcome.words : "");
}

/* Why the job's discoveries have found nothing yet. */
static void report_discovery(const struct job *j, scraper_failed *failed,
                             void *arg)
{
    const char *words = "found no targets in time";
    struct error err;

    for (size_t i = 0; i < j->n; i++) {
        const struct discovery *d = &j->discoveries[i];

        if (d->ops->failure && d->ops->failure(d->self, &err))
            words = err.text;
    }
    failed(arg, j->config->name, STR("discovery"), words);
}

size_t scraper_run_once(struct scraper *s, int64_t wait_ns,
                        scraper_failed *failed, void *arg)
{
    int64_t give_up = clock_monotonic_ns() + wait_ns;

    pthread_mutex_lock(&s->lock);
    for (;;) {
        bool waits = !jobs_are_ready(s) && clock_monotonic_ns() < give_up;

        turn(s);
        if (!waits && is_idle(s))
            break;
    }
    for (size_t i = 0; i < s->n_jobs; i++)
        if (!s->jobs[i].is_synced)
            report_discovery(&s->jobs[i], failed, arg);
        else if (s->jobs[i].wrong)
            failed(arg, s->jobs[i].config->name, STR("discovery"),
                   s->jobs[i].failure.text);
    report(s, failed, arg);
    pthread_mutex_unlock(&s->lock);
    return s->delivered;
}

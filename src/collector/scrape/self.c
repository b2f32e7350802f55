/*
 * Profiles of this process.  They do not go through the network: the
 * collector's own address may want certificates and tokens that the scraper
 * has no business to know.  A thread asks the library instead, one profile at
 * a time, since a CPU profile takes its seconds.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"
#include "collector/scrape/scraper_parts.h"

#define MAX_BODY ((size_t)16 << 20)
#define STACK    ((size_t)256 << 10)

static int is_gone(void *arg)
{
    return atomic_load(&((struct scraper *)arg)->stops);
}

static void answer(struct scraper *s)
{
    struct self_worker *w = &s->self;
    char url[sizeof(w->url)], *query;
    int status;

    memcpy(url, w->url, sizeof(url));
    query = strchr(url, '?');
    if (query)
        *query++ = '\0';
    pthread_mutex_unlock(&s->lock);
    status = s->options.self(url, query ? query : "", &w->body, is_gone, s);
    pthread_mutex_lock(&s->lock);
    w->status = status;
    w->is_done = true;
    transfers_wake(s->transfers);
}

static void *work(void *arg)
{
    struct scraper *s = arg;
    struct self_worker *w = &s->self;

    pthread_mutex_lock(&s->lock);
    while (!atomic_load(&s->stops)) {
        if (w->task && !w->is_done)
            answer(s);
        else
            pthread_cond_wait(&w->wake, &s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

bool self_open(struct scraper *s, struct error *err)
{
    struct self_worker *w = &s->self;
    int rc;

    if (!s->options.self)
        return true;
    pthread_cond_init(&w->wake, NULL);
    w->body = BUF_INIT(MAX_BODY);
    rc = thread_start(&w->thread, "scrape-self", STACK, work, s);
    w->is_started = rc == 0;
    return w->is_started || error_set_os(err, "start", "thread", rc);
}

void self_start(struct scraper *s, struct task *t, const char *path)
{
    struct self_worker *w = &s->self;

    w->task = t;
    w->is_done = false;
    w->began_ns = clock_monotonic_ns();
    snprintf(w->url, sizeof(w->url), "%s", path);
    buf_clear(&w->body);
    pthread_cond_signal(&w->wake);
}

void self_collect(struct scraper *s)
{
    struct self_worker *w = &s->self;
    struct transfer_result r = {.status = w->status};
    struct task *t = w->task;

    if (!t || !w->is_done)
        return;
    r.duration_ns = clock_monotonic_ns() - w->began_ns;
    r.body = buf_str(&w->body);
    if (w->status != 200) {
        r.reason = SCRAPE_STATUS;
        error_set(&r.err, "libpprof answered with status %d", w->status);
        r.body = STR("");
    } else if (!buf_ok(&w->body)) {
        r.reason = SCRAPE_TOO_LARGE;
        error_set(&r.err, "too large: more than %zu bytes", MAX_BODY);
        r.body = STR("");
    }
    w->task = NULL;
    w->is_done = false;
    task_finish(s, t, &r);
}

/* `stops` is set. */
void self_close(struct scraper *s)
{
    struct self_worker *w = &s->self;

    if (!w->is_started)
        return;
    pthread_mutex_lock(&s->lock);
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&s->lock);
    pthread_join(w->thread, NULL);
    w->is_started = false;
    w->task = NULL;
    buf_release(&w->body);
    pthread_cond_destroy(&w->wake);
}

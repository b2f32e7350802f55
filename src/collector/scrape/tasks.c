/*
 * Tasks: what to fetch and when, and how to handle the reply.
 *
 * A task is in the schedule, waits because a limit is reached, or runs.  Its
 * time is aligned to the wall clock (see schedule.h); the schedule itself uses
 * the monotonic clock.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "collector/scrape/choose.h"
#include "collector/scrape/scraper_parts.h"

#define INDEX_INTERVAL_NS (120 * SECOND)
#define INDEX_SPREAD_NS   (5 * SECOND)
#define INDEX_MAX_BYTES   ((size_t)256 << 10)
#define SECRET_WAIT_NS    (SECOND / 4) /* for a Secret that is being read */
#define SECRET_WAITS      120

bool task_is_index(const struct task *t)
{
    return t->profile.kind.name.n == 0;
}

/* --- times ---------------------------------------------------------------- */

/* Another second for each profile of a target, the same one after every
 * restart. */
static uint64_t phase_of(const struct task *t)
{
    const struct target *target = t->entry->target;
    uint64_t h = str_hash(target->url);

    h = hash_mix(h ^ str_hash(target->path_prefix));
    h = hash_mix(h ^ str_hash(target->service));
    return hash_mix(h ^ str_hash(t->profile.kind.name));
}

static int64_t interval_of(const struct task *t)
{
    return task_is_index(t) ? INDEX_INTERVAL_NS : t->entry->target->interval_ns;
}

/* The next time in `intervals` intervals, at least one. */
static void schedule_task(struct scraper *s, struct task *t, int64_t intervals)
{
    int64_t now = clock_monotonic_ns(), real = clock_realtime_ns();
    int64_t interval = interval_of(t);
    int64_t next = schedule_next(real, interval, phase_of(t));

    t->state = TASK_SCHEDULED;
    t->item.due_ns = now + (next - real) + (intervals - 1) * interval;
    schedule_add(&s->schedule, &t->item);
}

/* --- making --------------------------------------------------------------- */

static struct task *add_task(struct entry *e,
                             const struct scrape_profile *profile)
{
    struct task *t = calloc(1, sizeof(*t)), **end = &e->tasks;

    if (!t)
        return NULL;
    t->entry = e;
    if (profile) {
        t->profile = *profile;
        t->measures = profile->kind.measures;
    }
    while (*end)
        end = &(*end)->next;
    *end = t;
    return t;
}

static void begin_task(struct scraper *s, struct task *t)
{
    if (!t)
        return;
    if (!s->options.once && !task_is_index(t)) {
        schedule_task(s, t, 1);
        return;
    }
    /* Soon, and not all at once. */
    t->item.due_ns = clock_monotonic_ns();
    if (!s->options.once)
        t->item.due_ns += (int64_t)(phase_of(t) % (uint64_t)INDEX_SPREAD_NS);
    schedule_add(&s->schedule, &t->item);
}

void tasks_make(struct scraper *s, struct entry *e)
{
    if (e->target->n_profiles == 0)
        begin_task(s, add_task(e, NULL));
    for (size_t i = 0; i < e->target->n_profiles; i++)
        begin_task(s, add_task(e, &e->target->profiles[i]));
}

static void remove_waiting(struct scraper *s, struct task *t)
{
    struct task **at = &s->waiting;

    while (*at && *at != t)
        at = &(*at)->next_waiting;
    if (!*at)
        return;
    *at = t->next_waiting;
    t->next_waiting = NULL;
    if (s->waiting_end == &t->next_waiting)
        s->waiting_end = at;
    s->counts.waiting--;
}

static void stop_running(struct scraper *s, struct task *t)
{
    s->counts.running--;
    s->counts.measuring -= t->measures;
    t->entry->host->measuring -= t->measures;
    t->transfer = NULL;
    s->has_freed = true;
}

void task_free(struct scraper *s, struct task *t)
{
    schedule_remove(&s->schedule, &t->item);
    if (t->state == TASK_WAITING)
        remove_waiting(s, t);
    if (t->state == TASK_RUNNING) {
        if (t->transfer)
            transfers_cancel(t->transfer);
        stop_running(s, t);
    }
    free(t->outcome.words);
    free(t);
}

/* --- limits --------------------------------------------------------------- */

static bool may_run(struct scraper *s, const struct task *t)
{
    const struct scraper_options *o = &s->options;

    if (t->entry->is_self && s->self.task)
        return false;
    if (s->counts.running >= o->max_transfers ||
        transfers_memory(s->transfers) > o->memory_bytes / 4 * 3)
        return false;
    if (!t->measures)
        return true;
    return s->counts.measuring < o->max_measuring &&
           t->entry->host->measuring < o->max_measuring_per_host;
}

/* --- running -------------------------------------------------------------- */

/* /debug/pprof and ../fgprof: /debug/fgprof */
static void add_path(struct buf *url, const struct task *t)
{
    struct str prefix = t->entry->target->path_prefix;
    struct str path = t->profile.kind.path;

    if (t->profile.path.n) {
        buf_add(url, t->profile.path);
        return;
    }
    if (str_has_prefix(path, STR("../"))) {
        ptrdiff_t slash = str_rfind_char(prefix, '/');

        path = str_skip(path, 3);
        prefix = str_first(prefix, slash < 0 ? 0 : (size_t)slash);
    }
    buf_add(url, prefix);
    buf_add_char(url, '/');
    buf_add(url, path);
}

static int64_t seconds_of(const struct task *t)
{
    if (t->profile.delta && t->no_delta)
        return 0;
    return t->profile.seconds_ns / SECOND;
}

static void add_query(struct buf *url, const struct task *t)
{
    struct str query = t->entry->target->query;
    char next = str_find_char(buf_str(url), '?') < 0 ? '?' : '&';

    if (seconds_of(t)) {
        buf_addf(url, "%cseconds=%lld", next, (long long)seconds_of(t));
        next = '&';
    }
    if (query.n) {
        buf_add_char(url, next);
        buf_add(url, query);
    }
}

static void finished(void *arg, const struct transfer_result *r);

/* The cluster that the target is in, otherwise the first one. */
static const struct discovery *secret_source(const struct job *j, size_t found)
{
    if (found && found <= j->n && j->discoveries[found - 1].ops->secret)
        return &j->discoveries[found - 1];
    for (size_t i = 0; i < j->n; i++)
        if (j->discoveries[i].ops->secret)
            return &j->discoveries[i];
    return NULL;
}

static bool find_secret(const struct task *t, struct arena *a,
                        struct tls_material *out, struct error *err)
{
    const struct target *target = t->entry->target;
    const struct discovery *d = secret_source(t->entry->job, target->discovery);

    if (target->discovery == DISCOVERY_UNKNOWN)
        return error_set_code(err, EAGAIN, "the targets are being looked up");
    if (!d)
        return error_set(err, "__tls_secret__ needs Kubernetes discovery");
    return d->ops->secret(d->self, a, target->tls_secret, out, err);
}

static bool start_transfer(struct scraper *s, struct task *t, const char *url,
                           struct error *err)
{
    const struct scrape_job *job = t->entry->target->job;
    struct transfer_request request = {
        .url = url,
        .access = &job->access,
        .timeout_ns = job->timeout_ns + seconds_of(t) * SECOND,
        .max_bytes = task_is_index(t) ? INDEX_MAX_BYTES : job->body_bytes};
    struct arena *a = arena_new();
    struct tls_material tls = {0};
    bool ok = true;

    if (t->entry->target->tls_secret.n) {
        ok = find_secret(t, a, &tls, err);
        request.tls = &tls;
    }
    if (ok)
        t->transfer = transfers_start(s->transfers, &request, finished, t, err);
    arena_free(a);
    return ok && t->transfer;
}

/* Its Secret is being read: soon again, with the place in line kept. */
static bool waits_for_secret(struct scraper *s, struct task *t,
                             const struct error *err)
{
    if (err->code != EAGAIN || t->secret_waits >= SECRET_WAITS)
        return false;
    t->secret_waits++;
    stop_running(s, t);
    t->state = TASK_SCHEDULED;
    t->item.due_ns = clock_monotonic_ns() + SECRET_WAIT_NS;
    schedule_add(&s->schedule, &t->item);
    return true;
}

static void run(struct scraper *s, struct task *t, int64_t now_ns)
{
    struct buf url = BUF_INIT((size_t)64 << 10);
    struct transfer_result failed = {.reason = SCRAPE_LOCAL};
    bool ok = true;

    if (now_ns - t->item.due_ns > s->counts.late_ns_max)
        s->counts.late_ns_max = now_ns - t->item.due_ns;
    t->state = TASK_RUNNING;
    s->counts.running++;
    s->counts.measuring += t->measures;
    t->entry->host->measuring += t->measures;
    if (!t->entry->is_self)
        buf_add(&url, t->entry->target->url);
    add_path(&url, t);
    add_query(&url, t);
    if (t->entry->is_self)
        self_start(s, t, buf_cstr(&url));
    else
        ok = start_transfer(s, t, buf_cstr(&url), &failed.err);
    buf_release(&url);
    if (!ok && !waits_for_secret(s, t, &failed.err))
        task_finish(s, t, &failed);
}

static void wait_for_limit(struct scraper *s, struct task *t)
{
    t->state = TASK_WAITING;
    t->next_waiting = NULL;
    *s->waiting_end = t;
    s->waiting_end = &t->next_waiting;
    s->counts.waiting++;
}

/* A task that could not run before its next turn lets this one go. */
static void miss(struct scraper *s, struct task *t)
{
    s->counts.missed++;
    schedule_task(s, t, 1);
}

static bool is_too_late(const struct scraper *s, const struct task *t,
                        int64_t now_ns)
{
    return !s->options.once && now_ns - t->item.due_ns >= interval_of(t);
}

static void run_waiting(struct scraper *s, int64_t now_ns)
{
    for (struct task *t = s->waiting, *next; t; t = next) {
        next = t->next_waiting;
        if (is_too_late(s, t, now_ns)) {
            remove_waiting(s, t);
            miss(s, t);
        } else if (may_run(s, t)) {
            remove_waiting(s, t);
            run(s, t, now_ns);
        }
    }
}

void tasks_run_due(struct scraper *s, int64_t now_ns)
{
    struct schedule_item *first;

    if (s->waiting && s->has_freed)
        run_waiting(s, now_ns);
    s->has_freed = false;
    while ((first = schedule_first(&s->schedule)) != NULL &&
           first->due_ns <= now_ns) {
        struct task *t = (struct task *)first;

        schedule_remove(&s->schedule, first);
        if (is_too_late(s, t, now_ns))
            miss(s, t);
        else if (may_run(s, t))
            run(s, t, now_ns);
        else
            wait_for_limit(s, t);
    }
}

/* --- results -------------------------------------------------------------- */

static void keep_words(struct outcome *o, const char *words)
{
    if (o->words && words && strcmp(o->words, words) == 0)
        return;
    free(o->words);
    o->words = words ? strdup(words) : NULL;
}

static void note(struct scraper *s, struct task *t,
                 const struct transfer_result *r, enum scrape_reason reason,
                 const struct error *err)
{
    struct outcome *o = &t->outcome;

    o->reason = reason;
    o->at_ns = clock_realtime_ns();
    o->duration_ns = r->duration_ns;
    o->bytes = r->body.n;
    keep_words(o, reason == SCRAPE_OK ? NULL : err->text);
    s->counts.scrapes[reason]++;
    s->counts.bytes += r->body.n;
    if (reason == SCRAPE_OK) {
        o->good++;
        t->failures = 0;
        return;
    }
    o->bad++;
    if (t->failures++ == 0)
        log_warn("scrape failed", log_str("url", t->entry->target->url),
                 log_str("profile", task_is_index(t) ? STR("index page")
                                                     : t->profile.kind.name),
                 log_failure(err));
}

/* The profiles of a target that names none. */
static void use_index(struct scraper *s, struct entry *e, struct str page)
{
    struct chosen chosen;

    choose_profiles(e->target->job, page, &chosen);
    e->flavour = chosen.flavour;
    for (size_t i = 0; i < chosen.n; i++) {
        struct task *t = e->tasks;

        while (t && !str_eq(t->profile.kind.name, chosen.v[i].kind.name))
            t = t->next;
        if (!t)
            begin_task(s, add_task(e, &chosen.v[i]));
    }
}

static enum scrape_reason deliver(struct scraper *s, struct task *t,
                                  const struct transfer_result *r,
                                  struct error *err)
{
    struct scraped scraped = {.target = t->entry->target,
                              .profile = &t->profile,
                              .bytes = r->body,
                              .is_delta = t->profile.kind.is_delta ||
                                          (t->profile.delta && !t->no_delta)};
    enum scrape_reason reason =
        s->options.deliver(s->options.arg, &scraped, err);

    s->delivered += reason == SCRAPE_OK;
    return reason;
}

/* A target that does not support ?seconds= for totals reports an error, or
 * sends the totals at once. */
static bool lacks_delta(const struct task *t, const struct transfer_result *r)
{
    if (!t->profile.delta || t->no_delta)
        return false;
    return r->status == 400 ||
           (r->reason == SCRAPE_OK &&
            r->duration_ns < t->profile.seconds_ns / 10 * 9);
}

/* An index page that cannot be read is tried again like a profile; one that
 * does not exist leaves the usual profiles to try. */
static void retry_index(struct scraper *s, struct task *t)
{
    int64_t interval = t->entry->target->interval_ns;
    int64_t wait = schedule_backoff(interval, t->failures) * interval;

    if (t->outcome.reason == SCRAPE_NO_PROFILE)
        use_index(s, t->entry, STR(""));
    t->item.due_ns = clock_monotonic_ns() + wait;
    schedule_add(&s->schedule, &t->item);
}

void task_finish(struct scraper *s, struct task *t,
                 const struct transfer_result *r)
{
    enum scrape_reason reason = r->reason;
    struct error err = r->err;

    stop_running(s, t);
    t->secret_waits = 0;
    if (lacks_delta(t, r)) {
        t->no_delta = true;
        if (reason != SCRAPE_OK) { /* once more, without */
            t->state = TASK_SCHEDULED;
            t->item.due_ns = clock_monotonic_ns();
            schedule_add(&s->schedule, &t->item);
            return;
        }
    }
    if (reason == SCRAPE_OK && task_is_index(t))
        use_index(s, t->entry, r->body);
    else if (reason == SCRAPE_OK)
        reason = deliver(s, t, r, &err);
    note(s, t, r, reason, &err);
    t->state = TASK_SCHEDULED;
    if (s->options.once)
        return;
    if (task_is_index(t) && reason != SCRAPE_OK) {
        retry_index(s, t);
        return;
    }
    schedule_task(s, t,
                  reason == SCRAPE_OK
                      ? 1
                      : schedule_backoff(interval_of(t), t->failures));
}

static void finished(void *arg, const struct transfer_result *r)
{
    struct task *t = arg;

    t->transfer = NULL;
    task_finish(t->entry->scraper, t, r);
}

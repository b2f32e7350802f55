/*
 * From jobs to the list of targets.
 *
 * A job's targets are made anew when one of its discoveries has changed, and
 * then compared with those in the list by their hash: what is in both stays
 * with its tasks.  As long as one of its discoveries has no result, targets are
 * added and none removed, so that a reload does not lose those that, say, DNS
 * has yet to give, and a cluster that cannot be reached does not keep others
 * waiting.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "collector/scrape/discoveries.h"
#include "collector/scrape/scraper_parts.h"

#define SYNC_NS (SECOND / 4)

/* --- discoveries ---------------------------------------------------------- */

static void job_release(struct job *j)
{
    for (size_t i = 0; i < j->n; i++)
        j->discoveries[i].ops->free(j->discoveries[i].self);
    free(j->discoveries);
    free(j->versions);
}

void jobs_free(struct job *jobs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        job_release(&jobs[i]);
    free(jobs);
}

static bool make_kube(struct scraper *s, const struct scrape_job *job,
                      const struct scrape_kube *config, struct discovery *out,
                      struct error *err)
{
    if (!s->options.make_kube)
        return error_set(err, "kubernetes_sd_configs cannot be used here");
    return s->options.make_kube(job, config, out, err);
}

static bool open_job(struct scraper *s, struct job *j, struct error *err)
{
    const struct scrape_job *c = j->config;
    size_t most = c->n_files + c->n_names + c->n_urls + c->n_kubes;
    struct discovery *to;

    j->discoveries = calloc(most + 1, sizeof(*j->discoveries));
    j->versions = calloc(most + 1, sizeof(*j->versions));
    if (!j->discoveries || !j->versions)
        return error_set(err, "out of memory");
    to = j->discoveries;
    for (size_t i = 0; i < c->n_files; i++, j->n++)
        if (!discovery_of_files(&c->files[i], to + j->n, err))
            return false;
    for (size_t i = 0; i < c->n_names; i++, j->n++)
        if (!discovery_of_names(&c->names[i], to + j->n, err))
            return false;
    for (size_t i = 0; i < c->n_urls; i++, j->n++)
        if (!discovery_of_url(&c->urls[i], &c->access, to + j->n, err))
            return false;
    for (size_t i = 0; i < c->n_kubes; i++, j->n++)
        if (!make_kube(s, c, &c->kubes[i], to + j->n, err))
            return false;
    return true;
}

bool jobs_make(struct scraper *s, const struct scrape_config *config,
               struct job **out, struct error *err)
{
    struct job *jobs = calloc(config->n_jobs + 1, sizeof(*jobs));

    if (!jobs)
        return error_set(err, "out of memory");
    for (size_t i = 0; i < config->n_jobs; i++) {
        jobs[i].config = &config->jobs[i];
        if (!open_job(s, &jobs[i], err)) {
            error_wrap(err, "job %" STR_FMT, STR_ARG(config->jobs[i].name));
            jobs_free(jobs, i + 1);
            return false;
        }
    }
    *out = jobs;
    return true;
}

/* --- entries -------------------------------------------------------------- */

void target_entry_free(struct scraper *s, struct entry *e)
{
    while (e->tasks) {
        struct task *t = e->tasks;

        e->tasks = t->next;
        task_free(s, t);
    }
    hosts_put(&s->hosts, e->host);
    free(e->target);
    free(e);
}

static bool has_room(struct scraper *s)
{
    size_t cap = s->cap_entries ? 2 * s->cap_entries : 64;
    struct entry **v;

    if (s->n_entries < s->cap_entries)
        return true;
    v = realloc(s->entries, cap * sizeof(*v));
    if (!v)
        return false;
    s->entries = v;
    s->cap_entries = cap;
    return true;
}

static bool add_entry(struct scraper *s, struct job *j, const struct target *t)
{
    struct entry *e;

    if (s->n_entries >= s->options.max_targets || !has_room(s))
        return false;
    e = calloc(1, sizeof(*e));
    if (!e)
        return false;
    e->target = target_copy(t);
    e->host = hosts_get(&s->hosts, t->host);
    if (!e->target || !e->host) {
        hosts_put(&s->hosts, e->host);
        free(e->target);
        free(e);
        return false;
    }
    e->scraper = s;
    e->job = j;
    e->is_seen = true;
    e->is_self = j == &s->self_job;
    s->entries[s->n_entries++] = e;
    tasks_make(s, e);
    return true;
}

/* Texts of the tasks are views of the target: those of the new one. */
static void replace_target(struct entry *e, const struct target *t)
{
    struct target *copy = target_copy(t);
    size_t i = 0;

    if (!copy)
        return; /* the old one says the same */
    for (struct task *k = e->tasks; k && i < copy->n_profiles; k = k->next)
        if (!task_is_index(k))
            k->profile = copy->profiles[i++];
    free(e->target);
    e->target = copy;
}

/* --- sync ----------------------------------------------------------------- */

struct found {
    VEC(struct target) list;
};

static void make_targets(struct job *j, struct arena *a, size_t discovery,
                         const struct label_set *sets, size_t n,
                         struct found *out)
{
    for (size_t i = 0; i < n; i++) {
        struct target t;
        struct error err;

        switch (target_make(&t, a, j->config, &sets[i], &err)) {
        case TARGET_KEPT:
            t.discovery = discovery;
            *vec_push(a, &out->list) = t;
            break;
        case TARGET_DROPPED:
            j->dropped++;
            break;
        case TARGET_WRONG:
            if (j->wrong++ == 0)
                j->failure = err;
            break;
        }
    }
}

static bool find_targets(struct job *j, struct arena *a, struct found *out)
{
    struct error err;

    j->dropped = j->wrong = 0;
    j->failure.text[0] = '\0';
    make_targets(j, a, 0, j->config->statics.list.v, j->config->statics.list.n,
                 out);
    for (size_t i = 0; i < j->n; i++) {
        struct discovery *d = &j->discoveries[i];
        uint64_t version = d->ops->version(d->self);
        struct label_set *sets;
        size_t n;

        if (version == 0)
            continue;
        if (!d->ops->snapshot(d->self, a, &sets, &n, &err)) {
            log_warn("discovery failed", log_str("job", j->config->name),
                     log_failure(&err));
            return false;
        }
        make_targets(j, a, i + 1, sets, n, out);
        j->versions[i] = version;
    }
    return true;
}

/* The entry with that hash; NULL: none. */
static struct entry *find_entry(struct scraper *s, const struct map *m,
                                uint64_t hash, struct map_cursor *c)
{
    *c = map_find(m, hash);
    while (map_next(m, c))
        if (s->entries[c->record]->target->hash == hash)
            return s->entries[c->record];
    return NULL;
}

static void remove_unseen(struct scraper *s, const struct job *j)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->n_entries; i++) {
        struct entry *e = s->entries[i];

        if (e->job == j && !e->is_seen)
            target_entry_free(s, e);
        else
            s->entries[kept++] = e;
    }
    s->n_entries = kept;
}

static void reconcile(struct scraper *s, struct job *j, struct arena *a,
                      const struct found *found, bool removes)
{
    struct map known;
    struct map_cursor c;

    map_init(&known, a, s->n_entries + found->list.n);
    for (size_t i = 0; i < s->n_entries; i++)
        if (s->entries[i]->job == j &&
            !find_entry(s, &known, s->entries[i]->target->hash, &c)) {
            s->entries[i]->is_seen = false;
            map_add(&known, &c, (uint32_t)i);
        }
    for (size_t i = 0; i < found->list.n; i++) {
        const struct target *t = &found->list.v[i];
        struct entry *e = find_entry(s, &known, t->hash, &c);

        if (e) {
            if (!e->is_seen)
                replace_target(e, t);
            e->is_seen = true;
        } else if (add_entry(s, j, t)) {
            map_add(&known, &c, (uint32_t)(s->n_entries - 1));
        } else {
            j->dropped++;
        }
    }
    if (removes)
        remove_unseen(s, j);
}

static bool is_ready(const struct job *j)
{
    for (size_t i = 0; i < j->n; i++)
        if (j->discoveries[i].ops->version(j->discoveries[i].self) == 0)
            return false;
    return true;
}

static bool has_changed(const struct job *j)
{
    for (size_t i = 0; i < j->n; i++)
        if (j->discoveries[i].ops->version(j->discoveries[i].self) !=
            j->versions[i])
            return true;
    return !j->is_begun || (!j->is_synced && is_ready(j));
}

static void sync_job(struct scraper *s, struct job *j)
{
    bool is_complete = is_ready(j);
    struct arena *a = arena_new();
    struct found found = {0};

    if (find_targets(j, a, &found)) {
        reconcile(s, j, a, &found, is_complete);
        if (j->wrong)
            log_warn("targets cannot be scraped",
                     log_str("job", j->config->name),
                     log_u64("targets", j->wrong), log_failure(&j->failure));
        log_info("targets found", log_str("job", j->config->name),
                 log_u64("targets", found.list.n),
                 log_u64("dropped", j->dropped));
    }
    j->is_begun = true;
    j->is_synced = is_complete;
    arena_free(a);
}

void jobs_sync(struct scraper *s)
{
    int64_t now = clock_monotonic_ns();

    if (s->synced_ns && now - s->synced_ns < SYNC_NS)
        return;
    s->synced_ns = now;
    for (size_t i = 0; i < s->n_jobs; i++)
        if (has_changed(&s->jobs[i]))
            sync_job(s, &s->jobs[i]);
}

bool jobs_are_ready(const struct scraper *s)
{
    for (size_t i = 0; i < s->n_jobs; i++)
        if (!s->jobs[i].is_synced)
            return false;
    return true;
}

/* --- replacing ------------------------------------------------------------ */

static struct job *job_named(struct job *jobs, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(jobs[i].config->name, name))
            return &jobs[i];
    return NULL;
}

/* Until the job is synced, its old targets are scraped with its new settings;
 * what points into the old configuration must not. */
static void adopt(struct entry *e, struct job *j)
{
    e->job = j;
    e->target->job = j->config;
    if (e->target->discovery)
        e->target->discovery = DISCOVERY_UNKNOWN;
    for (struct task *t = e->tasks; t; t = t->next)
        t->profile.n_keep = 0;
}

void jobs_replace(struct scraper *s, struct scrape_config *config,
                  struct job *jobs)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->n_entries; i++) {
        struct entry *e = s->entries[i];
        struct job *j =
            e->is_self ? NULL
                       : job_named(jobs, config->n_jobs, e->job->config->name);

        if (j)
            adopt(e, j);
        if (j || e->is_self)
            s->entries[kept++] = e;
        else
            target_entry_free(s, e);
    }
    s->n_entries = kept;
    jobs_free(s->jobs, s->n_jobs);
    scrape_config_free(s->config);
    s->config = config;
    s->jobs = jobs;
    s->n_jobs = config->n_jobs;
    s->synced_ns = 0;
}

/* --- this process --------------------------------------------------------- */

void jobs_add_self(struct scraper *s)
{
    static const char *const names[] = {"cpu", "goroutine"};
    struct scrape_job *c = &s->self_config;
    struct target t = {0};
    struct arena *a = arena_new();

    *c = (struct scrape_job){.name = STR("pprofd"),
                             .scheme = STR("http"),
                             .path_prefix = STR("/debug/pprof"),
                             .interval_ns = 60 * SECOND,
                             .timeout_ns = 10 * SECOND,
                             .body_bytes = (size_t)16 << 20,
                             .profiles = s->self_profiles};
    for (; c->n_profiles < sizeof(names) / sizeof(names[0]); c->n_profiles++) {
        struct scrape_profile *p = &s->self_profiles[c->n_profiles];

        scrape_kind_named(str_from(names[c->n_profiles]), &p->kind);
        p->seconds_ns = p->kind.measures ? scrape_default_seconds(c) : 0;
    }
    s->self_job.config = c;
    t = (struct target){.job = c,
                        .hash = str_hash(STR("self")),
                        .url = STR("self://"),
                        .address = str_from(s->options.self_address),
                        .host = STR("self"),
                        .path_prefix = c->path_prefix,
                        .service = c->name,
                        .instance = str_from(s->options.self_address),
                        .interval_ns = c->interval_ns,
                        .profiles = c->profiles,
                        .n_profiles = c->n_profiles};
    label_set_put(a, &t.labels, STR("job"), c->name);
    label_set_put(a, &t.labels, STR("instance"), t.instance);
    add_entry(s, &s->self_job, &t);
    arena_free(a);
}

/*
 * The reply of /api/1/targets; docs/collector-api.md describes it.
 */
#include "base/clock.h"
#include "base/json.h"
#include "collector/scrape/show_view.h"

#define WORDS_MAX ((size_t)1 << 20) /* of all discoveries of a job */

static void add_text(struct json *j, const char *key, struct str value)
{
    json_key(j, str_from(key));
    json_string(j, value);
}

static void add_seconds(struct json *j, const char *key, int64_t ns)
{
    json_key(j, str_from(key));
    json_thousandths(j, ns / 1000000);
}

static void add_task(struct json *j, const struct task *t)
{
    const struct outcome *o = &t->outcome;

    json_open(j, '{');
    add_text(j, "profile", show_task_name(t));
    if (!task_is_index(t))
        add_text(j, "type", t->profile.kind.type);
    add_text(j, "state",
             t->state == TASK_RUNNING   ? STR("running")
             : t->state == TASK_WAITING ? STR("waiting")
                                        : STR("scheduled"));
    if (t->state == TASK_SCHEDULED && t->item.at)
        add_seconds(j, "next_in_seconds",
                    t->item.due_ns - clock_monotonic_ns());
    if (o->at_ns) {
        add_seconds(j, "last_scrape", o->at_ns);
        add_seconds(j, "duration_seconds", o->duration_ns);
        json_key(j, STR("bytes"));
        json_i64(j, (int64_t)o->bytes);
    }
    json_key(j, STR("good"));
    json_i64(j, (int64_t)o->good);
    json_key(j, STR("bad"));
    json_i64(j, (int64_t)o->bad);
    if (o->reason != SCRAPE_OK) {
        add_text(j, "reason", str_from(scrape_reason_words(o->reason)));
        add_text(j, "error", str_from(o->words));
    }
    json_close(j, '}');
}

static void add_target(struct json *j, const struct entry *e)
{
    const struct target *t = e->target;

    json_open(j, '{');
    add_text(j, "job", t->job->name);
    add_text(j, "service", t->service);
    add_text(j, "instance", t->instance);
    add_text(j, "url", e->is_self ? STR("") : t->url);
    add_text(j, "path_prefix", t->path_prefix);
    json_key(j, STR("labels"));
    json_open(j, '{');
    for (size_t i = 0; i < t->labels.n; i++) {
        json_key(j, t->labels.v[i].name);
        json_string(j, t->labels.v[i].value);
    }
    json_close(j, '}');
    add_seconds(j, "interval_seconds", t->interval_ns);
    add_text(j, "health", str_from(show_health_words(show_health_of(e))));
    if (e->flavour != FLAVOUR_UNKNOWN)
        add_text(j, "kind", str_from(flavour_words(e->flavour)));
    json_key(j, STR("profiles"));
    json_open(j, '[');
    for (const struct task *k = e->tasks; k; k = k->next)
        add_task(j, k);
    json_close(j, ']');
    json_close(j, '}');
}

/* What the discoveries of a job say. */
static void add_status(struct json *j, const struct job *job)
{
    struct buf words = BUF_INIT(WORDS_MAX);

    for (size_t i = 0; i < job->n; i++) {
        const struct discovery *d = &job->discoveries[i];

        if (!d->ops->status)
            continue;
        if (words.len)
            buf_add(&words, STR("; "));
        d->ops->status(d->self, &words);
    }
    if (words.len)
        add_text(j, "discovery_status", buf_str(&words));
    buf_release(&words);
}

/* Why discoveries of a job fail. */
static void add_failures(struct json *j, const struct job *job)
{
    struct buf words = BUF_INIT(WORDS_MAX);
    struct error err;

    for (size_t i = 0; i < job->n; i++) {
        const struct discovery *d = &job->discoveries[i];

        if (d->ops->failure && d->ops->failure(d->self, &err))
            buf_addf(&words, "%s%s", words.len ? "; " : "", err.text);
    }
    if (words.len)
        add_text(j, "discovery_error", buf_str(&words));
    buf_release(&words);
}

static void add_job(struct json *j, const struct job *job)
{
    json_open(j, '{');
    add_text(j, "job", job->config->name);
    json_key(j, STR("ready"));
    json_bool(j, job->is_synced);
    json_key(j, STR("dropped"));
    json_i64(j, (int64_t)job->dropped);
    json_key(j, STR("wrong"));
    json_i64(j, (int64_t)job->wrong);
    if (job->wrong)
        add_text(j, "error", str_from(job->failure.text));
    add_failures(j, job);
    add_status(j, job);
    json_close(j, '}');
}

void show_targets_json(struct scraper *s, struct buf *out,
                       show_may_see *may_see, void *arg)
{
    struct json j = json_start(out, 0);
    struct arena *a = arena_new();
    struct show_list list;

    pthread_mutex_lock(&s->lock);
    list = show_list_make(s, a, may_see, arg);
    json_open(&j, '{');
    json_key(&j, STR("jobs"));
    json_open(&j, '[');
    for (size_t i = 0; i < s->n_jobs; i++)
        add_job(&j, &s->jobs[i]);
    json_close(&j, ']');
    json_key(&j, STR("targets"));
    json_open(&j, '[');
    for (size_t i = 0; i < list.n; i++)
        add_target(&j, list.v[i]);
    json_close(&j, ']');
    json_close(&j, '}');
    buf_add_char(out, '\n');
    pthread_mutex_unlock(&s->lock);
    arena_free(a);
}

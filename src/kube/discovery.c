/*
 * The thread that ties the parts together: it sends what the list-and-watches
 * and the Secrets want sent, and waits for replies, for the next time when
 * something is due, or for another thread's wake-up.
 */
#include "kube/discovery.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"
#include "base/time_text.h"
#include "kube/list_watch.h"
#include "kube/pod_table.h"
#include "kube/request.h"

#define PAGE             500
#define WATCH_SECONDS    300
#define MIN_PAUSE_NS     (SECOND / 2)
#define MAX_PAUSE_NS     (30 * SECOND)
#define MAX_OBJECT_BYTES ((size_t)8 << 20)
#define MAX_BYTES        ((size_t)256 << 20)
#define STACK_BYTES      ((size_t)512 << 10)
#define STATUS_BYTES     4096

/* A list-and-watch with its request. */
struct source {
    struct list_watch lw;
    struct kube_request request;
};

struct kube_discovery {
    struct arena *arena; /* of the options' texts */
    struct kube_discovery_options options;
    struct kube_access *access;
    struct kube_client client;
    struct pod_table table;
    struct secrets secrets;
    struct source *sources;
    size_t n_sources;
    struct error access_problem; /* of the thread alone */

    pthread_t thread;
    bool has_thread;

    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t listed;
    bool is_stopping, is_listed;
    char status[STATUS_BYTES]; /* of the list-and-watches */
    struct error problem;      /* what is wrong at the moment, or "" */
    size_t n_bad;              /* pods whose annotations are wrong */
    struct error bad;          /* the first of them */
};

/* --- the thread ----------------------------------------------------------- */

static void take_answer(void *arg, int status, int64_t retry_after_ns)
{
    struct source *s = arg;

    list_watch_answer(&s->lw, status, retry_after_ns);
}

static bool take_body(void *arg, struct str bytes)
{
    struct source *s = arg;

    return list_watch_body(&s->lw, bytes);
}

static void take_end(void *arg, bool is_whole, const char *words,
                     int64_t now_ns)
{
    struct source *s = arg;

    list_watch_end(&s->lw, is_whole, words, now_ns);
}

static void send_source(struct kube_discovery *d, struct source *s,
                        int64_t now_ns)
{
    struct buf path = BUF_INIT((size_t)32 << 10);
    int seconds = s->lw.phase == WATCHING ? 2 * d->options.watch_seconds + 30
                                          : 0; /* a long list takes its time */

    list_watch_begin(&s->lw, now_ns, &path);
    if (buf_ok(&path))
        kube_request_send(&d->client, &s->request, buf_cstr(&path), seconds,
                          now_ns);
    else
        list_watch_end(&s->lw, false, "the selectors are too long", now_ns);
    buf_release(&path);
}

/* Sends the requests that are due; returns the time of the next one. */
static int64_t send_due(struct kube_discovery *d, int64_t now_ns)
{
    int64_t next_ns = INT64_MAX, secret_ns;
    bool has_changed = false;

    if (!kube_access_is_ready(d->access, now_ns, &next_ns, &d->access_problem))
        return next_ns;
    d->access_problem.text[0] = '\0';
    for (size_t i = 0; i < d->n_sources; i++) {
        struct source *s = &d->sources[i];

        if (!s->lw.is_busy && now_ns >= s->lw.due_ns)
            send_source(d, s, now_ns);
        if (!s->lw.is_busy && s->lw.due_ns < next_ns)
            next_ns = s->lw.due_ns;
    }
    secret_ns = secrets_run(&d->secrets, now_ns, &has_changed);
    if (has_changed)
        pod_table_touch(&d->table);
    return secret_ns < next_ns ? secret_ns : next_ns;
}

/* The first thing that is wrong. */
static const struct error *first_problem(const struct kube_discovery *d)
{
    static const struct error none;

    if (d->access_problem.text[0])
        return &d->access_problem;
    for (size_t i = 0; i < d->n_sources; i++)
        if (!list_watch_is_fine(&d->sources[i].lw))
            return &d->sources[i].lw.problem;
    for (size_t i = 0; i < d->n_sources; i++)
        if (d->sources[i].lw.bad_pod.text[0])
            return &d->sources[i].lw.bad_pod;
    return &none;
}

static void write_source(struct buf *out, const struct list_watch *lw)
{
    if (!list_watch_is_fine(lw))
        buf_addf(out, "%s; ", lw->problem.text);
    if (lw->bad_pod.text[0])
        buf_addf(out, "%s; ", lw->bad_pod.text);
    if (lw->listed_ns) {
        buf_add(out, STR("listed at "));
        time_add_rfc3339(out, lw->listed_ns);
        buf_addf(out, ", %llu events since; ", (unsigned long long)lw->events);
    }
}

/* The status as others may read it. */
static void publish(struct kube_discovery *d)
{
    struct buf text = BUF_INIT(STATUS_BYTES - 1);
    bool is_listed = true;

    if (d->access_problem.text[0])
        buf_addf(&text, "%s; ", d->access_problem.text);
    for (size_t i = 0; i < d->n_sources; i++) {
        write_source(&text, &d->sources[i].lw);
        is_listed = is_listed && d->sources[i].lw.listed_ns;
    }
    pthread_mutex_lock(&d->lock);
    snprintf(d->status, sizeof(d->status), "%" STR_FMT,
             STR_ARG(buf_str(&text)));
    d->problem = *first_problem(d);
    if (is_listed && !d->is_listed) {
        d->is_listed = true;
        pthread_cond_broadcast(&d->listed);
    }
    pthread_mutex_unlock(&d->lock);
    buf_release(&text);
}

static bool is_stopping(struct kube_discovery *d)
{
    bool yes;

    pthread_mutex_lock(&d->lock);
    yes = d->is_stopping;
    pthread_mutex_unlock(&d->lock);
    return yes;
}

static void *run(void *arg)
{
    struct kube_discovery *d = arg;

    while (!is_stopping(d)) {
        kube_client_run(&d->client, send_due(d, clock_monotonic_ns()));
        publish(d);
    }
    for (size_t i = 0; i < d->n_sources; i++)
        kube_request_cancel(&d->client, &d->sources[i].request);
    return NULL;
}

/* --- making and ending ---------------------------------------------------- */

static void set_defaults(struct kube_discovery_options *o)
{
    o->page = o->page ? o->page : PAGE;
    o->watch_seconds = o->watch_seconds ? o->watch_seconds : WATCH_SECONDS;
    o->min_pause_ns = o->min_pause_ns ? o->min_pause_ns : MIN_PAUSE_NS;
    o->max_pause_ns = o->max_pause_ns ? o->max_pause_ns : MAX_PAUSE_NS;
    o->max_object_bytes =
        o->max_object_bytes ? o->max_object_bytes : MAX_OBJECT_BYTES;
    o->max_bytes = o->max_bytes ? o->max_bytes : MAX_BYTES;
    o->secret_again_ns =
        o->secret_again_ns ? o->secret_again_ns : SECRETS_AGAIN_NS;
}

static const struct str *copy_texts(struct arena *a, const struct str *list,
                                    size_t n)
{
    struct str *copy = arena_new_array(a, struct str, n);

    for (size_t i = 0; i < n; i++)
        copy[i] = arena_str(a, list[i]);
    return copy;
}

/* The options outlive the caller's texts. */
static void keep_options(struct kube_discovery *d,
                         const struct kube_discovery_options *options)
{
    struct kube_discovery_options *o = &d->options;
    struct arena *a = d->arena;

    *o = *options;
    set_defaults(o);
    o->namespaces = copy_texts(a, o->namespaces, o->n_namespaces);
    o->targets.pod_labels =
        copy_texts(a, o->targets.pod_labels, o->targets.n_pod_labels);
    o->label_selector = arena_str(a, o->label_selector);
    o->field_selector = arena_str(a, o->field_selector);
    o->access = (struct kube_access_options){0};
}

static void add_sources(struct kube_discovery *d)
{
    const struct kube_discovery_options *o = &d->options;
    size_t n = o->n_namespaces ? o->n_namespaces : 1;

    d->sources = arena_new_array(d->arena, struct source, n);
    d->n_sources = n;
    for (size_t i = 0; i < n; i++) {
        struct source *s = &d->sources[i];

        list_watch_init(
            &s->lw,
            &(struct list_watch_options){
                .namespace_name = o->n_namespaces ? o->namespaces[i] : STR(""),
                .label_selector = o->label_selector,
                .field_selector = o->field_selector,
                .source = (unsigned)i,
                .page = o->page,
                .watch_seconds = o->watch_seconds,
                .min_pause_ns = o->min_pause_ns,
                .max_pause_ns = o->max_pause_ns,
                .max_object_bytes = o->max_object_bytes,
            },
            &d->table);
        s->request.owner =
            (struct kube_request_owner){take_answer, take_body, take_end, s};
    }
}

static bool start(struct kube_discovery *d,
                  const struct kube_discovery_options *options,
                  struct error *err)
{
    int failure;

    keep_options(d, options);
    d->access = kube_access_new(&options->access, err);
    if (!d->access || !kube_client_init(&d->client, d->access, err) ||
        !pod_table_init(&d->table, &d->options.targets, d->options.max_bytes,
                        err))
        return false;
    secrets_init(&d->secrets, &d->client, d->options.secret_again_ns);
    add_sources(d);
    publish(d);
    failure = thread_start(&d->thread, "pprof-kube", STACK_BYTES, run, d);
    d->has_thread = failure == 0;
    return d->has_thread || error_set_os(err, "start", "thread", failure);
}

struct kube_discovery *
kube_discovery_new(const struct kube_discovery_options *options,
                   struct error *err)
{
    struct kube_discovery *d = calloc(1, sizeof(*d));

    if (!d) {
        error_set(err, "out of memory");
        return NULL;
    }
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->listed, NULL);
    d->arena = arena_new();
    arena_detach(d->arena);
    if (start(d, options, err))
        return d;
    kube_discovery_free(d);
    return NULL;
}

void kube_discovery_free(struct kube_discovery *d)
{
    if (!d)
        return;
    if (d->has_thread) {
        pthread_mutex_lock(&d->lock);
        d->is_stopping = true;
        pthread_cond_broadcast(&d->listed);
        pthread_mutex_unlock(&d->lock);
        kube_client_wake(&d->client);
        pthread_join(d->thread, NULL);
    }
    for (size_t i = 0; i < d->n_sources; i++)
        list_watch_release(&d->sources[i].lw);
    if (d->n_sources)
        secrets_release(&d->secrets);
    kube_client_release(&d->client);
    kube_access_free(d->access);
    pod_table_release(&d->table);
    pthread_cond_destroy(&d->listed);
    pthread_mutex_destroy(&d->lock);
    arena_free(d->arena);
    free(d);
}

/* --- for other threads ---------------------------------------------------- */

uint64_t kube_discovery_version(struct kube_discovery *d)
{
    bool is_listed;

    pthread_mutex_lock(&d->lock);
    is_listed = d->is_listed;
    pthread_mutex_unlock(&d->lock);
    return is_listed ? pod_table_version(&d->table) : 0;
}

bool kube_discovery_snapshot(struct kube_discovery *d, struct arena *a,
                             struct label_set **out, size_t *n,
                             struct error *err)
{
    struct kube_targets targets;
    struct error bad = {0};
    size_t n_bad;

    if (!pod_table_targets(&d->table, a, &targets, &n_bad, &bad, err))
        return false;
    pthread_mutex_lock(&d->lock);
    d->n_bad = n_bad;
    d->bad = bad;
    pthread_mutex_unlock(&d->lock);
    *out = targets.v;
    *n = targets.n;
    return true;
}

bool kube_discovery_secret(struct kube_discovery *d, struct arena *a,
                           struct str namespace_and_name, struct kube_tls *out,
                           struct error *err)
{
    return secrets_get(&d->secrets, a, namespace_and_name, out, err);
}

bool kube_discovery_wait(struct kube_discovery *d, int64_t patience_ns,
                         struct error *err)
{
    struct timespec until = clock_timespec(clock_realtime_ns() + patience_ns);
    bool ok;

    pthread_mutex_lock(&d->lock);
    while (!d->is_listed && !d->is_stopping)
        if (pthread_cond_timedwait(&d->listed, &d->lock, &until) == ETIMEDOUT)
            break;
    ok = d->is_listed || error_set(err, "%s", d->status);
    pthread_mutex_unlock(&d->lock);
    return ok;
}

bool kube_discovery_failure(struct kube_discovery *d, struct error *out)
{
    bool has_failed;

    pthread_mutex_lock(&d->lock);
    has_failed = d->problem.text[0] != '\0';
    *out = d->problem;
    pthread_mutex_unlock(&d->lock);
    return has_failed;
}

void kube_discovery_status(struct kube_discovery *d, struct buf *out)
{
    size_t n = pod_table_count(&d->table);

    pthread_mutex_lock(&d->lock);
    if (d->n_bad)
        buf_addf(out, "%zu pods have annotations that cannot be used: %s; ",
                 d->n_bad, d->bad.text);
    buf_addf(out, "%s%zu pods of %s", d->status, n,
             kube_access_words(d->access));
    pthread_mutex_unlock(&d->lock);
}

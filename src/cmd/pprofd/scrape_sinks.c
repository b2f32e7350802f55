/*
 * A file name is made of service, type, instance and time; what could surprise
 * in it becomes an underscore.  The poster copies a profile into its queue,
 * and gives up on a collector that does not answer three times in a row, so
 * that a round ends soon when the collector is down.
 */
#include "cmd/pprofd/scrape_sinks.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/percent.h"
#include "base/query.h"
#include "base/thread.h"

#define QUEUE   64
#define STACK   ((size_t)512 << 10)
#define GIVE_UP 3 /* connections in a row that fail: it is not there */

/* --- a directory ---------------------------------------------------------- */

/* What is no letter, digit or one of .-_ would be a surprise in a name. */
static void add_name(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.s[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     (c >= '0' && c <= '9') || (i > 0 && c == '.') ||
                     c == '-' || c == '_';

        buf_add_char(out, plain ? c : '_');
    }
}

enum scrape_reason directory_deliver(void *arg, const struct scraped *s,
                                     struct error *err)
{
    struct buf path = BUF_INIT(4096);
    bool ok;

    buf_addf(&path, "%s/", (const char *)arg);
    add_name(&path, s->target->service);
    buf_add_char(&path, '-');
    add_name(&path, s->profile->kind.type);
    buf_add_char(&path, '-');
    add_name(&path, s->target->instance);
    buf_addf(&path, "-%lld.pb.gz", (long long)(clock_realtime_ns() / SECOND));
    ok = buf_ok(&path) ? file_write(buf_cstr(&path), s->bytes, err)
                       : error_set(err, "the file name is too long");
    buf_release(&path);
    return ok ? SCRAPE_OK : SCRAPE_STORE;
}

/* --- a collector ---------------------------------------------------------- */

struct post {
    struct arena *arena; /* of all of it */
    struct str url;      /* to post to */
    struct str target, profile, bytes;
};

struct poster {
    struct str collector;
    struct http_options options;
    scraper_failed *failed;
    void *arg;
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    struct post queue[QUEUE];
    size_t first, n;
    bool ends;
    unsigned lost; /* connections that failed in a row; the thread's */
};

static void add_pair(struct buf *out, struct str name, struct str value)
{
    percent_encode(out, name, "");
    buf_add_char(out, '=');
    percent_encode(out, value, "");
}

static struct str post_url(struct poster *p, struct arena *a,
                           const struct scraped *s)
{
    const struct label_set *labels = &s->target->labels;
    struct buf url = arena_buf(a), text = arena_buf(a);

    for (size_t i = 0; i < labels->n; i++) {
        if (i > 0)
            buf_add_char(&text, ',');
        add_pair(&text, labels->v[i].name, labels->v[i].value);
    }
    buf_add(&url, p->collector);
    buf_add(&url, STR("/api/0/profiles?service="));
    query_encode(&url, s->target->service);
    buf_add(&url, STR("&type="));
    query_encode(&url, s->profile->kind.type);
    buf_add(&url, STR("&labels="));
    query_encode(&url, buf_str(&text));
    if (s->is_delta)
        buf_add(&url, STR("&delta=true"));
    return buf_str(&url);
}

static void send_post(struct poster *p, const struct post *post)
{
    struct http_reply reply = {0};
    struct error err;
    bool ok = p->lost < GIVE_UP
                  ? http_fetch(post->url, true, post->bytes, &p->options,
                               &reply, &err)
                  : error_set(&err, "not tried: the collector did not answer");

    if (ok)
        p->lost = 0;
    else
        p->lost++;
    if (ok && reply.status != 200) {
        http_error_words(&reply, &err);
        ok = false;
    }
    if (!ok) {
        error_wrap(&err, "post to %" STR_FMT, STR_ARG(p->collector));
        p->failed(p->arg, post->target, post->profile, err.text);
    }
    buf_release(&reply.body);
}

static void *work(void *arg)
{
    struct poster *p = arg;

    pthread_mutex_lock(&p->lock);
    for (;;) {
        struct post post;

        while (p->n == 0 && !p->ends)
            pthread_cond_wait(&p->changed, &p->lock);
        if (p->n == 0)
            break;
        post = p->queue[p->first];
        p->first = (p->first + 1) % QUEUE;
        p->n--;
        pthread_cond_broadcast(&p->changed);
        pthread_mutex_unlock(&p->lock);
        send_post(p, &post);
        arena_free(post.arena);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

enum scrape_reason poster_deliver(void *arg, const struct scraped *s,
                                  struct error *err)
{
    struct poster *p = arg;
    struct arena *a = arena_new();
    struct post post = {.arena = a,
                        .url = post_url(p, a, s),
                        .target = arena_str(a, s->target->url),
                        .profile = arena_str(a, s->profile->kind.name),
                        .bytes = arena_str(a, s->bytes)};

    (void)err;
    pthread_mutex_lock(&p->lock);
    while (p->n == QUEUE)
        pthread_cond_wait(&p->changed, &p->lock);
    p->queue[(p->first + p->n++) % QUEUE] = post;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return SCRAPE_OK;
}

struct poster *poster_new(struct str collector,
                          const struct http_options *options,
                          scraper_failed *failed, void *arg, struct error *err)
{
    struct poster *p = calloc(1, sizeof(*p));
    int rc;

    if (!p) {
        error_set(err, "out of memory");
        return NULL;
    }
    while (str_has_suffix(collector, STR("/")))
        collector.n--;
    p->collector = collector;
    p->options = *options;
    p->failed = failed;
    p->arg = arg;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    rc = thread_start(&p->thread, "post", STACK, work, p);
    if (rc != 0) {
        error_set_os(err, "start", "thread", rc);
        free(p);
        return NULL;
    }
    return p;
}

void poster_free(struct poster *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->ends = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

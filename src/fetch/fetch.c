#include "fetch/fetch.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/goformat.h"
#include "fetch/perf_data.h"
#include "fetch/source_url.h"

#define SECOND ((int64_t)1000000000)

/* What the threads share: each takes the next source until none is left. */
struct work {
    const struct str *sources;
    size_t n;
    const struct fetch_options *options;
    struct fetched *out;
    atomic_size_t next;
    struct arena *arena; /* the caller's, with `lock` */
    pthread_mutex_t lock;
};

static bool is_file(const char *name)
{
    struct stat st;

    return stat(name, &st) == 0;
}

/* A measurement that a server makes for us, and who is told about it. */
struct wait {
    const struct fetch_options *options;
    int64_t end_ns;
    int64_t last_told;
};

static bool tell_progress(void *arg)
{
    struct wait *w = arg;
    int64_t left = w->end_ns - clock_monotonic_ns();
    int64_t seconds = left > 0 ? (left + SECOND - 1) / SECOND : 0;

    if (seconds != w->last_told)
        w->options->progress(w->options->say_arg, (int)seconds);
    w->last_told = seconds;
    return true;
}

static void announce(const struct source_url *source,
                     const struct fetch_options *o)
{
    struct buf words = BUF_INIT(BUF_NO_LIMIT);

    buf_addf(&words, "Fetching profile over HTTP from %" STR_FMT,
             STR_ARG(source->url));
    o->say(o->say_arg, buf_cstr(&words));
    if (o->seconds > 0) {
        buf_clear(&words);
        buf_add(&words, STR("Please wait... ("));
        goformat_duration(&words, source->duration_ns);
        buf_add(&words, STR(")"));
        o->say(o->say_arg, buf_cstr(&words));
    }
    buf_release(&words);
}

static bool get(const struct source_url *source, const struct fetch_options *o,
                struct http_reply *reply, struct error *err)
{
    struct http_options http = o->http;
    struct wait wait = {.options = o,
                        .end_ns = clock_monotonic_ns() + source->duration_ns};

    http.timeout_ns = source->timeout_ns;
    if (http.max_reply == 0 && o->limits)
        http.max_reply = o->limits->input_bytes;
    if (o->progress && source->duration_ns > 0) {
        http.tick = tell_progress;
        http.tick_arg = &wait;
    }
    if (!http_exchange(source->url, false, STR(""), &http, reply, err))
        return error_wrap(err, "http fetch");
    if (reply->status == 200)
        return true;
    http_error_words(reply, err);
    buf_release(&reply->body);
    return false;
}

static bool looks_like_html(const struct http_reply *reply)
{
    return strncmp(reply->content_type, "text/html", 9) == 0 ||
           str_has_prefix(str_trim(buf_str(&reply->body)), STR("<"));
}

static struct profile *fetch_url(const struct source_url *source,
                                 const struct fetch_options *o,
                                 struct error *err)
{
    struct http_reply reply;
    struct profile *p;

    announce(source, o);
    if (!get(source, o, &reply, err))
        return NULL;
    p = profile_read_memory(buf_str(&reply.body), o->limits, err);
    if (!p && looks_like_html(&reply))
        error_set(err, "the server sent an HTML page, not a profile (a URL "
                       "that ends in /debug/pprof/ lists its profiles)");
    buf_release(&reply.body);
    return p;
}

static struct str keep(struct work *w, struct str text)
{
    pthread_mutex_lock(&w->lock);
    text = arena_str(w->arena, text);
    pthread_mutex_unlock(&w->lock);
    return text;
}

static struct profile *
read_file(const char *name, const struct fetch_options *o, struct error *err)
{
    return perf_data_detect(name) ? perf_data_read(name, o->limits, err)
                                  : profile_read_file(name, o->limits, err);
}

static void fetch_one(struct work *w, struct str source, struct fetched *out)
{
    const struct fetch_options *o = w->options;
    struct arena *a = arena_new();
    const char *name = arena_cstr(a, source);
    struct source_url url;
    struct stat st;
    int missing = stat(name, &st) == 0 ? 0 : errno;

    if (str_eq(source, STR("-"))) {
        out->profile = profile_read_fd(STDIN_FILENO, o->limits, &out->error);
    } else if (missing == 0) {
        out->profile = read_file(name, o, &out->error);
    } else if (source_url_parse(a, source, o->seconds, o->timeout, &url)) {
        out->url = keep(w, url.url);
        out->profile = fetch_url(&url, o, &out->error);
    } else {
        error_set_os(&out->error, "stat", name, missing);
    }
    arena_free(a);
}

bool fetch_index(struct str source, const struct fetch_options *options,
                 struct arena *a, struct index_entries *out, struct error *err)
{
    struct http_reply reply;
    struct source_url url;
    bool ok;

    err->text[0] = '\0';
    if (is_file(arena_cstr(a, source)) ||
        !source_url_parse(a, source, options->seconds, options->timeout,
                          &url) ||
        !url.is_index)
        return false;
    if (!get(&url, options, &reply, err))
        return false;
    ok = index_parse(a, arena_str(a, buf_str(&reply.body)), out) ||
         error_set(err, "the page at %" STR_FMT " lists no profiles",
                   STR_ARG(url.url));
    buf_release(&reply.body);
    return ok;
}

static void *run(void *arg)
{
    struct work *w = arg;

    for (;;) {
        size_t i = atomic_fetch_add(&w->next, 1);
        if (i >= w->n)
            return NULL;
        fetch_one(w, w->sources[i], &w->out[i]);
    }
}

/* Files keep a processor busy each; what comes over the network waits, and
 * timed profiles must run side by side. */
static size_t threads_for(const struct str *sources, size_t n)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t wanted = processors > 0 ? (size_t)processors : 1;
    struct arena *a = arena_new();

    for (size_t i = 0; i < n; i++)
        wanted += !is_file(arena_cstr(a, sources[i]));
    arena_free(a);
    return wanted < n ? wanted : n;
}

void fetch_all(const struct str *sources, size_t n,
               const struct fetch_options *options, struct arena *a,
               struct fetched *out)
{
    struct work w = {.sources = sources,
                     .n = n,
                     .options = options,
                     .out = out,
                     .arena = a,
                     .lock = PTHREAD_MUTEX_INITIALIZER};
    size_t wanted = n > 1 ? threads_for(sources, n) : 1, started = 0;
    pthread_t *threads = arena_new_array(a, pthread_t, wanted);

    memset(out, 0, n * sizeof(*out));
    while (started + 1 < wanted &&
           pthread_create(&threads[started], NULL, run, &w) == 0)
        started++;
    run(&w); /* this thread works too, alone if it must */
    while (started > 0)
        pthread_join(threads[--started], NULL);
}

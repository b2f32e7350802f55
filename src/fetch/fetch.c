/*
 * A source is opened as a file first and treated as a URL only if there is no
 * such file, since a file name may look like one ("host:8080").  Sources are
 * fetched by several threads: timed profiles have to run at the same time, and
 * files keep one processor each busy.
 */
#include "fetch/fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/goformat.h"
#include "fetch/source_url.h"
#include "perf/convert.h"

#define BUSY_PAUSE_NS 500000000

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
    struct buf words = BUF_INIT(source->url.n + 256);

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

static bool ask_once(const struct source_url *source,
                     const struct fetch_options *o, struct http_reply *reply,
                     struct error *err)
{
    struct http_options http = o->http;
    struct wait wait = {.options = o,
                        .end_ns = clock_monotonic_ns() + source->duration_ns};

    http.login = source->login;
    http.timeout_ns = source->timeout_ns;
    if (http.max_reply == 0 && o->limits)
        http.max_reply = o->limits->input_bytes;
    if (o->progress && source->duration_ns > 0) {
        http.tick = tell_progress;
        http.tick_arg = &wait;
    }
    return http_fetch(source->url, false, STR(""), &http, reply, err) ||
           error_wrap(err, "http fetch");
}

/*
 * Go programs, and ours, make one CPU profile at a time, and a collector may
 * be taking one every minute.
 */
static bool is_busy(const struct http_reply *reply)
{
    return reply->status == 500 &&
           str_has_suffix(str_trim(buf_str(&reply->body)),
                          STR("profiling already in use"));
}

static bool get(const struct source_url *source, const struct fetch_options *o,
                struct http_reply *reply, struct error *err)
{
    int64_t give_up_ns = clock_monotonic_ns() + source->timeout_ns;
    bool told = false;

    for (;;) {
        if (!ask_once(source, o, reply, err))
            return false;
        if (!is_busy(reply) || clock_monotonic_ns() >= give_up_ns)
            break;
        if (!told)
            o->say(o->say_arg, "Another client is taking a profile there; "
                               "waiting for it to end");
        told = true;
        buf_release(&reply->body);
        nanosleep(&(struct timespec){.tv_nsec = BUSY_PAUSE_NS}, NULL);
    }
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

/* A file that is open: a profile, or what perf record wrote. */
static struct profile *read_file(int fd, const char *name,
                                 const struct profile_limits *limits,
                                 struct error *err)
{
    struct buf bytes =
        BUF_INIT((limits ? limits : &profile_default_limits)->input_bytes);
    struct profile *p = NULL;

    if (!file_read_fd(fd, name, &bytes, err)) {
        buf_release(&bytes);
        return NULL;
    }
    if (!perf_file_detect(buf_str(&bytes)))
        return profile_read_buf(&bytes, limits, err);
    p = perf_convert(buf_str(&bytes), limits, err);
    buf_release(&bytes);
    return p;
}

/* What cannot be opened: a file all the same, or a URL. */
static void fetch_unopened(struct work *w, struct arena *a, struct str source,
                           int reason, struct fetched *out)
{
    const struct fetch_options *o = w->options;
    const char *name = arena_cstr(a, source);
    struct source_url url;
    struct stat st;

    if (stat(name, &st) == 0) {
        error_set_os(&out->error, "open", name, reason);
    } else if (source_url_parse(a, source, o->seconds, o->timeout, &url)) {
        out->url = keep(w, url.url);
        out->login = keep(w, url.login);
        out->profile = fetch_url(&url, o, &out->error);
    } else if (str_contains(source, STR("://")) &&
               !str_has_prefix(source, STR("file:"))) {
        error_set(&out->error,
                  "not a valid URL (write \"/\" in a password as %%2F, \"@\" "
                  "as %%40 and a blank as %%20)");
    } else {
        error_set_os(&out->error, "stat",
                     arena_cstr(a, source_shown(a, source)), reason);
    }
}

static void fetch_one(struct work *w, struct str source, struct fetched *out)
{
    const struct profile_limits *limits = w->options->limits;
    struct arena *a = arena_new();
    const char *name = arena_cstr(a, source);
    int fd;

    if (str_eq(source, STR("-"))) {
        out->profile = profile_read_fd(STDIN_FILENO, limits, &out->error);
    } else if ((fd = open(name, O_RDONLY | O_CLOEXEC)) >= 0) {
        out->profile = read_file(fd, name, limits, &out->error);
        close(fd);
    } else {
        fetch_unopened(w, a, source, errno, out);
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
    if (!source_url_parse(a, source, options->seconds, options->timeout,
                          &url) ||
        !url.is_index || is_file(arena_cstr(a, source)))
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

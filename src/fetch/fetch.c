#include "fetch/fetch.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the threads share: each takes the next source until none is left. */
struct work {
    const struct str *sources;
    size_t n;
    const struct fetch_options *options;
    struct fetched *out;
    atomic_size_t next;
};

static bool is_file(const char *name)
{
    struct stat st;

    return stat(name, &st) == 0;
}

static void fetch_one(struct str source, const struct fetch_options *o,
                      struct fetched *out)
{
    struct arena *a = arena_new();
    const char *name = arena_cstr(a, source);

    if (str_eq(source, STR("-")))
        out->profile = profile_read_fd(STDIN_FILENO, o->limits, &out->error);
    else if (is_file(name))
        out->profile = profile_read_file(name, o->limits, &out->error);
    else
        error_set_os(&out->error, "stat", name, errno);
    arena_free(a);
}

static void *run(void *arg)
{
    struct work *w = arg;

    for (;;) {
        size_t i = atomic_fetch_add(&w->next, 1);
        if (i >= w->n)
            return NULL;
        fetch_one(w->sources[i], w->options, &w->out[i]);
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
    struct work w = {
        .sources = sources, .n = n, .options = options, .out = out};
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

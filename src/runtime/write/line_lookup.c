/*
 * Talks to libpprof-symbol.so, which reads debug information; libpprof itself
 * knows nothing of DWARF.  The library is loaded when lines are first wanted.
 * It runs in a thread of its own that may be left behind when it takes too
 * long: whoever is last, the thread or the one who waited for it, frees what
 * they share.
 */
#include "runtime/write/line_lookup.h"

#include <assert.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "runtime/own_thread.h"
#include "runtime/write/line_cache.h"

#define STACK_BYTES    (512u << 10)
#define DEFAULT_MEMORY 64u /* MB */
#define NICE           5   /* of a busy processor a third of what others get */
#define SLOTS          65536u /* functions beyond that are not joined */
#define CACHE_SHARE    64     /* of the memory, for the cache */

/* The addresses of one module. */
struct line_group {
    struct line_module module;
    size_t first, n; /* places */
};

struct line_lookup *line_lookup_new(void)
{
    struct line_lookup *l = pages_alloc(sizeof(*l));

    if (!l)
        return NULL;
    lines_init(&l->lines);
    l->groups.size = sizeof(struct line_group);
    l->vaddrs.size = sizeof(uint64_t);
    l->missing.size = sizeof(uint64_t);
    l->missing_at.size = sizeof(size_t);
    return l;
}

void line_lookup_free(struct line_lookup *l)
{
    if (!l)
        return;
    lines_release(&l->lines);
    pages_vec_release(&l->groups);
    pages_vec_release(&l->vaddrs);
    pages_vec_release(&l->missing);
    pages_vec_release(&l->missing_at);
    pages_free(l, sizeof(*l));
}

/* --- the library -------------------------------------------------------- */

/* Bytes; read when we are loaded, since a preloaded library cleans the
 * environment for programs that are started from this one. */
static uint64_t memory_limit = (uint64_t)DEFAULT_MEMORY << 20;

/* A program that runs with other rights than its user's takes nothing from
 * the environment. */
__attribute__((constructor(101))) static void read_limit(void)
{
    const char *text =
        getauxval(AT_SECURE) ? NULL : getenv("PPROF_SYMBOL_MEMORY");
    uint64_t mb;

    if (text && str_to_u64(str_from(text), 10, &mb))
        memory_limit = mb > UINT64_MAX >> 20 ? UINT64_MAX : mb << 20;
}

static void *open_library(void)
{
    char path[PATH_MAX];
    const char *slash;
    void *library = NULL;
    Dl_info here;
    int n;

    /* Beside ourselves first: the one that was built with us. */
    if (dladdr((void *)(uintptr_t)line_lookup_new, &here) && here.dli_fname &&
        (slash = strrchr(here.dli_fname, '/')) != NULL) {
        n = snprintf(path, sizeof(path), "%.*s/%s",
                     (int)(slash - here.dli_fname), here.dli_fname,
                     PPROF_SYMBOL_LIBRARY);
        if (n > 0 && n < PATH_MAX)
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return library ? library
                   : dlopen(PPROF_SYMBOL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
}

/* Looked for once; it stays loaded. */
static pprof_symbol_function *find_library(void)
{
    static _Atomic(void *) found;
    static atomic_bool looked;
    void *f = atomic_load(&found), *library;
    pprof_symbol_function *function;

    if (!f && !atomic_exchange(&looked, true) &&
        (library = open_library()) != NULL) {
        f = dlsym(library, PPROF_SYMBOL_FUNCTION);
        atomic_store(&found, f);
    }
    memcpy(&function, &f, sizeof(function));
    return function;
}

/* --- what to ask -------------------------------------------------------- */

static struct line_module module_key(const struct module *m)
{
    struct line_module key = {.build_id_n = m->build_id_n};

    static_assert(sizeof(key.path) == sizeof(m->path), "the same paths");
    static_assert(sizeof(key.build_id) == sizeof(m->build_id), "and ids");
    memcpy(key.path, m->path, sizeof(key.path));
    memcpy(key.build_id, m->build_id, sizeof(key.build_id));
    return key;
}

/* The group that the next address belongs to; NULL: to none. */
static struct line_group *group_for(struct line_lookup *l,
                                    const struct module *m)
{
    struct line_group *v = l->groups.p, *g;
    struct line_module key;

    if (!m || m->is_vdso || m->build_id_n == 0 || m->path[0] != '/')
        return NULL;
    key = module_key(m);
    if (l->groups.n && line_module_equal(&v[l->groups.n - 1].module, &key))
        return &v[l->groups.n - 1];
    g = pages_vec_push(&l->groups, 1);
    if (!g)
        return NULL;
    g->module = key;
    g->first = l->lines.places.n - 1;
    return g;
}

bool lines_wanted(void)
{
    return memory_limit != 0 && find_library();
}

bool line_lookup_plan(struct line_lookup *l, const struct modules *modules,
                      const uint64_t *addresses, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct module *m = modules_find(modules, addresses[i]);
        uint64_t *vaddr = pages_vec_push(&l->vaddrs, 1);
        struct line_group *g;

        if (!vaddr || !pages_vec_push(&l->lines.places, 1))
            return false;
        *vaddr = m ? addresses[i] - m->bias : 0;
        g = group_for(l, m);
        /* One that does not follow the others starts a group of its own. */
        if (g && g->first + g->n == i)
            g->n++;
    }
    return l->groups.n > 0 && lines_reserve(&l->lines, SLOTS);
}

/* --- answers ------------------------------------------------------------ */

/* Only one at a time: whoever has set it owns the cache. */
static atomic_bool busy;
static struct line_cache cache;
static bool has_cache; /* it is initialised */

static struct line_place *place_at(const struct line_lookup *l, size_t i)
{
    return (struct line_place *)l->lines.places.p + i;
}

/* Takes what is cached; false: something is missing. */
static bool take_cached(struct line_lookup *l)
{
    const struct line_group *v = l->groups.p;
    const uint64_t *vaddrs = l->vaddrs.p;
    int64_t now_ns = clock_monotonic_ns();
    bool is_complete = true;
    uint32_t module;

    for (size_t i = 0; i < l->groups.n; i++) {
        const struct line_group *g = &v[i];
        bool is_known = line_cache_find_module(&cache, &g->module, &module);

        for (size_t j = g->first; j < g->first + g->n; j++)
            is_complete &=
                is_known && line_cache_find(&cache, module, vaddrs[j], now_ns,
                                            &l->lines, place_at(l, j));
    }
    return is_complete;
}

/* The addresses of a group that are not cached; false: none, or no memory. */
static bool list_missing(struct line_lookup *l, const struct line_group *g)
{
    const uint64_t *vaddrs = l->vaddrs.p;

    l->missing.n = l->missing_at.n = 0;
    for (size_t i = g->first; i < g->first + g->n; i++) {
        uint64_t *vaddr;
        size_t *at;

        if (place_at(l, i)->is_cached)
            continue;
        vaddr = pages_vec_push(&l->missing, 1);
        at = pages_vec_push(&l->missing_at, 1);
        if (!vaddr || !at)
            return false;
        *vaddr = vaddrs[i];
        *at = i;
    }
    return l->missing.n > 0;
}

static void take(void *arg, size_t index, const struct symbol_frame *frames,
                 size_t n)
{
    struct line_lookup *l = arg;
    const size_t *at = l->missing_at.p;

    lines_add(&l->lines, place_at(l, at[index]), frames, n);
}

static bool ask(struct line_lookup *l, const struct line_module *m)
{
    bool left_out = false;
    struct pprof_symbol_question q = {
        .size = sizeof(q),
        .path = m->path,
        .build_id = m->build_id,
        .build_id_n = m->build_id_n,
        .addresses = l->missing.p,
        .n = l->missing.n,
        .memory = memory_limit,
        .found = take,
        .arg = l,
        .left_out = &left_out,
    };

    return find_library()(&q) && !left_out && !l->lines.failed;
}

static void remember(struct line_lookup *l, const struct line_module *m)
{
    const uint64_t *vaddrs = l->vaddrs.p;
    const size_t *at = l->missing_at.p;
    int64_t now_ns = clock_monotonic_ns();
    uint32_t module;

    if (l->lines.failed || !line_cache_add_module(&cache, m, &module))
        return;
    for (size_t i = 0; i < l->missing_at.n; i++)
        line_cache_add(&cache, module, vaddrs[at[i]], now_ns, &l->lines,
                       *place_at(l, at[i]));
}

static void look_up(struct line_lookup *l, const struct line_group *g)
{
    const size_t *at;
    bool is_final;

    if (!list_missing(l, g))
        return;
    at = l->missing_at.p;
    is_final = ask(l, &g->module);
    for (size_t i = 0; i < l->missing_at.n; i++)
        place_at(l, at[i])->is_final = is_final;
    remember(l, &g->module);
}

enum { RUNNING, DONE, ABANDONED };

static void *run(void *arg)
{
    struct line_lookup *l = arg;
    const struct line_group *v = l->groups.p;

    own_thread_enter();
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
    line_cache_begin(&cache);
    for (size_t i = 0; i < l->groups.n && !l->lines.failed; i++)
        look_up(l, &v[i]);
    if (atomic_exchange(&l->state, DONE) == ABANDONED)
        line_lookup_free(l);
    atomic_store(&busy, false);
    own_thread_leave();
    return NULL;
}

bool line_lookup_run(struct line_lookup *l)
{
    struct timespec until;
    pthread_t thread;

    if (atomic_exchange(&busy, true))
        return true; /* without lines */
    if (!has_cache)
        line_cache_init(&cache, memory_limit / CACHE_SHARE);
    has_cache = true;
    if (take_cached(l) ||
        thread_start(&thread, "pprof-symbol", STACK_BYTES, run, l) != 0) {
        atomic_store(&busy, false);
        return true;
    }
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LINES_SECONDS;
    if (pthread_timedjoin_np(thread, NULL, &until) == 0)
        return true;
    if (atomic_exchange(&l->state, ABANDONED) == DONE) {
        pthread_join(thread, NULL);
        return true;
    }
    pthread_detach(thread);
    return false;
}

void line_lookup_after_fork(void)
{
    /* The memory is lost: the cache may have been half written. */
    if (atomic_exchange(&busy, false))
        has_cache = false;
}

/*
 * Talks to libpprof-symbol.so, which reads debug information; libpprof itself
 * knows nothing of DWARF.  The library is loaded when lines are first wanted.
 * It runs in a thread of its own that may be left behind when it takes too
 * long: whoever is last, the thread or the one who waited for it, frees what
 * they share.
 */
#include "runtime/write/line_lookup.h"

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

#include "base/thread.h"
#include "dwarf/library.h"
#include "runtime/own_thread.h"

#define STACK_BYTES    (512u << 10)
#define DEFAULT_MEMORY 64u /* MB */
#define NICE           5   /* of a busy processor a third of what others get */
#define SLOTS          65536u /* functions beyond that are not joined */

/* The addresses of one module. */
struct line_group {
    char path[sizeof(((struct module *)0)->path)];
    uint8_t build_id[ELF_BUILD_ID_MAX];
    size_t build_id_n;
    size_t first, n; /* places */
};

struct lines *lines_new(void)
{
    struct lines *l = pages_alloc(sizeof(*l));

    if (!l)
        return NULL;
    l->groups.size = sizeof(struct line_group);
    l->vaddrs.size = sizeof(uint64_t);
    l->places.size = sizeof(struct line_place);
    l->frames.size = sizeof(struct line_frame);
    l->functions.size = sizeof(struct line_function);
    l->slots.size = sizeof(uint32_t);
    l->text.size = 1;
    return l;
}

void lines_free(struct lines *l)
{
    if (!l)
        return;
    pages_vec_release(&l->groups);
    pages_vec_release(&l->vaddrs);
    pages_vec_release(&l->places);
    pages_vec_release(&l->frames);
    pages_vec_release(&l->functions);
    pages_vec_release(&l->slots);
    pages_vec_release(&l->text);
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
    if (dladdr((void *)(uintptr_t)lines_new, &here) && here.dli_fname &&
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

static bool same_module(const struct line_group *g, const struct module *m)
{
    return strcmp(g->path, m->path) == 0 && g->build_id_n == m->build_id_n &&
           memcmp(g->build_id, m->build_id, g->build_id_n) == 0;
}

/* The group that the next address belongs to; NULL: to none. */
static struct line_group *group_for(struct lines *l, const struct module *m)
{
    struct line_group *v = l->groups.p, *g;

    if (!m || m->is_vdso || m->build_id_n == 0 || m->path[0] != '/')
        return NULL;
    if (l->groups.n && same_module(&v[l->groups.n - 1], m))
        return &v[l->groups.n - 1];
    g = pages_vec_push(&l->groups, 1);
    if (!g)
        return NULL;
    memcpy(g->path, m->path, sizeof(g->path));
    memcpy(g->build_id, m->build_id, sizeof(g->build_id));
    g->build_id_n = m->build_id_n;
    g->first = l->places.n - 1;
    return g;
}

bool lines_wanted(void)
{
    return memory_limit != 0 && find_library();
}

bool lines_plan(struct lines *l, const struct modules *modules,
                const uint64_t *addresses, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct module *m = modules_find(modules, addresses[i]);
        uint64_t *vaddr = pages_vec_push(&l->vaddrs, 1);
        struct line_group *g;

        if (!vaddr || !pages_vec_push(&l->places, 1))
            return false;
        *vaddr = m ? addresses[i] - m->bias : 0;
        g = group_for(l, m);
        /* One that does not follow the others starts a group of its own. */
        if (g && g->first + g->n == i)
            g->n++;
    }
    return l->groups.n > 0 && pages_vec_push(&l->slots, SLOTS) != NULL;
}

/* --- answers ------------------------------------------------------------ */

static uint32_t add_text(struct lines *l, struct str s)
{
    size_t at = l->text.n;
    char *to = pages_vec_push(&l->text, s.n + 1);

    if (!to || at > UINT32_MAX) {
        l->failed = true;
        return 0;
    }
    if (s.n)
        memcpy(to, s.s, s.n);
    to[s.n] = '\0';
    return (uint32_t)at;
}

static bool is_function(const struct lines *l, uint32_t i,
                        const struct symbol_frame *f)
{
    const struct line_function *v = lines_function(l, i);

    return v->start_line == f->start_line &&
           str_eq(lines_text(l, v->name), f->function) &&
           str_eq(lines_text(l, v->file), f->file);
}

static uint32_t find_function(struct lines *l, const struct symbol_frame *f)
{
    uint32_t *slots = l->slots.p;
    uint64_t hash = str_hash(f->function) * 31 + str_hash(f->file) +
                    (uint64_t)f->start_line;
    struct line_function *to;

    for (uint64_t i = hash, tries = 0; tries < 64; i++, tries++) {
        uint32_t *slot = &slots[i % SLOTS];

        if (*slot && is_function(l, *slot - 1, f))
            return *slot - 1;
        if (*slot == 0) {
            *slot = (uint32_t)l->functions.n + 1;
            break;
        }
    }
    to = pages_vec_push(&l->functions, 1);
    if (!to) {
        l->failed = true;
        return 0;
    }
    *to = (struct line_function){add_text(l, f->function), add_text(l, f->file),
                                 f->start_line, 0};
    return (uint32_t)(l->functions.n - 1);
}

static void take(void *arg, size_t index, const struct symbol_frame *frames,
                 size_t n)
{
    struct lines *l = arg;
    const struct line_group *g = (struct line_group *)l->groups.p + l->group;
    struct line_place *place =
        (struct line_place *)l->places.p + g->first + index;
    size_t first = l->frames.n;

    if (place->n || l->failed)
        return;
    /* Of a monstrous stack the outer part stays. */
    for (size_t i = n > LINES_MAX_FRAMES ? n - LINES_MAX_FRAMES : 0; i < n;
         i++) {
        uint32_t function = find_function(l, &frames[i]);
        struct line_frame *to = pages_vec_push(&l->frames, 1);

        if (!to || l->failed) {
            l->failed = true;
            return;
        }
        *to = (struct line_frame){function, frames[i].line, frames[i].column};
    }
    *place =
        (struct line_place){(uint32_t)first, (uint32_t)(l->frames.n - first)};
}

static bool ask(struct lines *l, const struct line_group *g)
{
    bool left_out = false;
    struct pprof_symbol_question q = {
        .size = sizeof(q),
        .path = g->path,
        .build_id = g->build_id,
        .build_id_n = g->build_id_n,
        .addresses = (const uint64_t *)l->vaddrs.p + g->first,
        .n = g->n,
        .memory = memory_limit,
        .found = take,
        .arg = l,
        .left_out = &left_out,
    };

    return find_library()(&q) && !left_out && !l->failed;
}

enum { RUNNING, DONE, ABANDONED };

/* Only one at a time. */
static atomic_bool busy;

static void *run(void *arg)
{
    struct lines *l = arg;
    const struct line_group *v = l->groups.p;
    struct line_place *places = l->places.p;

    own_thread_enter();
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
    for (l->group = 0; l->group < l->groups.n && !l->failed; l->group++) {
        const struct line_group *g = &v[l->group];

        if (ask(l, g))
            for (size_t i = 0; i < g->n; i++)
                places[g->first + i].is_final = true;
    }
    if (atomic_exchange(&l->state, DONE) == ABANDONED)
        lines_free(l);
    atomic_store(&busy, false);
    own_thread_leave();
    return NULL;
}

bool lines_resolve(struct lines *l)
{
    struct timespec until;
    pthread_t thread;

    if (atomic_exchange(&busy, true))
        return true; /* without lines */
    if (thread_start(&thread, "pprof-symbol", STACK_BYTES, run, l) != 0) {
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

/*
 * The list follows the loader: its counters of loads and unloads say in one
 * call whether anything has changed.  A new list is published as a whole, in a
 * map that never changes afterwards, and what the old one used is freed when
 * no handler can be reading it any more (grace.h), or never if one does not
 * come to its end.
 */
#include "runtime/unwind/modules.h"

#include <assert.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/pages.h"
#include "dwarf/library.h"
#include "elf/cfi.h"

/* How long the old map waits for handlers that still read it. */
#define GRACE_NS 1000000000

/* Tables are published when so many rows are new: a map for each of a hundred
 * small libraries is not worth it. */
#define ROWS_AT_ONCE 100000

struct retired {
    void *p;
    size_t n;
};

struct scan {
    struct modules *m;
    bool seen[MODULES_MAX];
    uint64_t adds, subs;
    bool is_first;
};

/* Of a map that was never published: no handler has seen anything of it. */
static void release(struct modules *m)
{
    for (size_t i = 0; i < m->n; i++)
        pages_free(m->v[i].frames.p, m->v[i].frames.n);
    rule_set_release(&m->rules);
    pages_vec_release(&m->retired);
    pages_free(m->v, MODULES_MAX * sizeof(*m->v));
    *m = (struct modules){0};
}

bool modules_init(struct modules *m)
{
    *m = (struct modules){.retired = {.size = sizeof(struct retired)}};
    m->v = pages_alloc(MODULES_MAX * sizeof(*m->v));
    if (m->v && rule_set_init(&m->rules) && modules_refresh(m))
        return true;
    release(m);
    return false;
}

static void free_retired(struct modules *m)
{
    const struct retired *r = m->retired.p;

    for (size_t i = 0; i < m->retired.n; i++)
        pages_free(r[i].p, r[i].n);
    m->retired.n = 0;
}

/* To be freed when no handler can read it any more.  Out of memory it is
 * never freed. */
static void retire(struct modules *m, void *p, size_t n)
{
    struct retired *to = p ? pages_vec_push(&m->retired, 1) : NULL;

    if (to)
        *to = (struct retired){p, n};
}

static void retire_frames(struct modules *m, struct module *mod)
{
    retire(m, mod->frames.p, mod->frames.n);
    mod->frames = (struct unwind_data){0};
}

static void retire_table(struct modules *m, struct module *mod)
{
    retire(m, mod->table.buckets, mod->table.buckets_n);
    retire(m, mod->table.rules, mod->table.rules_n);
    retire(m, mod->table.low, mod->table.low_n);
    mod->table = (struct unwind_table){0};
}

/* The loader calls the program "" and the vDSO by a name without a file. */
static void set_path(struct module *mod, const char *name)
{
    if (mod->is_main) {
        ssize_t n =
            readlink("/proc/self/exe", mod->path, sizeof(mod->path) - 1);

        mod->path[n > 0 ? n : 0] = '\0';
        return;
    }
    if (mod->is_vdso)
        name = "[vdso]";
    strncpy(mod->path, name, sizeof(mod->path) - 1);
    mod->path[sizeof(mod->path) - 1] = '\0';
}

static void describe(struct module *mod, const struct dl_phdr_info *info,
                     bool is_first)
{
    uint64_t vdso = getauxval(AT_SYSINFO_EHDR);

    *mod = (struct module){
        .bias = info->dlpi_addr, .is_loaded = true, .is_main = is_first};
    elf_view_module(&mod->view, info->dlpi_addr, info->dlpi_phdr,
                    info->dlpi_phnum);
    mod->start = mod->bias + mod->view.text_start;
    mod->limit = mod->bias + mod->view.text_limit;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const Elf64_Phdr *ph = &info->dlpi_phdr[i];

        if (ph->p_type == PT_LOAD && ph->p_vaddr == mod->view.text_start)
            mod->offset = ph->p_offset;
    }
    mod->is_vdso = vdso >= mod->bias && vdso < mod->limit && !is_first;
    set_path(mod, info->dlpi_name);
    mod->build_id_n = elf_build_id(&mod->view, mod->build_id);
}

/* Where it was before, it may have samples that want its name. */
static bool same_module(const struct module *a, const struct module *b)
{
    return a->limit - a->start == b->limit - b->start &&
           a->build_id_n == b->build_id_n &&
           memcmp(a->build_id, b->build_id, a->build_id_n) == 0 &&
           strcmp(a->path, b->path) == 0 && a->bias == b->bias;
}

static bool overlaps(const struct module *a, const struct module *b)
{
    return a->start < b->limit && b->start < a->limit;
}

/* A free place: a new one, else that of the module that died first.  A dead
 * module whose addresses are taken by `mod` is of no more use either. */
static struct module *new_place(struct modules *m, const struct module *mod)
{
    struct module *oldest = NULL;
    size_t dead = 0;

    for (size_t i = 0; i < m->n; i++) {
        struct module *v = &m->v[i];

        if (v->is_loaded || v == m->building)
            continue;
        if (overlaps(v, mod))
            return v;
        dead++;
        if (!oldest || v->died < oldest->died)
            oldest = v;
    }
    if (dead < MODULES_MAX_DEAD && m->n < MODULES_MAX)
        return &m->v[m->n++];
    return oldest;
}

static struct module *find_same(struct scan *s, const struct module *mod)
{
    for (size_t i = 0; i < s->m->n; i++)
        if (!s->seen[i] && same_module(&s->m->v[i], mod))
            return &s->m->v[i];
    return NULL;
}

bool modules_is_own(struct str path)
{
    return str_has_suffix(path, STR("/" PPROF_SYMBOL_LIBRARY));
}

static void take_module(struct scan *s, const struct dl_phdr_info *info)
{
    struct module now, *place;

    describe(&now, info, s->is_first);
    if (now.limit <= now.start || modules_is_own(str_from(now.path)))
        return; /* no code in it, or none that is ever sampled */
    place = find_same(s, &now);
    if (place) {
        now.table = place->table;
        now.frames = place->frames;
        now.view = place->view;
        now.was_built = place->was_built;
        *place = now;
        s->seen[place - s->m->v] = true;
        return;
    }
    place = new_place(s->m, &now);
    if (!place) {
        s->m->ignored++;
        return;
    }
    retire_table(s->m, place);
    retire_frames(s->m, place);
    *place = now;
    s->seen[place - s->m->v] = true;
    unwind_data_take(
        &place->frames, &place->view,
        &(struct frames_file){place->is_main ? "/proc/self/exe" : place->path,
                              place->build_id, place->build_id_n,
                              info->dlpi_phdr, info->dlpi_phnum});
}

static int is_unchanged(struct dl_phdr_info *info, size_t size, void *ctx)
{
    const struct modules *m = ctx;

    (void)size;
    return info->dlpi_adds == m->adds && info->dlpi_subs == m->subs ? 1 : -1;
}

static int on_module(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct scan *s = ctx;

    (void)size;
    s->adds = info->dlpi_adds;
    s->subs = info->dlpi_subs;
    take_module(s, info);
    s->is_first = false;
    return 0;
}

static int by_start(const void *a, const void *b)
{
    const struct unwind_range *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

static void add_range(struct unwind_map *map, const struct module *mod)
{
    struct unwind_range *r = &map->ranges[map->n++];

    *r = (struct unwind_range){
        .start = mod->start, .limit = mod->limit, .bias = mod->bias};
    r->table = mod->table;
    if (mod->frames.p)
        cfi_open(&r->cfi, &mod->view);
}

static struct unwind_map *map_new(const struct modules *m, size_t *bytes)
{
    size_t cache = UNWIND_CACHE_SLOTS * sizeof(uint64_t);
    struct unwind_map *map;

    *bytes = sizeof(*map) + m->n * sizeof(map->ranges[0]) + cache;
    map = pages_alloc(*bytes);
    if (!map)
        return NULL;
    map->rules = m->rules.rules;
    for (size_t i = 0; i < m->n; i++)
        if (m->v[i].is_loaded)
            add_range(map, &m->v[i]);
    map->cache = (_Atomic uint64_t *)&map->ranges[m->n];
    assert(map->n <= m->n);
    qsort(map->ranges, map->n, sizeof(map->ranges[0]), by_start);
    return map;
}

/* The new map out; what is retired is freed when nobody reads it, else next
 * time. */
static bool publish(struct modules *m)
{
    size_t bytes;
    struct unwind_map *map = map_new(m, &bytes);

    if (!map)
        return false;
    retire(m, atomic_exchange(&m->map, map), m->map_bytes);
    m->map_bytes = bytes;
    if (m->retired.n && grace_wait(&m->grace, GRACE_NS))
        free_retired(m);
    return true;
}

bool modules_refresh(struct modules *m)
{
    struct scan *s;
    bool ok;

    if (m->map && dl_iterate_phdr(is_unchanged, m) == 1)
        return true;
    s = pages_alloc(sizeof(*s));
    if (!s)
        return false;
    s->m = m;
    s->is_first = true;
    dl_iterate_phdr(on_module, s);
    m->adds = s->adds;
    m->subs = s->subs;
    m->refreshes++;
    for (size_t i = 0; i < m->n; i++) {
        if (!s->seen[i] && m->v[i].is_loaded) {
            m->v[i].is_loaded = false;
            m->v[i].died = m->refreshes;
        }
    }
    ok = publish(m);
    pages_free(s, sizeof(*s));
    return ok;
}

static struct module *next_unbuilt(const struct modules *m)
{
    struct module *best = NULL;

    for (size_t i = 0; i < m->n; i++) {
        struct module *mod = &m->v[i];

        if (mod->is_loaded && mod->frames.p && !mod->was_built &&
            (!best || mod->frames.n < best->frames.n))
            best = mod;
    }
    return best;
}

bool modules_build_begin(struct modules *m, struct module_build *job)
{
    struct module *mod = next_unbuilt(m);

    if (!mod)
        return false;
    m->building = mod;
    *job = (struct module_build){mod, mod->view, &m->rules, {0}};
    return true;
}

void modules_build_run(struct module_build *job)
{
    unwind_table_build(&job->table, &job->view, job->rules);
}

void modules_build_end(struct modules *m, struct module_build *job)
{
    assert(m->building == job->module && !job->module->was_built);
    m->building = NULL;
    job->module->table = job->table;
    job->module->was_built = true;
    if (job->table.buckets)
        retire_frames(m, job->module); /* the next map does without */
    m->unpublished += job->table.n_rows;
    if (m->unpublished >= ROWS_AT_ONCE || !next_unbuilt(m)) {
        m->unpublished = 0;
        publish(m);
    }
}

void modules_build_all(struct modules *m)
{
    struct module_build job;

    while (modules_build_begin(m, &job)) {
        modules_build_run(&job);
        modules_build_end(m, &job);
    }
}

bool modules_has_unbuilt(const struct modules *m)
{
    return next_unbuilt(m) != NULL;
}

void modules_build_abandon(struct modules *m)
{
    m->building = NULL;
}

const struct module *modules_find(const struct modules *m, uint64_t address)
{
    const struct module *dead = NULL;

    for (size_t i = 0; i < m->n; i++) {
        const struct module *mod = &m->v[i];

        if (address < mod->start || address >= mod->limit)
            continue;
        if (mod->is_loaded)
            return mod;
        dead = mod;
    }
    return dead;
}

struct symbols_in_memory {
    const struct module *module;
    struct elf_symbols *out;
    bool found;
};

/* With the loader's lock held, so that it cannot be unloaded meanwhile. */
static int read_symbols(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct symbols_in_memory *s = ctx;
    struct elf_view v;

    (void)size;
    if (info->dlpi_addr != s->module->bias)
        return 0;
    elf_view_module(&v, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum);
    s->found = elf_symbols_from_module(s->out, &v);
    return 1;
}

bool module_symbols(const struct module *module, struct elf_symbols *out)
{
    struct symbols_in_memory memory = {module, out, false};
    const char *path = module->is_main ? "/proc/self/exe" : module->path;
    int fd = module->is_vdso ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    bool ok = false;

    if (fd >= 0) {
        ok = elf_symbols_from_fd(out, fd, module->build_id, module->build_id_n);
        close(fd);
    }
    if (!ok && module->is_loaded)
        dl_iterate_phdr(read_symbols, &memory);
    return ok || memory.found;
}

size_t modules_bytes(const struct modules *m)
{
    size_t bytes = m->map_bytes + m->rules.n * sizeof(*m->rules.rules);

    for (size_t i = 0; i < m->n; i++)
        bytes += unwind_table_bytes(&m->v[i].table);
    return bytes;
}

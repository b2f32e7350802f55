#include "runtime/modules.h"

#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/pages.h"
#include "elf/cfi.h"

/* How long the old map waits for handlers that still read it. */
#define GRACE_NS 1000000000

/* A copy of the part of a module that holds its unwind data. */
struct frame_copy {
    struct module *module;
    struct elf_view view; /* its one segment is the copy */
    void *bytes;
    size_t n;
};

struct scan {
    struct modules *m;
    struct pages_vec copies; /* of struct frame_copy, for new modules */
    bool seen[MODULES_MAX];
    uint64_t adds, subs;
    bool is_first, failed;
};

bool modules_init(struct modules *m)
{
    *m = (struct modules){0};
    m->v = pages_alloc(MODULES_MAX * sizeof(*m->v));
    return m->v && rule_set_init(&m->rules) && modules_refresh(m);
}

static void map_free(struct unwind_map *map, size_t bytes)
{
    pages_free(map, bytes);
}

void modules_release(struct modules *m)
{
    for (size_t i = 0; i < m->n; i++)
        unwind_table_release(&m->v[i].table);
    map_free(atomic_load(&m->map), m->map_bytes);
    rule_set_release(&m->rules);
    pages_free(m->v, MODULES_MAX * sizeof(*m->v));
    *m = (struct modules){0};
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

static bool same_module(const struct module *a, const struct module *b)
{
    return a->limit - a->start == b->limit - b->start &&
           a->build_id_n == b->build_id_n &&
           memcmp(a->build_id, b->build_id, a->build_id_n) == 0 &&
           strcmp(a->path, b->path) == 0 &&
           (a->build_id_n != 0 || a->bias == b->bias);
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

        if (v->is_loaded)
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

/* Copies from .eh_frame_hdr or .eh_frame, whichever comes first, to the end
 * of their segment.  Called with the loader's lock held. */
static void copy_frames(struct scan *s, struct module *mod)
{
    const struct elf_view *v = &mod->view;
    uint64_t frame = cfi_eh_frame(v), first = v->eh_frame_hdr;
    const uint8_t *bytes;
    struct frame_copy *c;
    size_t n;

    if (!frame)
        return;
    first = frame < first ? frame : first;
    bytes = elf_view_rest(v, first, &n);
    if (!bytes ||
        !elf_view_at(v, first,
                     (frame > v->eh_frame_hdr ? frame : v->eh_frame_hdr) -
                         first + 1))
        return; /* in two segments: no linker does that */
    c = pages_vec_push(&s->copies, 1);
    if (!c || !(c->bytes = pages_alloc(n))) {
        s->failed = true;
        return;
    }
    memcpy(c->bytes, bytes, n);
    c->n = n;
    c->module = mod;
    c->view = *v;
    c->view.n_segments = 1;
    c->view.segments[0] =
        (struct elf_segment){.vaddr = first, .bytes = c->bytes, .n = n};
}

static struct module *find_same(struct scan *s, const struct module *mod)
{
    for (size_t i = 0; i < s->m->n; i++)
        if (!s->seen[i] && same_module(&s->m->v[i], mod))
            return &s->m->v[i];
    return NULL;
}

static void take_module(struct scan *s, const struct dl_phdr_info *info)
{
    struct module now, *place;

    describe(&now, info, s->is_first);
    if (now.limit <= now.start)
        return; /* no code in it */
    place = find_same(s, &now);
    if (place) {
        now.table = place->table;
        *place = now;
        s->seen[place - s->m->v] = true;
        return;
    }
    place = new_place(s->m, &now);
    if (!place) {
        s->m->ignored++;
        return;
    }
    /* Its table is in the old map: freed after the grace period. */
    if (place->table.memory) {
        struct frame_copy *old = pages_vec_push(&s->copies, 1);

        if (!old) {
            s->failed = true;
            return;
        }
        *old = (struct frame_copy){.bytes = place->table.memory,
                                   .n = place->table.memory_n};
    }
    *place = now;
    s->seen[place - s->m->v] = true;
    copy_frames(s, place);
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

static struct unwind_map *map_new(const struct modules *m, size_t *bytes)
{
    size_t cache = UNWIND_CACHE_SLOTS * sizeof(uint64_t);
    struct unwind_map *map;

    *bytes = sizeof(*map) + m->n * sizeof(map->ranges[0]) + cache;
    map = pages_alloc(*bytes);
    if (!map)
        return NULL;
    map->rules = m->rules.rules;
    for (size_t i = 0; i < m->n; i++) {
        const struct module *mod = &m->v[i];

        if (mod->is_loaded)
            map->ranges[map->n++] = (struct unwind_range){
                mod->start, mod->limit, mod->bias, mod->table};
    }
    map->cache = (_Atomic uint64_t *)&map->ranges[m->n];
    qsort(map->ranges, map->n, sizeof(map->ranges[0]), by_start);
    return map;
}

/* The new map out, the old one and its tables freed when nobody reads them.
 */
static bool publish(struct modules *m, struct scan *s)
{
    size_t bytes, old_bytes = m->map_bytes;
    struct unwind_map *map = map_new(m, &bytes), *old;
    struct frame_copy *c = s->copies.p;

    if (!map)
        return false;
    old = atomic_exchange(&m->map, map);
    m->map_bytes = bytes;
    if (!old)
        return true;
    if (!grace_wait(&m->grace, GRACE_NS)) {
        m->unfreed++;
        return true;
    }
    map_free(old, old_bytes);
    for (size_t i = 0; i < s->copies.n; i++)
        if (!c[i].module)
            pages_free(c[i].bytes, c[i].n);
    return true;
}

bool modules_refresh(struct modules *m)
{
    struct scan *s;
    struct frame_copy *c;
    bool ok;

    if (m->map && dl_iterate_phdr(is_unchanged, m) == 1)
        return true;
    s = pages_alloc(sizeof(*s));
    if (!s)
        return false;
    s->m = m;
    s->copies.size = sizeof(struct frame_copy);
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
    c = s->copies.p;
    for (size_t i = 0; i < s->copies.n; i++) {
        if (!c[i].module)
            continue;
        unwind_table_build(&c[i].module->table, &c[i].view, &m->rules);
        pages_free(c[i].bytes, c[i].n);
    }
    ok = publish(m, s) && !s->failed;
    pages_vec_release(&s->copies);
    pages_free(s, sizeof(*s));
    return ok;
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
        bytes += m->v[i].table.memory_n;
    return bytes;
}

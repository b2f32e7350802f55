/*
 * The running kernel has no file that everybody may read.  Its symbols come
 * from /proc/kallsyms, if that shows addresses, and only if the build id is
 * that of this kernel.  The vDSO is copied out of our own memory into a file
 * in memory and then treated like any other binary.
 */
#include "symbol/kernel.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "base/search.h"
#include "base/vec.h"
#include "elf/maps.h"
#include "elf/view.h"

#define MAX_TEXT ((size_t)256 << 20)

/* --- the kernel's own symbols ------------------------------------------- */

static bool is_this_kernel(struct str build_id)
{
    struct buf notes = BUF_INIT(65536);
    uint8_t id[ELF_BUILD_ID_MAX];
    char hex[2 * ELF_BUILD_ID_MAX];
    struct error err;
    size_t n = 0;

    if (file_read("/sys/kernel/notes", &notes, &err))
        n = elf_note_build_id(notes.data, notes.len, id);
    buf_release(&notes);
    return n && str_eq(str_of(hex, number_put_bytes(hex, id, n)), build_id);
}

struct kernel_symbol {
    uint64_t address;
    struct str name;
};

struct kernel_symbols {
    struct arena *arena;
    VEC(struct kernel_symbol) list; /* by address */
};

/* "ffffffff81000000 T _text" or, of a module, with "\t[name]" behind. */
static bool parse_line(struct str line, struct kernel_symbol *out)
{
    struct str address, kind;

    if (!str_split(&line, ' ', &address) || !str_split(&line, ' ', &kind) ||
        !str_to_u64(address, 16, &out->address) || out->address == 0 ||
        kind.n != 1 || !strchr("tTwW", kind.s[0]))
        return false;
    return str_split(&line, '\t', &out->name) && out->name.n;
}

static int by_address(const void *a, const void *b)
{
    const struct kernel_symbol *x = a, *y = b;

    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->name.s > y->name.s) - (x->name.s < y->name.s);
}

static bool read_symbols(struct kernel_symbols *k, struct buf *text)
{
    struct str rest, line;
    struct kernel_symbol s;
    struct error err;

    if (!file_read("/proc/kallsyms", text, &err))
        return false;
    rest = buf_str(text);
    while (str_next_line(&rest, &line))
        if (parse_line(line, &s))
            *vec_push(k->arena, &k->list) = s;
    if (k->list.n)
        qsort(k->list.v, k->list.n, sizeof(*k->list.v), by_address);
    return k->list.n > 0;
}

/* The first of those that start at the nearest address at or below. */
static const struct kernel_symbol *find(const struct kernel_symbols *k,
                                        uint64_t address)
{
    const struct kernel_symbol *v = k->list.v;
    size_t next = search_first(i, 0, k->list.n, v[i].address > address);

    while (next > 1 && v[next - 2].address == v[next - 1].address)
        next--;
    return next ? &v[next - 1] : NULL;
}

bool kernel_resolve(struct str build_id, const uint64_t *addresses, size_t n,
                    symbol_found *found, void *arg)
{
    struct kernel_symbols k = {.arena = NULL};
    struct buf text = BUF_INIT(MAX_TEXT);
    bool ok;

    if (build_id.n == 0 || !is_this_kernel(build_id))
        return false;
    k.arena = arena_new();
    ok = read_symbols(&k, &text);
    for (size_t i = 0; ok && i < n; i++) {
        const struct kernel_symbol *s = find(&k, addresses[i]);

        if (s)
            found(arg, i, &(struct symbol_frame){.function = s->name}, 1);
    }
    buf_release(&text);
    arena_free(k.arena);
    return ok;
}

/* --- the vDSO ----------------------------------------------------------- */

/* A copy of it as a file, or -1. */
static int copy_vdso(void)
{
    uint64_t start = getauxval(AT_SYSINFO_EHDR);
    const struct maps_entry *e = NULL;
    struct maps maps;
    int fd = -1;

    if (start && maps_read(&maps, "/proc/self/maps"))
        e = maps_find(&maps, start);
    if (e)
        fd = memfd_create("vdso", MFD_CLOEXEC);
    if (fd >= 0 && write(fd, (const void *)(uintptr_t)start,
                         e->limit - start) != (ssize_t)(e->limit - start)) {
        close(fd);
        fd = -1;
    }
    if (start)
        maps_release(&maps);
    return fd;
}

struct object *kernel_open_vdso(struct str build_id,
                                struct object_mapping mapping)
{
    struct object *o = NULL;
    struct error err;
    char path[64];
    int fd;

    if (build_id.n == 0 || (fd = copy_vdso()) < 0)
        return NULL;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    o = object_open(path, mapping, &err);
    close(fd); /* the object has opened it for itself */
    if (o && !str_eq(object_build_id(o), build_id)) {
        object_free(o);
        o = NULL;
    }
    return o;
}

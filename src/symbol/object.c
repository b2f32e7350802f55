/*
 * An object asks several places for an answer, best first: debug information
 * (its own or a separate file's), Go's function table, symbol tables.  Files
 * and tables are opened at the first question.  Reading happens outside of any
 * memory scope, so that no descriptor is left open when a request runs out of
 * memory.
 */
#include "symbol/object.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory_scope.h"
#include "dwarf/resolve.h"
#include "symbol/debug_file.h"
#include "symbol/go_table.h"
#include "symbol/load_base.h"
#include "symbol/mini_debug_info.h"
#include "symbol/symbol_table.h"

/* Another file that knows about this one. */
struct companion {
    int fd;
    struct elf_file elf;
    bool is_there;
};

/* Symbol tables, in the order in which they are asked. */
enum { TABLE_OWN, TABLE_DEBUG, TABLE_MINI, TABLES };

struct object {
    struct arena *arena;
    struct scope_resource resource; /* files outside the arena */
    const char *path;
    struct object_mapping mapping;
    int fd;
    struct elf_file elf;
    struct companion debug, mini; /* with debug information; .gnu_debugdata */
    const char *debug_path;
    bool has_companions; /* they have been looked for */
    struct str build_id;
    struct symbol_table tables[TABLES];
    bool has_table[TABLES], has_tables; /* has_tables: they were read */
    struct symbol_list symbols;
};

/* --- opening ------------------------------------------------------------ */

static bool open_elf(struct object *o, struct error *err)
{
    unsigned char magic[4];
    struct stat st;
    ssize_t n;

    if (stat(o->path, &st) != 0)
        return error_set_os(err, "stat", o->path, errno);
    /* Opening a pipe would wait for somebody to write. */
    o->fd = open(o->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (o->fd < 0)
        return error_set_os(err, "open", o->path, errno);
    n = pread(o->fd, magic, sizeof(magic), 0);
    if (n < 0)
        return error_set_os(err, "read", o->path, errno);
    if (n < (ssize_t)sizeof(magic))
        return error_set(err, "error reading magic number from %s: %s", o->path,
                         n == 0 ? "EOF" : "unexpected EOF");
    if (memcmp(magic, ELFMAG, SELFMAG) != 0)
        return error_set(err, "unrecognized binary format: %s", o->path);
    if (!elf_file_open(&o->elf, o->fd))
        return error_set(err,
                         "error reading ELF file %s: it is cut short, damaged "
                         "or not of a little-endian machine",
                         o->path);
    return true;
}

static void release_resource(struct scope_resource *r)
{
    object_free(
        (struct object *)((char *)r - offsetof(struct object, resource)));
}

/* Outside any memory scope, so that reading a binary is never left half-way
 * with sections and descriptors open. */
static struct object *open_unscoped(const char *path,
                                    struct object_mapping mapping,
                                    struct error *err)
{
    struct arena *a = arena_new();
    struct object *o = arena_alloc(a, sizeof(*o));

    o->arena = a;
    o->path = arena_cstr(a, str_from(path));
    o->mapping = mapping;
    o->fd = o->debug.fd = o->mini.fd = -1;
    if (!open_elf(o, err)) {
        object_free(o);
        return NULL;
    }
    o->build_id = debug_file_build_id(a, &o->elf);
    return o;
}

struct object *object_open(const char *path, struct object_mapping mapping,
                           struct error *err)
{
    struct memory_scope *scope = memory_scope_pause();
    struct object *o = open_unscoped(path, mapping, err);

    memory_scope_resume(scope);
    if (o)
        memory_scope_adopt(&o->resource, release_resource);
    return o;
}

static void companion_close(struct companion *c)
{
    if (c->is_there)
        elf_file_release(&c->elf);
    if (c->fd >= 0)
        close(c->fd);
}

void object_free(struct object *o)
{
    if (!o)
        return;
    memory_scope_disown(&o->resource);
    for (int i = 0; i < TABLES; i++)
        if (o->has_table[i])
            symbol_table_release(&o->tables[i]);
    companion_close(&o->debug);
    companion_close(&o->mini);
    elf_file_release(&o->elf);
    if (o->fd >= 0)
        close(o->fd);
    arena_free(o->arena);
}

static void companion_open(struct companion *c, int fd)
{
    c->fd = fd;
    c->is_there = fd >= 0 && elf_file_open(&c->elf, fd);
}

static void find_companions(struct object *o)
{
    if (o->has_companions)
        return;
    o->has_companions = true;
    if (!debug_file_is_one(&o->elf))
        companion_open(&o->debug, debug_file_find(o->arena, &o->elf, o->path,
                                                  o->build_id, &o->debug_path));
    if (!o->debug.is_there)
        companion_open(&o->mini, mini_debug_info_open(&o->elf));
}

const char *object_path(const struct object *o)
{
    return o->path;
}

struct str object_build_id(const struct object *o)
{
    return o->build_id;
}

/* --- names from symbol tables ------------------------------------------- */

static void read_table(struct object *o, int which, const struct elf_file *elf,
                       uint32_t type)
{
    if (!o->has_table[which])
        o->has_table[which] =
            symbol_table_read(&o->tables[which], o->arena, elf, type);
}

static void read_tables(struct object *o)
{
    if (o->has_tables)
        return;
    o->has_tables = true;
    find_companions(o);
    read_table(o, TABLE_OWN, &o->elf, SHT_SYMTAB);
    read_table(o, TABLE_OWN, &o->elf, SHT_DYNSYM);
    if (o->debug.is_there)
        read_table(o, TABLE_DEBUG, &o->debug.elf, SHT_SYMTAB);
    if (o->mini.is_there)
        read_table(o, TABLE_MINI, &o->mini.elf, SHT_SYMTAB);
}

const struct object_symbol *object_symbols(struct object *o, size_t *n)
{
    read_tables(o);
    /* The separate files know what was stripped, and the rest too. */
    for (int i = TABLES; o->symbols.list.n == 0 && i-- > 0;)
        if (o->has_table[i])
            symbol_table_list(&o->tables[i], o->arena, &o->symbols);
    *n = o->symbols.list.n;
    return o->symbols.list.v;
}

/* Name and, if it is a local one, file of the symbol at an address. */
static bool find_symbol(struct object *o, uint64_t address,
                        struct symbol_frame *out)
{
    for (int i = 0; i < TABLES; i++) {
        const struct symbol_entry *s =
            o->has_table[i] ? symbol_table_find(&o->tables[i], address) : NULL;

        if (!s)
            continue;
        out->function = symbol_table_name(&o->tables[i], s);
        if (out->file.n == 0)
            out->file = symbol_table_file(&o->tables[i], s);
        if (out->function.n)
            return true;
    }
    return false;
}

/*
 * The outermost function gets the name that the symbol table has for it:
 * only that one knows of clones ("f.part.0", "f.cold"), thunks and which of
 * several constructors it is.  Where a stripped file has none, its debug file
 * does, and there an alias is no reason to call a function otherwise.
 */
static void name_outermost(struct object *o, uint64_t address,
                           struct symbol_frame *f)
{
    const struct symbol_entry *s = NULL;
    bool own = o->has_table[TABLE_OWN];

    if (f->function.n == 0 ||
        (own && symbol_table_find(&o->tables[TABLE_OWN], address))) {
        find_symbol(o, address, f);
        return;
    }
    if (o->has_table[TABLE_DEBUG])
        s = symbol_table_find(&o->tables[TABLE_DEBUG], address);
    if (s && s->size &&
        !symbol_table_is_called(&o->tables[TABLE_DEBUG], s, f->function))
        f->function = symbol_table_name(&o->tables[TABLE_DEBUG], s);
}

/* --- answers ------------------------------------------------------------ */

struct question {
    uint64_t address; /* in the file */
    size_t index;     /* the caller's */
    bool answered;
};

struct resolver {
    struct object *object;
    struct question *questions; /* by address */
    VEC(struct symbol_frame) frames;
    symbol_found *found;
    void *arg;
};

static void answer(struct resolver *r, size_t i,
                   const struct symbol_frame *frames, size_t n)
{
    assert(!r->questions[i].answered && n > 0);
    r->questions[i].answered = true;
    r->found(r->arg, r->questions[i].index, frames, n);
}

static void take_debug_info(void *arg, size_t i,
                            const struct symbol_frame *frames, size_t n)
{
    struct resolver *r = arg;

    if (r->questions[i].answered || n == 0)
        return;
    r->frames.n = 0;
    for (size_t k = 0; k < n; k++)
        *vec_push(r->object->arena, &r->frames) = frames[k];
    name_outermost(r->object, r->questions[i].address, &r->frames.v[n - 1]);
    answer(r, i, r->frames.v, n);
}

static int compare_questions(const void *a, const void *b)
{
    const struct question *x = a, *y = b;

    return (x->address > y->address) - (x->address < y->address);
}

/* False: the file has none. */
static bool ask_debug_info(struct resolver *r, size_t n)
{
    struct object *o = r->object;
    bool separate = o->debug.is_there;
    struct dwarf *dwarf =
        dwarf_open(separate ? o->debug.fd : o->fd,
                   separate ? o->debug_path : o->path, DWARF_NO_LIMIT);
    uint64_t *addresses;

    if (!dwarf)
        return false;
    addresses = arena_new_array(o->arena, uint64_t, n);
    for (size_t i = 0; i < n; i++)
        addresses[i] = r->questions[i].address;
    dwarf_resolve(dwarf, addresses, n, take_debug_info, r);
    dwarf_free(dwarf);
    return true;
}

static void ask_go_table(struct resolver *r, size_t n)
{
    struct symbol_frame frame;
    struct go_table t;

    if (!go_table_open(&t, &r->object->elf))
        return;
    for (size_t i = 0; i < n; i++)
        if (go_table_find(&t, r->questions[i].address, &frame))
            answer(r, i, &frame, 1);
    go_table_release(&t);
}

static void ask_symbols(struct resolver *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct symbol_frame frame = {.line = 0};

        if (r->questions[i].answered)
            continue;
        if (find_symbol(r->object, r->questions[i].address, &frame))
            answer(r, i, &frame, 1);
    }
}

bool object_file_address(struct object *o, uint64_t address, uint64_t *out,
                         struct error *err)
{
    uint64_t base;

    if (!load_base_find(&o->elf, o->path, o->mapping, address, &base, err))
        return false;
    *out = address - base;
    return true;
}

static void resolve(struct resolver *r, size_t n, bool names_only)
{
    qsort(r->questions, n, sizeof(*r->questions), compare_questions);
    read_tables(r->object);
    if (!names_only && !ask_debug_info(r, n))
        ask_go_table(r, n);
    ask_symbols(r, n);
}

bool object_resolve(struct object *o, const uint64_t *addresses, size_t n,
                    bool names_only, symbol_found *found, void *arg,
                    struct error *err)
{
    struct resolver r = {.object = o, .found = found, .arg = arg};
    struct memory_scope *scope;
    uint64_t base;

    if (n == 0)
        return true;
    if (!load_base_find(&o->elf, o->path, o->mapping, addresses[0], &base, err))
        return error_wrap(err, "%s", o->path);
    r.questions = arena_new_array(o->arena, struct question, n);
    for (size_t i = 0; i < n; i++)
        r.questions[i] = (struct question){addresses[i] - base, i, false};
    scope = memory_scope_pause();
    resolve(&r, n, names_only);
    memory_scope_resume(scope);
    return true;
}

#include "symbol/object.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "base/path.h"
#include "base/vec.h"
#include "symbol/debug_info.h"
#include "symbol/load_base.h"

struct object {
    struct arena *arena;
    const char *path;
    struct object_mapping mapping;
    int fd, debug_fd;
    Elf *elf, *debug_elf; /* debug_elf: a separate file with debug info */
    struct str build_id;
    VEC(struct object_symbol) symbols; /* by address */
    bool has_symbols;                  /* they have been read */
};

/* --- build id ----------------------------------------------------------- */

static struct str find_build_id(struct arena *a, Elf *elf)
{
    const void *bytes;
    ssize_t n = dwelf_elf_gnu_build_id(elf, &bytes);
    char *text;

    if (n <= 0)
        return STR("");
    text = arena_alloc(a, (size_t)n * 2);
    return str_of(text, number_put_bytes(text, bytes, (size_t)n));
}

/* --- a separate file with the debug information ------------------------- */

static bool has_debug_info(Elf *elf)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    size_t strings;

    if (elf_getshdrstrndx(elf, &strings) != 0)
        return false;
    while ((section = elf_nextscn(elf, section))) {
        const char *name;

        if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
            continue;
        name = elf_strptr(elf, strings, header.sh_name);
        if (name && (strcmp(name, ".debug_info") == 0 ||
                     strcmp(name, ".zdebug_info") == 0))
            return true;
    }
    return false;
}

static bool try_debug_file(struct object *o, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);

    if (elf && has_debug_info(elf) &&
        (o->build_id.n == 0 ||
         str_eq(find_build_id(o->arena, elf), o->build_id))) {
        o->debug_fd = fd;
        o->debug_elf = elf;
        return true;
    }
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    return false;
}

/* Where Debian and others keep debug files: by build id, by debuglink. */
static void find_debug_file(struct object *o)
{
    struct str dir = path_dir(o->arena, str_from(o->path));
    GElf_Word checksum;
    const char *link;

    if (o->build_id.n > 2 &&
        try_debug_file(o, arena_printf(o->arena,
                                       "/usr/lib/debug/.build-id/%.2s/"
                                       "%" STR_FMT ".debug",
                                       o->build_id.s,
                                       STR_ARG(str_skip(o->build_id, 2)))))
        return;
    link = dwelf_elf_gnu_debuglink(o->elf, &checksum);
    if (!link || strchr(link, '/'))
        return;
    if (!try_debug_file(
            o, arena_printf(o->arena, "%" STR_FMT "/%s", STR_ARG(dir), link)) &&
        !try_debug_file(o, arena_printf(o->arena, "%" STR_FMT "/.debug/%s",
                                        STR_ARG(dir), link)))
        try_debug_file(o,
                       arena_printf(o->arena, "/usr/lib/debug%" STR_FMT "/%s",
                                    STR_ARG(dir), link));
}

/* --- opening ------------------------------------------------------------ */

static bool open_elf(struct object *o, struct error *err)
{
    unsigned char magic[4];
    struct stat st;
    ssize_t n;

    if (stat(o->path, &st) != 0)
        return error_set_os(err, "stat", o->path, errno);
    o->fd = open(o->path, O_RDONLY | O_CLOEXEC);
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
    elf_version(EV_CURRENT);
    o->elf = elf_begin(o->fd, ELF_C_READ_MMAP, NULL);
    if (!o->elf || elf_kind(o->elf) != ELF_K_ELF)
        return error_set(err, "error reading ELF file %s: %s", o->path,
                         elf_errmsg(-1));
    return true;
}

struct object *object_open(const char *path, struct object_mapping mapping,
                           struct error *err)
{
    struct arena *a = arena_new();
    struct object *o = arena_alloc(a, sizeof(*o));

    o->arena = a;
    o->path = arena_cstr(a, str_from(path));
    o->mapping = mapping;
    o->fd = o->debug_fd = -1;
    if (!open_elf(o, err)) {
        object_free(o);
        return NULL;
    }
    o->build_id = find_build_id(a, o->elf);
    if (!has_debug_info(o->elf))
        find_debug_file(o);
    return o;
}

void object_free(struct object *o)
{
    if (!o)
        return;
    elf_end(o->debug_elf);
    elf_end(o->elf);
    if (o->debug_fd >= 0)
        close(o->debug_fd);
    if (o->fd >= 0)
        close(o->fd);
    arena_free(o->arena);
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

static int compare_symbols(const void *a, const void *b)
{
    const struct object_symbol *x = a, *y = b;

    return (x->address > y->address) - (x->address < y->address);
}

static void add_table(struct object *o, Elf *elf, Elf_Scn *section,
                      const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Sym s;

    for (int i = 0; data && gelf_getsym(data, i, &s); i++) {
        int type = GELF_ST_TYPE(s.st_info);
        const char *name = elf_strptr(elf, header->sh_link, s.st_name);

        if (s.st_shndx == SHN_UNDEF || !name || !*name ||
            (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
            continue;
        *vec_push(o->arena, &o->symbols) =
            (struct object_symbol){s.st_value, s.st_size, str_from(name)};
    }
}

static bool add_tables(struct object *o, Elf *elf, GElf_Word type)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while (elf && (section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_type == type)
            add_table(o, elf, section, &header);
    return o->symbols.n > 0;
}

static void read_symbols(struct object *o)
{
    if (o->has_symbols)
        return;
    o->has_symbols = true;
    if (!add_tables(o, o->elf, SHT_SYMTAB) &&
        !add_tables(o, o->debug_elf, SHT_SYMTAB))
        add_tables(o, o->elf, SHT_DYNSYM);
    if (o->symbols.n)
        qsort(o->symbols.v, o->symbols.n, sizeof(*o->symbols.v),
              compare_symbols);
}

const struct object_symbol *object_symbols(struct object *o, size_t *n)
{
    read_symbols(o);
    *n = o->symbols.n;
    return o->symbols.v;
}

/* The nearest symbol at or below; one with a size must reach the address. */
static const struct object_symbol *find_symbol(const struct object *o,
                                               uint64_t address)
{
    size_t from = 0, to = o->symbols.n;

    while (from < to) {
        size_t mid = from + (to - from) / 2;

        if (o->symbols.v[mid].address <= address)
            from = mid + 1;
        else
            to = mid;
    }
    while (from-- > 0) {
        const struct object_symbol *s = &o->symbols.v[from];

        if (s->size == 0 || address - s->address < s->size)
            return s;
        /* Of several at one address another may be longer. */
        if (from == 0 || o->symbols.v[from - 1].address != s->address)
            break;
    }
    return NULL;
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
    object_found *found;
    void *arg;
};

static void pass_on(void *arg, size_t i, const struct object_frame *frames,
                    size_t n)
{
    struct resolver *r = arg;
    struct question *q = &r->questions[i];

    if (q->answered)
        return;
    q->answered = true;
    r->found(r->arg, q->index, frames, n);
}

static int compare_questions(const void *a, const void *b)
{
    const struct question *x = a, *y = b;

    return (x->address > y->address) - (x->address < y->address);
}

static void ask_debug_info(struct resolver *r, size_t n)
{
    struct object *o = r->object;
    uint64_t *addresses = arena_new_array(o->arena, uint64_t, n);
    Dwarf *dwarf = dwarf_begin_elf(o->debug_elf ? o->debug_elf : o->elf,
                                   DWARF_C_READ, NULL);

    for (size_t i = 0; i < n; i++)
        addresses[i] = r->questions[i].address;
    if (dwarf)
        debug_info_resolve(dwarf, o->arena, addresses, n, pass_on, r);
    dwarf_end(dwarf);
}

static void ask_symbols(struct resolver *r, size_t n)
{
    read_symbols(r->object);
    for (size_t i = 0; i < n; i++) {
        const struct object_symbol *s =
            r->questions[i].answered
                ? NULL
                : find_symbol(r->object, r->questions[i].address);

        if (s)
            pass_on(r, i, &(struct object_frame){.function = s->name}, 1);
    }
}

bool object_file_address(struct object *o, uint64_t address, uint64_t *out,
                         struct error *err)
{
    uint64_t base;

    if (!load_base_find(o->elf, o->path, o->mapping, address, &base, err))
        return false;
    *out = address - base;
    return true;
}

bool object_resolve(struct object *o, const uint64_t *addresses, size_t n,
                    bool names_only, object_found *found, void *arg,
                    struct error *err)
{
    struct resolver r = {.object = o, .found = found, .arg = arg};
    uint64_t base;

    if (n == 0)
        return true;
    if (!load_base_find(o->elf, o->path, o->mapping, addresses[0], &base, err))
        return error_wrap(err, "%s", o->path);
    r.questions = arena_new_array(o->arena, struct question, n);
    for (size_t i = 0; i < n; i++)
        r.questions[i] = (struct question){addresses[i] - base, i, false};
    qsort(r.questions, n, sizeof(*r.questions), compare_questions);
    if (!names_only)
        ask_debug_info(&r, n);
    ask_symbols(&r, n);
    return true;
}

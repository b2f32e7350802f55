/*
 * Symbols for libpprof: without malloc, from a file or from the loader's
 * memory.  Names are copied, because a library can be unloaded while a profile
 * is being written.  The temporary tables are freed before the next module is
 * read.
 */
#include "elf/symbols.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "elf/cursor.h"
#include "elf/read.h"
#include "elf/symbol_choice.h"

/* More than any real binary has; what a hostile one may make us read. */
#define MAX_TABLE_BYTES (1u << 30)

struct raw_table {
    const void *symbols; /* n of Elf64_Sym, not always aligned */
    size_t n;
    const char *names;
    size_t names_n;
    const Elf64_Shdr *sections; /* NULL: not known */
    size_t n_sections;
};

/* Bytes of the file on pages of their own; the caller frees them. */
static void *load_bytes(int fd, uint64_t offset, uint64_t n)
{
    void *p;

    if (n == 0 || n > MAX_TABLE_BYTES || offset > INT64_MAX - n)
        return NULL;
    p = pages_alloc(n);
    if (p && !elf_read_at(fd, p, n, offset)) {
        pages_free(p, n);
        return NULL;
    }
    return p;
}

/* Returns true if the symbol is in a loaded section.  The loader's own table
 * has no sections; there all symbols except special ones count. */
static bool is_loaded(const struct raw_table *t, uint16_t section)
{
    if (section == SHN_UNDEF || section >= SHN_LORESERVE)
        return false;
    return !t->sections || (section < t->n_sections &&
                            (t->sections[section].sh_flags & SHF_ALLOC));
}

static bool wanted(const struct raw_table *t, const Elf64_Sym *sym)
{
    const char *name = t->names + sym->st_name;

    return sym->st_value != 0 && elf_symbol_is_code(sym->st_info) &&
           is_loaded(t, sym->st_shndx) && sym->st_name < t->names_n &&
           name[0] != '\0' && !elf_symbol_is_mark(sym->st_info, name);
}

struct named {
    struct elf_symbol_place place;
    uint32_t name;
};

static int by_address(const void *a, const void *b)
{
    return elf_symbol_compare(((const struct named *)a)->place,
                              ((const struct named *)b)->place);
}

static bool collect(struct pages_vec *out, const struct raw_table *t)
{
    for (size_t i = 0; i < t->n; i++) {
        Elf64_Sym sym;
        struct named *to;

        memcpy(&sym, (const char *)t->symbols + i * sizeof(sym), sizeof(sym));
        if (!wanted(t, &sym))
            continue;
        to = pages_vec_push(out, 1);
        if (!to)
            return false;
        *to = (struct named){{sym.st_value, sym.st_size, (uint32_t)i},
                             sym.st_name};
    }
    return true;
}

/* Copies the name; its offset in s->names, or UINT32_MAX. */
static uint32_t keep_name(struct elf_symbols *s, const struct raw_table *t,
                          uint32_t from)
{
    size_t n = strnlen(t->names + from, t->names_n - from);
    size_t at = s->names.n;
    char *to = pages_vec_push(&s->names, n + 1);

    if (!to || at >= UINT32_MAX)
        return UINT32_MAX;
    memcpy(to, t->names + from, n);
    to[n] = '\0';
    return (uint32_t)at;
}

static bool build(struct elf_symbols *s, const struct raw_table *t)
{
    struct pages_vec all = {.size = sizeof(struct named)};
    struct named *v;
    bool ok = collect(&all, t) && all.n > 0;

    v = all.p;
    if (ok)
        qsort(v, all.n, sizeof(*v), by_address);
    for (size_t i = 0; ok && i < all.n; i++) {
        struct elf_symbol *to;
        uint32_t name;

        uint64_t vaddr = v[i].place.address, size = v[i].place.size;

        if (i + 1 < all.n && v[i + 1].place.address == vaddr)
            continue; /* a better one follows */
        name = keep_name(s, t, v[i].name);
        to = name == UINT32_MAX ? NULL : pages_vec_push(&s->v, 1);
        ok = to != NULL;
        if (ok)
            *to = (struct elf_symbol){
                vaddr, size > UINT32_MAX ? UINT32_MAX : (uint32_t)size, name};
    }
    assert(!ok || (s->v.n > 0 && s->v.n <= all.n));
    pages_vec_release(&all);
    if (!ok)
        elf_symbols_release(s);
    return ok;
}

static void elf_symbols_init(struct elf_symbols *s)
{
    *s = (struct elf_symbols){.v = {.size = sizeof(struct elf_symbol)},
                              .names = {.size = 1}};
}

/* The build id that the file's note segments tell. */
static size_t file_build_id(int fd, const Elf64_Ehdr *eh,
                            uint8_t out[ELF_BUILD_ID_MAX])
{
    size_t n = 0;

    if (eh->e_phentsize != sizeof(Elf64_Phdr))
        return 0;
    for (unsigned i = 0; i < eh->e_phnum && n == 0; i++) {
        uint8_t note[4096];
        Elf64_Phdr ph;

        if (!elf_read_at(fd, &ph, sizeof(ph), eh->e_phoff + i * sizeof(ph)))
            return 0;
        if (ph.p_type == PT_NOTE && ph.p_filesz <= sizeof(note) &&
            elf_read_at(fd, note, ph.p_filesz, ph.p_offset))
            n = elf_note_build_id(note, ph.p_filesz, out);
    }
    return n;
}

static bool same_build(int fd, const Elf64_Ehdr *eh, const uint8_t *id,
                       size_t id_n)
{
    uint8_t found[ELF_BUILD_ID_MAX];

    return id_n == 0 || (file_build_id(fd, eh, found) == id_n &&
                         memcmp(found, id, id_n) == 0);
}

/* The header of a file that is ELF and of our kind. */
static bool read_header(int fd, Elf64_Ehdr *eh)
{
    return elf_read_at(fd, eh, sizeof(*eh), 0) &&
           memcmp(eh->e_ident, ELFMAG, SELFMAG) == 0 &&
           eh->e_ident[EI_CLASS] == ELFCLASS64 &&
           eh->e_ident[EI_DATA] == ELFDATA2LSB;
}

bool elf_fd_has_build_id(int fd, const uint8_t *build_id, size_t build_id_n)
{
    Elf64_Ehdr eh;

    return read_header(fd, &eh) && same_build(fd, &eh, build_id, build_id_n);
}

static const Elf64_Shdr *find_section(const Elf64_Shdr *sh, size_t n,
                                      uint32_t type)
{
    for (size_t i = 0; i < n; i++)
        if (sh[i].sh_type == type && sh[i].sh_link < n &&
            sh[i].sh_entsize == sizeof(Elf64_Sym))
            return &sh[i];
    return NULL;
}

static bool build_from_section(struct elf_symbols *s, int fd,
                               const Elf64_Shdr *table,
                               const Elf64_Shdr *sections, size_t n_sections)
{
    const Elf64_Shdr *names = &sections[table->sh_link];
    struct raw_table t = {.n = table->sh_size / sizeof(Elf64_Sym),
                          .names_n = names->sh_size,
                          .sections = sections,
                          .n_sections = n_sections};
    void *symbols = load_bytes(fd, table->sh_offset, table->sh_size);
    void *texts = load_bytes(fd, names->sh_offset, names->sh_size);
    bool ok = false;

    t.symbols = symbols;
    t.names = texts;
    if (symbols && texts)
        ok = build(s, &t);
    pages_free(symbols, table->sh_size);
    pages_free(texts, names->sh_size);
    return ok;
}

bool elf_symbols_from_fd(struct elf_symbols *s, int fd, const uint8_t *build_id,
                         size_t build_id_n)
{
    Elf64_Ehdr eh;
    Elf64_Shdr *sh;
    const Elf64_Shdr *table;
    size_t sh_n;
    bool ok = false;

    elf_symbols_init(s);
    if (!read_header(fd, &eh) || eh.e_shentsize != sizeof(*sh) ||
        !same_build(fd, &eh, build_id, build_id_n))
        return false;
    sh_n = eh.e_shnum;
    sh = load_bytes(fd, eh.e_shoff, sh_n * sizeof(*sh));
    if (!sh)
        return false;
    table = find_section(sh, sh_n, SHT_SYMTAB);
    if (!table)
        table = find_section(sh, sh_n, SHT_DYNSYM);
    if (table)
        ok = build_from_section(s, fd, table, sh, sh_n);
    pages_free(sh, sh_n * sizeof(*sh));
    return ok;
}

/* The number of dynamic symbols: only the hash tables know it. */
static size_t gnu_hash_count(const struct elf_view *v, uint64_t at)
{
    size_t n, last = 0;
    const uint8_t *p = elf_view_rest(v, at, &n);
    struct cursor c = cursor_of(p, p ? n : 0);
    uint32_t buckets = cursor_u32(&c), first = cursor_u32(&c);
    uint32_t bloom = cursor_u32(&c);

    cursor_skip(&c, 4 + (uint64_t)bloom * 8);
    for (uint32_t i = 0; i < buckets && !c.bad; i++) {
        uint32_t head = cursor_u32(&c);

        last = head > last ? head : last;
    }
    if (c.bad || last < first)
        return 0;
    cursor_skip(&c, (last - first) * (uint64_t)4);
    while (!(cursor_u32(&c) & 1) && !c.bad)
        last++;
    return c.bad ? 0 : last + 1;
}

/* The loader has relocated the pointers of most modules; not the vDSO's. */
static uint64_t unbias(const struct elf_view *v, uint64_t address)
{
    size_t n;

    if (v->bias && address >= v->bias &&
        elf_view_rest(v, address - v->bias, &n))
        return address - v->bias;
    return address;
}

bool elf_symbols_from_module(struct elf_symbols *s, const struct elf_view *v)
{
    uint64_t symtab = 0, strtab = 0, strsz = 0, hash = 0, gnu_hash = 0;
    const uint8_t *p = elf_view_at(v, v->dynamic, v->dynamic_n);
    struct cursor c = cursor_of(p, p ? v->dynamic_n : 0);
    struct raw_table t = {0};
    const void *sysv;
    uint32_t counts[2] = {0, 0};

    elf_symbols_init(s);
    while (cursor_left(&c) >= sizeof(Elf64_Dyn)) {
        int64_t tag = (int64_t)cursor_u64(&c);
        uint64_t value = cursor_u64(&c);

        if (tag == DT_NULL)
            break;
        if (tag == DT_SYMTAB)
            symtab = unbias(v, value);
        else if (tag == DT_STRTAB)
            strtab = unbias(v, value);
        else if (tag == DT_STRSZ)
            strsz = value;
        else if (tag == DT_HASH)
            hash = unbias(v, value);
        else if (tag == DT_GNU_HASH)
            gnu_hash = unbias(v, value);
    }
    sysv = hash ? elf_view_at(v, hash, 8) : NULL;
    if (sysv)
        memcpy(counts, sysv, sizeof(counts));
    t.n = sysv ? counts[1] : gnu_hash ? gnu_hash_count(v, gnu_hash) : 0;
    t.names_n = strsz;
    if (t.n > MAX_TABLE_BYTES / sizeof(Elf64_Sym))
        return false;
    t.symbols = elf_view_at(v, symtab, t.n * sizeof(Elf64_Sym));
    t.names = elf_view_at(v, strtab, strsz);
    return t.symbols && t.names && t.n && build(s, &t);
}

void elf_symbols_release(struct elf_symbols *s)
{
    pages_vec_release(&s->v);
    pages_vec_release(&s->names);
}

const struct elf_symbol *elf_symbols_find(const struct elf_symbols *s,
                                          uint64_t vaddr)
{
    const struct elf_symbol *v = s->v.p;
    size_t next = search_first(i, 0, s->v.n, v[i].vaddr > vaddr);

    if (next == 0)
        return NULL;
    v += next - 1;
    assert(v->vaddr <= vaddr);
    return v->size == 0 || vaddr - v->vaddr < v->size ? v : NULL;
}

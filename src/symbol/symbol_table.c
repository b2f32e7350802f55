/*
 * Symbols sorted by address.  The table is read once as a whole, since sorting
 * needs all of it; names stay in the file and are read on demand.
 */
#include "symbol/symbol_table.h"

#include <assert.h>
#include <stdlib.h>

#include "base/search.h"
#include "elf/symbol_choice.h"

/* --- the file's records ------------------------------------------------- */

struct raw_symbols {
    const struct elf_file *elf;
    struct elf_section table, names;
    size_t n;
};

static bool open_raw(struct raw_symbols *r, const struct elf_file *elf,
                     uint32_t type)
{
    size_t size = elf->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);

    for (size_t i = 0; i < elf->n_sections; i++) {
        const Elf64_Shdr *s = &elf->sections[i];

        if (s->sh_type != type || s->sh_link >= elf->n_sections ||
            s->sh_entsize != size)
            continue;
        r->elf = elf;
        elf_section_open(&r->table, elf, s);
        elf_section_open(&r->names, elf, &elf->sections[s->sh_link]);
        r->n = r->table.size / size;
        return true;
    }
    return false;
}

static bool read_raw(struct raw_symbols *r, size_t i, Elf64_Sym *out)
{
    size_t size = r->elf->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    const uint8_t *p = elf_section_at(&r->table, i * size, size);
    Elf32_Sym narrow;

    if (!p)
        return false;
    if (r->elf->is_64) {
        memcpy(out, p, sizeof(*out));
        return true;
    }
    memcpy(&narrow, p, sizeof(narrow));
    *out = (Elf64_Sym){.st_name = narrow.st_name,
                       .st_info = narrow.st_info,
                       .st_shndx = narrow.st_shndx,
                       .st_value = narrow.st_value,
                       .st_size = narrow.st_size};
    return true;
}

/* --- what of them counts ------------------------------------------------ */

static bool is_loaded(const struct elf_file *elf, const Elf64_Sym *s)
{
    return s->st_shndx != SHN_UNDEF && s->st_shndx < elf->n_sections &&
           (elf->sections[s->st_shndx].sh_flags & SHF_ALLOC);
}

static bool counts(const struct elf_file *elf, const Elf64_Sym *s)
{
    return (elf_symbol_is_code(s->st_info) ||
            ELF64_ST_TYPE(s->st_info) == STT_OBJECT) &&
           s->st_name && is_loaded(elf, s);
}

static bool is_mark(struct raw_symbols *r, const Elf64_Sym *s)
{
    const uint8_t *p;

    if (ELF64_ST_TYPE(s->st_info) != STT_NOTYPE ||
        ELF64_ST_BIND(s->st_info) != STB_LOCAL)
        return false; /* without looking at its name */
    p = elf_section_at(&r->names, s->st_name, 1);
    return p && elf_symbol_is_mark(s->st_info, (const char *)p);
}

static struct elf_symbol_place place_of(const struct symbol_entry *s)
{
    return (struct elf_symbol_place){s->address, s->size, s->order};
}

static int by_address(const void *a, const void *b)
{
    return elf_symbol_compare(place_of(a), place_of(b));
}

static void choose_best(struct symbol_table *t, struct arena *a)
{
    for (size_t i = 0; i < t->all.n; i++)
        if (i + 1 == t->all.n || t->all.v[i].address != t->all.v[i + 1].address)
            *vec_push(a, &t->best) = t->all.v[i];
}

bool symbol_table_read(struct symbol_table *t, struct arena *a,
                       const struct elf_file *elf, uint32_t type)
{
    struct raw_symbols r;
    uint32_t file = 0;
    Elf64_Sym s;

    *t = (struct symbol_table){.names = {0}};
    if (!open_raw(&r, elf, type))
        return false;
    elf_section_at(&r.table, 0, r.table.size); /* in one go */
    for (size_t i = 0; i < r.n && read_raw(&r, i, &s); i++) {
        unsigned kind = ELF64_ST_TYPE(s.st_info);
        bool local = ELF64_ST_BIND(s.st_info) == STB_LOCAL;

        if (kind == STT_FILE)
            file = s.st_name;
        if (counts(elf, &s) && !is_mark(&r, &s))
            *vec_push(a, &t->all) = (struct symbol_entry){
                .address = s.st_value,
                .size = s.st_size,
                .name = s.st_name,
                .file = local ? file : 0,
                .order = (uint32_t)i,
                .is_code = kind != STT_OBJECT,
            };
    }
    elf_section_release(&r.table);
    t->names = r.names;
    if (t->all.n == 0) {
        elf_section_release(&t->names);
        return false;
    }
    qsort(t->all.v, t->all.n, sizeof(*t->all.v), by_address);
    choose_best(t, a);
    assert(t->best.n > 0 && t->best.n <= t->all.n);
    return true;
}

void symbol_table_release(struct symbol_table *t)
{
    elf_section_release(&t->names);
}

const struct symbol_entry *symbol_table_find(const struct symbol_table *t,
                                             uint64_t address)
{
    const struct symbol_entry *v = t->best.v;
    size_t next = search_first(i, 0, t->best.n, v[i].address > address);

    if (next == 0)
        return NULL;
    v += next - 1;
    return v->size == 0 || address - v->address < v->size ? v : NULL;
}

struct str symbol_table_name(struct symbol_table *t,
                             const struct symbol_entry *s)
{
    return str_from(elf_section_text(&t->names, s->name));
}

struct str symbol_table_file(struct symbol_table *t,
                             const struct symbol_entry *s)
{
    return s->file ? str_from(elf_section_text(&t->names, s->file)) : STR("");
}

bool symbol_table_is_called(struct symbol_table *t,
                            const struct symbol_entry *s, struct str name)
{
    const struct symbol_entry *v = t->all.v;
    size_t at = search_first(i, 0, t->all.n, v[i].address >= s->address);

    for (; at < t->all.n && v[at].address == s->address; at++)
        if (str_eq(symbol_table_name(t, &v[at]), name))
            return true;
    return false;
}

void symbol_table_list(struct symbol_table *t, struct arena *a,
                       struct symbol_list *out)
{
    vec_reserve(a, &out->list, t->all.n);
    for (size_t i = 0; i < t->all.n; i++) {
        const struct symbol_entry *s = &t->all.v[i];
        struct str name = s->is_code
                              ? str_from(elf_section_text(&t->names, s->name))
                              : STR("");

        if (name.n)
            *vec_push(a, &out->list) =
                (struct object_symbol){s->address, s->size, name};
    }
}

bool symbol_value(const struct elf_file *elf, struct str name, uint64_t *out)
{
    struct raw_symbols r;
    Elf64_Sym s;
    bool found = false;

    if (!open_raw(&r, elf, SHT_SYMTAB))
        return false;
    for (size_t i = 0; i < r.n && !found && read_raw(&r, i, &s); i++) {
        found = str_eq(str_from(elf_section_text(&r.names, s.st_name)), name);
        if (found)
            *out = s.st_value;
    }
    elf_section_release(&r.table);
    elf_section_release(&r.names);
    return found;
}

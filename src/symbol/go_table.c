/*
 * Go's own function table (pclntab), which is there even in stripped binaries.
 * Its layout differs between Go 1.2, 1.16, 1.18 and 1.20; the magic number
 * tells which one it is.  Everything is read through elf_section and checked,
 * as in any other table of a file.
 */
#include "symbol/go_table.h"

#include "base/search.h"
#include "base/str.h"

#define MAGIC_1_2  0xfffffffbu
#define MAGIC_1_16 0xfffffffau
#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u

/* --- reading ------------------------------------------------------------ */

static uint64_t read_number(struct go_table *t, uint64_t offset, unsigned size,
                            bool *ok)
{
    const uint8_t *p = elf_section_at(&t->section, offset, size);
    uint64_t v = 0;

    if (p)
        memcpy(&v, p, size);
    else
        *ok = false;
    return v;
}

static uint64_t read_pointer(struct go_table *t, uint64_t offset, bool *ok)
{
    return read_number(t, offset, t->pointer, ok);
}

static uint32_t read_u32(struct go_table *t, uint64_t offset, bool *ok)
{
    return (uint32_t)read_number(t, offset, 4, ok);
}

static struct str read_text(struct go_table *t, uint64_t offset)
{
    return str_from(elf_section_text(&t->section, offset));
}

/* --- the header --------------------------------------------------------- */

static const Elf64_Shdr *find_section(const struct elf_file *elf)
{
    const Elf64_Shdr *s = elf_file_find(elf, ".gopclntab");

    return s ? s : elf_file_find(elf, ".data.rel.ro.gopclntab");
}

static unsigned version_of(uint32_t magic)
{
    switch (magic) {
    case MAGIC_1_2:
        return 2;
    case MAGIC_1_16:
        return 16;
    case MAGIC_1_18:
        return 18;
    case MAGIC_1_20:
        return 20;
    default:
        return 0;
    }
}

/* In a PIE the linker leaves the address to a relocation: the section tells
 * it then. */
static uint64_t find_text(const struct elf_file *elf, uint64_t told)
{
    const Elf64_Shdr *s = elf_file_find(elf, ".text");

    return told || !s ? told : s->sh_addr;
}

static bool read_parts(struct go_table *t, const struct elf_file *elf)
{
    uint64_t at = 8;
    bool ok = true;

    t->n = read_pointer(t, at, &ok);
    at += t->pointer;
    if (t->version == 2) {
        t->functions = at;
        return ok;
    }
    at += t->pointer; /* number of files */
    if (t->version >= 18) {
        t->text = find_text(elf, read_pointer(t, at, &ok));
        at += t->pointer;
    }
    t->names = read_pointer(t, at, &ok);
    t->units = read_pointer(t, at + t->pointer, &ok);
    t->files = read_pointer(t, at + 2 * t->pointer, &ok);
    t->pcs = read_pointer(t, at + 3 * t->pointer, &ok);
    t->functions = read_pointer(t, at + 4 * t->pointer, &ok);
    return ok;
}

static unsigned field_size(const struct go_table *t)
{
    return t->version >= 18 ? 4 : t->pointer;
}

bool go_table_open(struct go_table *t, const struct elf_file *elf)
{
    bool ok = true;

    *t = (struct go_table){.pointer = 0};
    elf_section_open(&t->section, elf, find_section(elf));
    t->version = version_of(read_u32(t, 0, &ok));
    t->quantum = (unsigned)read_number(t, 6, 1, &ok);
    t->pointer = (unsigned)read_number(t, 7, 1, &ok);
    ok = ok && t->version && (t->pointer == 8 || t->pointer == 4) &&
         read_parts(t, elf);
    ok = ok && t->n && t->functions < t->section.size &&
         t->n < (t->section.size - t->functions) / (2 * field_size(t));
    /* Before 1.16 the files stand behind the functions. */
    if (ok && t->version == 2)
        t->files =
            read_u32(t, t->functions + t->n * 2 * t->pointer + t->pointer, &ok);
    if (!ok)
        go_table_release(t);
    return ok;
}

void go_table_release(struct go_table *t)
{
    elf_section_release(&t->section);
}

/* --- finding ------------------------------------------------------------ */

/* Where the i-th function starts; the n-th is the end of the last. */
static uint64_t start_of(struct go_table *t, uint64_t i, bool *ok)
{
    unsigned size = field_size(t);

    return t->text + read_number(t, t->functions + i * 2 * size, size, ok);
}

static bool find_function(struct go_table *t, uint64_t address, uint64_t *out)
{
    bool ok = true;

    if (address < start_of(t, 0, &ok) || address >= start_of(t, t->n, &ok))
        return false;
    *out = search_first(i, 1, t->n, start_of(t, i, &ok) > address) - 1;
    return ok;
}

static uint64_t read_uleb(struct go_table *t, uint64_t *at, bool *ok)
{
    uint64_t v = 0;

    for (unsigned shift = 0; shift < 35; shift += 7) {
        uint64_t b = read_number(t, (*at)++, 1, ok);

        v |= (b & 0x7f) << shift;
        if (!(b & 0x80) || !*ok)
            return v;
    }
    *ok = false;
    return v;
}

/* A table of steps: the value's change (zigzag), and for how many
 * instructions it holds. */
static bool value_at(struct go_table *t, uint64_t at, uint64_t pc,
                     uint64_t address, int64_t *out)
{
    int64_t value = -1;
    bool ok = true;

    for (bool first = true; ok; first = false) {
        uint64_t change = read_uleb(t, &at, &ok);

        if (change == 0 && !first)
            return false;
        value +=
            change & 1 ? -(int64_t)(change >> 1) - 1 : (int64_t)(change >> 1);
        pc += read_uleb(t, &at, &ok) * t->quantum;
        if (ok && address < pc) {
            *out = value;
            return true;
        }
    }
    return false;
}

/* Offsets in the record of a function; the entry is a pointer before 1.18. */
struct record {
    uint64_t at, start;
    unsigned entry;
};

static struct str find_file(struct go_table *t, const struct record *r,
                            uint64_t address)
{
    uint32_t table, unit;
    int64_t index;
    bool ok = true;

    table = read_u32(t, r->at + r->entry + 16, &ok);
    if (!ok || table == 0 ||
        !value_at(t, t->pcs + table, r->start, address, &index) || index < 0)
        return STR("");
    if (t->version == 2)
        return read_text(t, read_u32(t, t->files + (uint64_t)index * 4, &ok));
    unit = read_u32(t, r->at + r->entry + 28, &ok);
    table = read_u32(t, t->units + (unit + (uint64_t)index) * 4, &ok);
    return ok && table != UINT32_MAX ? read_text(t, t->files + table) : STR("");
}

bool go_table_find(struct go_table *t, uint64_t address,
                   struct symbol_frame *out)
{
    unsigned size = field_size(t);
    struct record r = {.entry = size};
    uint64_t function;
    uint32_t lines;
    bool ok = true;

    if (!find_function(t, address, &function))
        return false;
    r.start = start_of(t, function, &ok);
    r.at = read_number(t, t->functions + (function * 2 + 1) * size, size, &ok);
    if (t->version != 2)
        r.at += t->functions;
    *out = (struct symbol_frame){
        .function = read_text(t, t->names + read_u32(t, r.at + size, &ok)),
        .file = find_file(t, &r, address)};
    lines = read_u32(t, r.at + size + 20, &ok);
    if (ok && lines &&
        !value_at(t, t->pcs + lines, r.start, address, &out->line))
        out->line = 0;
    if (t->version >= 20)
        out->start_line = (int32_t)read_u32(t, r.at + size + 32, &ok);
    return ok && out->function.n;
}

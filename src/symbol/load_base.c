/*
 * The rules are those of google/pprof, so that both tools find the same
 * function for the same profile.
 */
#include "symbol/load_base.h"

#include <gelf.h>
#include <string.h>

#define PAGE        UINT64_C(4096)
#define KERNEL_HALF (UINT64_C(1) << 63)

struct finder {
    Elf *elf;
    GElf_Ehdr header;
    struct object_mapping m;
    uint64_t address;
    bool has_stext; /* the kernel's relocation symbol is known */
    uint64_t stext;
};

static bool page_aligned(uint64_t v)
{
    return v % PAGE == 0;
}

/* --- the kernel's relocation symbol ------------------------------------ */

static bool find_in_table(Elf *elf, Elf_Scn *section, struct str name,
                          uint64_t *value)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Shdr header;
    GElf_Sym symbol;

    if (!data || !gelf_getshdr(section, &header))
        return false;
    for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
        const char *text = elf_strptr(elf, header.sh_link, symbol.st_name);

        if (text && str_eq(str_from(text), name)) {
            *value = symbol.st_value;
            return true;
        }
    }
    return false;
}

static void find_kernel_symbol(struct finder *f, const char *path)
{
    struct str name = f->m.kernel_symbol.n ? f->m.kernel_symbol : STR("_stext");
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    if (!strstr(path, "vmlinux") && page_aligned(f->m.start) &&
        page_aligned(f->m.limit) && page_aligned(f->m.offset))
        return;
    while (!f->has_stext && (section = elf_nextscn(f->elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
            f->has_stext = find_in_table(f->elf, section, name, &f->stext);
}

/* --- which segment ------------------------------------------------------ */

static bool is_loaded(const GElf_Phdr *p)
{
    return p->p_type == PT_LOAD && p->p_filesz != 0;
}

static bool find_text_segment(const struct finder *f, GElf_Phdr *out)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    size_t strings, n;

    if (elf_getshdrstrndx(f->elf, &strings) != 0 ||
        elf_getphdrnum(f->elf, &n) != 0)
        return false;
    while ((section = elf_nextscn(f->elf, section))) {
        const char *name;

        if (!gelf_getshdr(section, &header))
            continue;
        name = elf_strptr(f->elf, strings, header.sh_name);
        if (!name || strcmp(name, ".text") != 0)
            continue;
        for (size_t i = 0; i < n; i++)
            if (gelf_getphdr(f->elf, (int)i, out) && out->p_type == PT_LOAD &&
                (out->p_flags & PF_X) && header.sh_addr >= out->p_vaddr &&
                header.sh_addr < out->p_vaddr + out->p_memsz)
                return true;
    }
    return false;
}

/* Can the mapping be one of this segment? */
static bool fits(const GElf_Phdr *p, const struct object_mapping *m)
{
    uint64_t size = m->limit - m->start;
    uint64_t align = p->p_align ? p->p_align : 1;
    uint64_t in_page = p->p_vaddr & (align - 1);
    uint64_t aligned = p->p_offset > in_page ? p->p_offset - in_page : 0;
    uint64_t end = p->p_offset + p->p_filesz;

    if (!is_loaded(p) || m->offset >= end ||
        (m->offset + size > m->offset && m->offset + size <= p->p_offset))
        return false;
    if (aligned > m->offset)
        return false;
    /* Starting in the segment's last page but reaching beyond: the mapping
     * belongs to the next one. */
    if (m->offset > p->p_offset && end - m->offset < PAGE &&
        m->offset + size >= end + PAGE)
        return false;
    return true;
}

static bool holds_address(const GElf_Phdr *p, const struct finder *f)
{
    uint64_t at = f->address - f->m.start + f->m.offset;

    return at >= p->p_offset && at < p->p_offset + p->p_filesz;
}

/* *found is false when the file has no loaded segment at all. */
static bool find_mapped_segment(const struct finder *f, GElf_Phdr *out,
                                bool *found, struct error *err)
{
    size_t n, loaded = 0, candidates = 0, holders = 0;
    GElf_Phdr p, candidate, holder;

    if (elf_getphdrnum(f->elf, &n) != 0)
        n = 0;
    for (size_t i = 0; i < n; i++) {
        if (!gelf_getphdr(f->elf, (int)i, &p) || p.p_type != PT_LOAD)
            continue;
        loaded++;
        if (!fits(&p, &f->m))
            continue;
        candidates++;
        candidate = p;
        if (holds_address(&p, f)) {
            holders++;
            holder = p;
        }
    }
    *found = loaded != 0;
    if (loaded == 0)
        return true;
    if (candidates == 0)
        return error_set(err, "no program header matches mapping info");
    if (candidates > 1 && holders != 1)
        return error_set(err, "%s program header matches address %#llx",
                         holders ? "more than one" : "no",
                         (unsigned long long)f->address);
    *out = candidates == 1 ? candidate : holder;
    return true;
}

static bool find_segment(const struct finder *f, GElf_Phdr *out, bool *found,
                         struct error *err)
{
    if (f->has_stext || f->m.start >= f->m.limit || f->m.limit >= KERNEL_HALF) {
        *found = find_text_segment(f, out);
        return true;
    }
    return find_mapped_segment(f, out, found, err);
}

/* --- the base ----------------------------------------------------------- */

static bool same_in_page(uint64_t a, uint64_t b)
{
    return a % PAGE == b % PAGE;
}

static bool kernel_base(const struct finder *f, const GElf_Phdr *p,
                        uint64_t *base)
{
    const struct object_mapping *m = &f->m;

    if (p->p_vaddr == m->start - m->offset) {
        *base = m->offset;
        return true;
    }
    if (m->start == 0 && m->limit != 0 && f->has_stext) {
        *base = m->start - f->stext;
        return true;
    }
    if (m->start >= KERNEL_HALF && m->limit > m->start &&
        (m->offset == 0 || m->offset == UINT64_C(0xc000000000000000) ||
         m->offset == m->start)) {
        if (f->has_stext && same_in_page(m->start, f->stext))
            *base = m->start - f->stext;
        else
            *base = m->start - p->p_vaddr;
        return true;
    }
    if (!page_aligned(m->start) && f->has_stext &&
        same_in_page(m->start, f->stext)) {
        *base = m->start - f->stext;
        return true;
    }
    return false;
}

static bool base_of_executable(const struct finder *f, const GElf_Phdr *p,
                               uint64_t *base, struct error *err)
{
    const struct object_mapping *m = &f->m;

    if (!f->has_stext && m->start > 0 && m->start < KERNEL_HALF) {
        *base = m->start - m->offset + p->p_offset - p->p_vaddr;
        return true;
    }
    if (kernel_base(f, p, base))
        return true;
    if (m->start == 0 && m->limit != 0 && !f->has_stext) {
        *base = m->start - p->p_vaddr;
        return true;
    }
    return error_set(err,
                     "don't know how to handle a fixed-address file at "
                     "%#llx-%#llx, offset %#llx",
                     (unsigned long long)m->start, (unsigned long long)m->limit,
                     (unsigned long long)m->offset);
}

static bool base_from_segment(const struct finder *f, const GElf_Phdr *p,
                              bool found, uint64_t *base, struct error *err)
{
    const struct object_mapping *m = &f->m;

    switch (f->header.e_type) {
    case ET_EXEC:
        *base = 0;
        return !found || base_of_executable(f, p, base, err);
    case ET_DYN:
        *base = m->start - m->offset;
        if (found && !kernel_base(f, p, base))
            *base = m->start - m->offset + p->p_offset - p->p_vaddr;
        return true;
    case ET_REL:
        *base = m->start;
        return m->offset == 0 ||
               error_set(err, "don't know how to handle mapping.Offset");
    default:
        return error_set(err, "don't know how to handle ELF type %d",
                         f->header.e_type);
    }
}

bool load_base_find(Elf *elf, const char *path, struct object_mapping mapping,
                    uint64_t address, uint64_t *base, struct error *err)
{
    struct finder f = {.elf = elf, .m = mapping, .address = address};
    GElf_Phdr segment;
    bool found;

    if (mapping.start == 0 && mapping.offset == 0 &&
        (mapping.limit == 0 || mapping.limit == UINT64_MAX)) {
        *base = 0;
        return true;
    }
    if (address < mapping.start || address >= mapping.limit)
        return error_set(err, "address %#llx is outside the mapping",
                         (unsigned long long)address);
    if (!gelf_getehdr(elf, &f.header))
        return error_set(err, "%s", elf_errmsg(-1));
    find_kernel_symbol(&f, path);
    return find_segment(&f, &segment, &found, err) &&
           base_from_segment(&f, &segment, found, base, err);
}

/*
 * The rules are those of google/pprof, so that both tools find the same
 * function for the same profile.
 */
#include "symbol/load_base.h"

#include <string.h>

#include "symbol/symbol_table.h"

#define PAGE        UINT64_C(4096)
#define KERNEL_HALF (UINT64_C(1) << 63)

struct finder {
    const struct elf_file *elf;
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

static void find_kernel_symbol(struct finder *f, const char *path)
{
    struct str name = f->m.kernel_symbol.n ? f->m.kernel_symbol : STR("_stext");

    if (!strstr(path, "vmlinux") && page_aligned(f->m.start) &&
        page_aligned(f->m.limit) && page_aligned(f->m.offset))
        return;
    f->has_stext = symbol_value(f->elf, name, &f->stext);
}

/* --- which segment ------------------------------------------------------ */

static bool is_loaded(const Elf64_Phdr *p)
{
    return p->p_type == PT_LOAD && p->p_filesz != 0;
}

static bool find_text_segment(const struct finder *f, Elf64_Phdr *out)
{
    const struct elf_file *elf = f->elf;

    for (size_t s = 0; s < elf->n_sections; s++) {
        const Elf64_Shdr *section = &elf->sections[s];

        if (strcmp(elf_file_section_name(elf, section), ".text") != 0)
            continue;
        for (size_t i = 0; i < elf->n_segments; i++) {
            const Elf64_Phdr *p = &elf->segments[i];

            if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) ||
                section->sh_addr < p->p_vaddr ||
                section->sh_addr >= p->p_vaddr + p->p_memsz)
                continue;
            *out = *p;
            return true;
        }
    }
    return false;
}

/* Returns true if the mapping can be one of this segment. */
static bool fits(const Elf64_Phdr *p, const struct object_mapping *m)
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

static bool holds_address(const Elf64_Phdr *p, const struct finder *f)
{
    uint64_t at = f->address - f->m.start + f->m.offset;

    return at >= p->p_offset && at < p->p_offset + p->p_filesz;
}

static uint64_t page_down(uint64_t v)
{
    return v & ~(PAGE - 1);
}

static bool has_no_bytes(const struct elf_file *elf)
{
    for (size_t i = 0; i < elf->n_segments; i++)
        if (elf->segments[i].p_type == PT_LOAD &&
            (elf->segments[i].p_flags & PF_X) && elf->segments[i].p_filesz)
            return false;
    return true;
}

/*
 * A debug file that objcopy made tells addresses and sizes of segments, but
 * no offsets.  A mapping that is as large as the one executable segment, or
 * as everything up to its end, is that.
 */
static bool find_in_debug_file(const struct finder *f, Elf64_Phdr *out)
{
    const Elf64_Phdr *code = NULL, *first = NULL;
    uint64_t size = page_down(f->m.limit - f->m.start + PAGE - 1);

    if (!has_no_bytes(f->elf))
        return false;
    for (size_t i = 0; i < f->elf->n_segments; i++) {
        const Elf64_Phdr *p = &f->elf->segments[i];

        if (p->p_type != PT_LOAD)
            continue;
        first = first ? first : p;
        if ((p->p_flags & PF_X) && code)
            return false;
        if (p->p_flags & PF_X)
            code = p;
    }
    if (!code)
        return false;
    *out = f->m.offset == 0 ? *first : *code;
    if (page_down(code->p_vaddr + code->p_memsz + PAGE - 1) -
            page_down(out->p_vaddr) !=
        size)
        return false;
    out->p_offset = f->m.offset + out->p_vaddr % PAGE;
    return true;
}

/* *found is false when the file has no loaded segment at all. */
static bool find_mapped_segment(const struct finder *f, Elf64_Phdr *out,
                                bool *found, struct error *err)
{
    size_t loaded = 0, candidates = 0, holders = 0;
    Elf64_Phdr candidate, holder;

    for (size_t i = 0; i < f->elf->n_segments; i++) {
        Elf64_Phdr p = f->elf->segments[i];

        if (p.p_type != PT_LOAD)
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
    if (candidates == 0 && find_in_debug_file(f, out))
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

static bool find_segment(const struct finder *f, Elf64_Phdr *out, bool *found,
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

static bool kernel_base(const struct finder *f, const Elf64_Phdr *p,
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

static bool base_of_executable(const struct finder *f, const Elf64_Phdr *p,
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

static bool base_from_segment(const struct finder *f, const Elf64_Phdr *p,
                              bool found, uint64_t *base, struct error *err)
{
    const struct object_mapping *m = &f->m;

    switch (f->elf->type) {
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
                         f->elf->type);
    }
}

bool load_base_find(const struct elf_file *elf, const char *path,
                    struct object_mapping mapping, uint64_t address,
                    uint64_t *base, struct error *err)
{
    struct finder f = {.elf = elf, .m = mapping, .address = address};
    Elf64_Phdr segment = {0};
    bool found;

    if (mapping.start == 0 && mapping.offset == 0 &&
        (mapping.limit == 0 || mapping.limit == UINT64_MAX)) {
        *base = 0;
        return true;
    }
    if (address < mapping.start || address >= mapping.limit)
        return error_set(err, "address %#llx is outside the mapping",
                         (unsigned long long)address);
    find_kernel_symbol(&f, path);
    return find_segment(&f, &segment, &found, err) &&
           base_from_segment(&f, &segment, found, base, err);
}

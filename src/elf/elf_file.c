/*
 * Reads the headers of an ELF file into memory and widens those of 32-bit files
 * to the 64-bit form, so that other code need not distinguish them.  Counts and
 * offsets are checked against the file's size before anything is allocated.
 */
#include "elf/elf_file.h"

#include <string.h>
#include <sys/stat.h>

#include "base/pages.h"
#include "elf/view.h"

/* More than any real file has; what a hostile one may make us read. */
#define MAX_HEADERS ((size_t)1 << 20)
#define MAX_NAMES   ((size_t)1 << 28)
#define MAX_NOTES   65536

static void widen_section(Elf64_Shdr *to, const Elf32_Shdr *from)
{
    *to = (Elf64_Shdr){.sh_name = from->sh_name,
                       .sh_type = from->sh_type,
                       .sh_flags = from->sh_flags,
                       .sh_addr = from->sh_addr,
                       .sh_offset = from->sh_offset,
                       .sh_size = from->sh_size,
                       .sh_link = from->sh_link,
                       .sh_info = from->sh_info,
                       .sh_addralign = from->sh_addralign,
                       .sh_entsize = from->sh_entsize};
}

static void widen_segment(Elf64_Phdr *to, const Elf32_Phdr *from)
{
    *to = (Elf64_Phdr){.p_type = from->p_type,
                       .p_flags = from->p_flags,
                       .p_offset = from->p_offset,
                       .p_vaddr = from->p_vaddr,
                       .p_paddr = from->p_paddr,
                       .p_filesz = from->p_filesz,
                       .p_memsz = from->p_memsz,
                       .p_align = from->p_align};
}

static bool read_section(const struct elf_file *f, uint64_t at, Elf64_Shdr *out)
{
    Elf32_Shdr narrow;

    if (f->is_64)
        return elf_read_at(f->fd, out, sizeof(*out), at);
    if (!elf_read_at(f->fd, &narrow, sizeof(narrow), at))
        return false;
    widen_section(out, &narrow);
    return true;
}

/* n records of `wide` bytes each, or of `narrow` in a 32-bit file, as they
 * stand in the file; NULL when they are not all there. */
static void *read_table(const struct elf_file *f, uint64_t at, size_t n,
                        size_t narrow, size_t wide)
{
    size_t size = f->is_64 ? wide : narrow;
    void *p;

    if (n == 0 || n > MAX_HEADERS || at > f->size || n > (f->size - at) / size)
        return NULL;
    p = pages_alloc(n * wide);
    if (p && !elf_read_at(f->fd, p, n * size, at)) {
        pages_free(p, n * wide);
        p = NULL;
    }
    return p;
}

static bool read_sections(struct elf_file *f, uint64_t at, size_t n)
{
    f->sections = read_table(f, at, n, sizeof(Elf32_Shdr), sizeof(Elf64_Shdr));
    if (!f->sections)
        return false;
    f->n_sections = n;
    /* From the last to the first: the wide ones lie over the narrow. */
    for (size_t i = n; !f->is_64 && i-- > 0;) {
        Elf32_Shdr narrow;

        memcpy(&narrow, (char *)f->sections + i * sizeof(narrow),
               sizeof(narrow));
        widen_section(&f->sections[i], &narrow);
    }
    return true;
}

static bool read_segments(struct elf_file *f, uint64_t at, size_t n)
{
    f->segments = read_table(f, at, n, sizeof(Elf32_Phdr), sizeof(Elf64_Phdr));
    if (!f->segments)
        return false;
    f->n_segments = n;
    for (size_t i = n; !f->is_64 && i-- > 0;) {
        Elf32_Phdr narrow;

        memcpy(&narrow, (char *)f->segments + i * sizeof(narrow),
               sizeof(narrow));
        widen_segment(&f->segments[i], &narrow);
    }
    return true;
}

static bool read_names(struct elf_file *f, size_t index)
{
    const Elf64_Shdr *s;

    if (index == 0 || index >= f->n_sections)
        return true;
    s = &f->sections[index];
    if (s->sh_type == SHT_NOBITS || s->sh_size == 0 || s->sh_size > MAX_NAMES ||
        s->sh_size > f->size)
        return true;
    f->names = pages_alloc(s->sh_size + 1);
    if (!f->names)
        return false;
    f->names_n = s->sh_size;
    return elf_read_at(f->fd, f->names, s->sh_size, s->sh_offset);
}

/* What the two kinds of header have in common. */
struct header {
    uint16_t type, machine;
    uint64_t segments, sections;
    size_t segment_size, n_segments, section_size, n_sections, names;
};

static bool read_header(struct elf_file *f, struct header *out)
{
    union {
        unsigned char ident[EI_NIDENT];
        Elf64_Ehdr wide;
        Elf32_Ehdr narrow;
    } h;

    if (!elf_read_at(f->fd, h.ident, sizeof(h.ident), 0) ||
        memcmp(h.ident, ELFMAG, SELFMAG) != 0 ||
        h.ident[EI_DATA] != ELFDATA2LSB ||
        (h.ident[EI_CLASS] != ELFCLASS64 && h.ident[EI_CLASS] != ELFCLASS32))
        return false;
    f->is_64 = h.ident[EI_CLASS] == ELFCLASS64;
    if (!elf_read_at(f->fd, &h, f->is_64 ? sizeof(h.wide) : sizeof(h.narrow),
                     0))
        return false;
#define TAKE(h)                                                                \
    ((struct header){(h).e_type, (h).e_machine, (h).e_phoff, (h).e_shoff,      \
                     (h).e_phentsize, (h).e_phnum, (h).e_shentsize,            \
                     (h).e_shnum, (h).e_shstrndx})
    *out = f->is_64 ? TAKE(h.wide) : TAKE(h.narrow);
#undef TAKE
    return true;
}

bool elf_file_open(struct elf_file *f, int fd)
{
    struct header h;
    struct stat st;
    Elf64_Shdr first;

    *f = (struct elf_file){.fd = fd};
    if (fstat(fd, &st) != 0 || st.st_size <= 0)
        return false;
    f->size = (uint64_t)st.st_size;
    if (!read_header(f, &h))
        return false;
    f->type = h.type;
    f->machine = h.machine;
    /* Counts that do not fit stand in the first section's header. */
    if (h.sections && (h.n_sections == 0 || h.names == SHN_XINDEX ||
                       h.n_segments == PN_XNUM)) {
        if (!read_section(f, h.sections, &first))
            return false;
        if (h.n_sections == 0)
            h.n_sections = first.sh_size;
        if (h.names == SHN_XINDEX)
            h.names = first.sh_link;
        if (h.n_segments == PN_XNUM)
            h.n_segments = first.sh_info;
    }
    if ((h.sections && h.n_sections &&
         (h.section_size !=
              (f->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)) ||
          !read_sections(f, h.sections, h.n_sections) ||
          !read_names(f, h.names))) ||
        (h.segments && h.n_segments &&
         (h.segment_size !=
              (f->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)) ||
          !read_segments(f, h.segments, h.n_segments)))) {
        elf_file_release(f);
        return false;
    }
    return true;
}

void elf_file_release(struct elf_file *f)
{
    pages_free(f->segments, f->n_segments * sizeof(*f->segments));
    pages_free(f->sections, f->n_sections * sizeof(*f->sections));
    pages_free(f->names, f->names_n + 1);
    *f = (struct elf_file){.fd = f->fd};
}

const char *elf_file_section_name(const struct elf_file *f,
                                  const Elf64_Shdr *section)
{
    return section->sh_name < f->names_n ? f->names + section->sh_name : "";
}

const Elf64_Shdr *elf_file_find(const struct elf_file *f, const char *name)
{
    for (size_t i = 0; i < f->n_sections; i++) {
        const Elf64_Shdr *s = &f->sections[i];

        if (s->sh_type != SHT_NOBITS && s->sh_type != SHT_NULL &&
            strcmp(elf_file_section_name(f, s), name) == 0)
            return s;
    }
    return NULL;
}

static size_t note_build_id(const struct elf_file *f, uint64_t at, uint64_t n,
                            uint8_t *out, size_t max)
{
    uint8_t id[ELF_BUILD_ID_MAX];
    size_t found = 0;
    void *note;

    if (n == 0 || n > MAX_NOTES || n > f->size)
        return 0;
    note = pages_alloc(n);
    if (note && elf_read_at(f->fd, note, n, at))
        found = elf_note_build_id(note, n, id);
    pages_free(note, n);
    if (found > max)
        return 0;
    memcpy(out, id, found);
    return found;
}

size_t elf_file_build_id(const struct elf_file *f, uint8_t *out, size_t max)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n_segments && n == 0; i++)
        if (f->segments[i].p_type == PT_NOTE)
            n = note_build_id(f, f->segments[i].p_offset,
                              f->segments[i].p_filesz, out, max);
    for (size_t i = 0; i < f->n_sections && n == 0; i++)
        if (f->sections[i].sh_type == SHT_NOTE)
            n = note_build_id(f, f->sections[i].sh_offset,
                              f->sections[i].sh_size, out, max);
    return n;
}

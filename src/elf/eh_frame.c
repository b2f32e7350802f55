/*
 * One header at a time by pread: a program has some forty sections, and this is
 * asked once for it.
 */
#include "elf/eh_frame.h"

#include <elf.h>
#include <string.h>

#include "elf/read.h"

static bool load_section(const struct elf_source *s, const Elf64_Ehdr *eh,
                         unsigned i, Elf64_Shdr *out)
{
    return eh->e_shoff <= INT64_MAX &&
           elf_source_read(s, out, sizeof(*out),
                           eh->e_shoff + i * sizeof(*out));
}

static uint64_t find(const struct elf_source *s)
{
    static const char wanted[] = ".eh_frame";
    Elf64_Ehdr eh;
    Elf64_Shdr names, section;
    char name[sizeof(wanted)];

    if (!elf_source_read(s, &eh, sizeof(eh), 0) ||
        memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
        eh.e_ident[EI_CLASS] != ELFCLASS64 ||
        eh.e_ident[EI_DATA] != ELFDATA2LSB ||
        eh.e_shentsize != sizeof(section) ||
        !load_section(s, &eh, eh.e_shstrndx, &names) ||
        names.sh_offset > INT64_MAX)
        return 0;
    for (unsigned i = 0; i < eh.e_shnum; i++)
        if (load_section(s, &eh, i, &section) && section.sh_flags & SHF_ALLOC &&
            elf_source_read(s, name, sizeof(name),
                            names.sh_offset + section.sh_name) &&
            memcmp(name, wanted, sizeof(wanted)) == 0)
            return section.sh_addr;
    return 0;
}

uint64_t elf_eh_frame_of_file(const void *bytes, size_t n)
{
    return find(&(struct elf_source){.bytes = bytes, .n = n});
}

uint64_t elf_eh_frame_of_fd(int fd)
{
    return find(&(struct elf_source){.fd = fd});
}

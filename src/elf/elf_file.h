#ifndef ELF_ELF_FILE_H
#define ELF_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/read.h"

/*
 * An ELF file on disk: its headers, and its bytes by pread.
 *
 * Never by mmap: the file may be overwritten meanwhile, and a read that fails
 * is better than a SIGBUS.  Little-endian files of 32 and 64 bits, of any
 * machine; the headers of 32-bit files are widened.  Nothing in them is
 * trusted: sizes are checked against the file's.
 */
struct elf_file {
    int fd; /* the caller's */
    uint64_t size;
    bool is_64;
    uint16_t type, machine; /* e_type, e_machine */
    Elf64_Phdr *segments;   /* n_segments of them */
    size_t n_segments;
    Elf64_Shdr *sections; /* n_sections of them */
    size_t n_sections;
    char *names; /* of sections, names_n bytes and a NUL */
    size_t names_n;
};

/* False: not an ELF file, truncated, or out of memory; nothing to release. */
bool elf_file_open(struct elf_file *f, int fd);
void elf_file_release(struct elf_file *f);

const char *elf_file_section_name(const struct elf_file *f,
                                  const Elf64_Shdr *section);

/* The section of that name that has bytes in the file, or NULL. */
const Elf64_Shdr *elf_file_find(const struct elf_file *f, const char *name);

/* The GNU build id: from the note segments, then from sections.  Returns the
 * number of bytes, 0 when there is none. */
size_t elf_file_build_id(const struct elf_file *f, uint8_t *out, size_t max);

#endif

#ifndef ELF_READ_H
#define ELF_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads all n bytes at an offset of a file; false if the file is shorter.  A
 * file that is truncated meanwhile is an error, not a SIGBUS. */
bool elf_read_at(int fd, void *out, size_t n, uint64_t offset);

/* A file in memory (`bytes`, n of them) or, when bytes is NULL, on disk. */
struct elf_source {
    const uint8_t *bytes;
    size_t n;
    int fd;
};

/* The same for either. */
bool elf_source_read(const struct elf_source *s, void *out, size_t n,
                     uint64_t offset);

#endif

#ifndef ELF_SECTION_H
#define ELF_SECTION_H

#include "elf/elf_file.h"

/*
 * The bytes of a section, read from the file page by page when they are asked
 * for: a table of hundreds of megabytes costs only what is read.
 *
 * Pointers are valid until elf_section_drop() or _release(); those into the
 * window, which is for going through large parts one after another in the same
 * memory, until the next elf_section_window().  A compressed section (zlib, by
 * SHF_COMPRESSED or a .zdebug name) is inflated as a whole at the first access
 * and stays in memory.
 */
struct elf_section {
    const struct elf_file *file;
    uint64_t offset, size; /* size: inflated */
    uint64_t packed_n;     /* bytes in the file, if compressed; else 0 */
    uint8_t *bytes;        /* a reserve of `size` bytes, or NULL */
    uint64_t *there;       /* a bit for each page that has been read */
    uint64_t loaded;       /* bytes read or inflated */
    bool is_broken;        /* cannot be read */
    uint8_t *window;       /* room for window_cap bytes */
    size_t window_cap;
    uint64_t window_offset, window_n; /* what it holds */
};

/* An empty section when `header` is NULL. */
void elf_section_open(struct elf_section *s, const struct elf_file *file,
                      const Elf64_Shdr *header);
void elf_section_release(struct elf_section *s);

/* Forgets what was read, unless it was inflated. */
void elf_section_drop(struct elf_section *s);

/* The n bytes at an offset; NULL when they are not all there. */
const uint8_t *elf_section_at(struct elf_section *s, uint64_t offset,
                              uint64_t n);

/* The same, read into the window. */
const uint8_t *elf_section_window(struct elf_section *s, uint64_t offset,
                                  uint64_t n);

/* The text at an offset, with its NUL; NULL when it is not there or longer
 * than a mebibyte. */
const char *elf_section_text(struct elf_section *s, uint64_t offset);

#endif

#ifndef ELF_READ_H
#define ELF_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All n bytes at an offset of a file, or false: one cut short under us is an
 * error and no SIGBUS. */
bool elf_read_at(int fd, void *out, size_t n, uint64_t offset);

#endif

#ifndef ELF_EH_FRAME_H
#define ELF_EH_FRAME_H

#include <stddef.h>
#include <stdint.h>

/*
 * The vaddr of .eh_frame by the file's section headers; 0: not found.  For
 * programs without PT_GNU_EH_FRAME: those that gcc links statically.
 */
uint64_t elf_eh_frame_of_file(const void *bytes, size_t n);
uint64_t elf_eh_frame_of_fd(int fd);

#endif

#ifndef SYMBOL_MINI_DEBUG_INFO_H
#define SYMBOL_MINI_DEBUG_INFO_H

#include "elf/elf_file.h"

/*
 * .gnu_debugdata: a small ELF file with the function symbols of a stripped
 * one, packed with xz ("mini debug information", as Fedora ships it).
 *
 * Returns a file descriptor of the unpacked file, which lives in memory and
 * is the caller's to close; -1: there is none, or it cannot be unpacked.
 */
int mini_debug_info_open(const struct elf_file *elf);

#endif

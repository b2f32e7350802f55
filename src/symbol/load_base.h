#ifndef SYMBOL_LOAD_BASE_H
#define SYMBOL_LOAD_BASE_H

#include "base/error.h"
#include "elf/elf_file.h"
#include "symbol/object_types.h"

/*
 * Computes what to subtract from an address of the profiled process to get the
 * address inside the ELF file, given the process's mapping of the file.
 *
 * `address` is a sampled address, which decides if several segments fit the
 * mapping.
 */
bool load_base_find(const struct elf_file *elf, const char *path,
                    struct object_mapping mapping, uint64_t address,
                    uint64_t *base, struct error *err);

#endif

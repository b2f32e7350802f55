#ifndef SYMBOL_LOAD_BASE_H
#define SYMBOL_LOAD_BASE_H

#include "base/error.h"
#include "elf/elf_file.h"
#include "symbol/object_types.h"

/*
 * What to subtract from an address of the profiled process to get the
 * address inside the ELF file, from how the process had the file mapped.
 *
 * `address` is one that was sampled: when several segments fit the mapping
 * it decides.
 */
bool load_base_find(const struct elf_file *elf, const char *path,
                    struct object_mapping mapping, uint64_t address,
                    uint64_t *base, struct error *err);

#endif

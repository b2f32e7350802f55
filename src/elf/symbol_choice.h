#ifndef ELF_SYMBOL_CHOICE_H
#define ELF_SYMBOL_CHOICE_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Chooses the name of a code address if several symbols fit: one rule for the
 * endpoint (elf/symbols.h) and for `pprof` (symbol/symbol_table.h), so that
 * both give the same address the same name.  It is llvm-symbolizer's:
 *
 * - functions and labels count, of whatever size;
 * - of several at one address the largest, of these the last in the file.
 */
static inline bool elf_symbol_is_code(unsigned char info)
{
    unsigned type = ELF64_ST_TYPE(info);

    return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

/* "$x", "$d.12": where code and data start on ARM's machines, no names. */
static inline bool elf_symbol_is_mark(unsigned char info, const char *name)
{
    return ELF64_ST_TYPE(info) == STT_NOTYPE &&
           ELF64_ST_BIND(info) == STB_LOCAL && name[0] == '$';
}

struct elf_symbol_place {
    uint64_t address, size;
    uint32_t order; /* in the file */
};

/* By address, the better one last: for sorting. */
static inline int elf_symbol_compare(struct elf_symbol_place a,
                                     struct elf_symbol_place b)
{
    if (a.address != b.address)
        return a.address < b.address ? -1 : 1;
    if (a.size != b.size)
        return a.size < b.size ? -1 : 1;
    return (a.order > b.order) - (a.order < b.order);
}

#endif

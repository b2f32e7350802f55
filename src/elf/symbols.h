#ifndef ELF_SYMBOLS_H
#define ELF_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pages.h"
#include "base/str.h"
#include "elf/view.h"

/*
 * The functions of one ELF object by address: 16 bytes each beside their names.
 * Built from a file's .symtab (else .dynsym), read with pread so that a
 * truncated file is an error and not a SIGBUS; or from the .dynsym that the
 * loader keeps in memory.
 *
 * If several names share an address, one is kept (elf/symbol_choice.h).
 */
struct elf_symbol {
    uint64_t vaddr;
    uint32_t size; /* 0: unknown, it reaches to the next symbol */
    uint32_t name; /* offset in names */
};

struct elf_symbols {
    struct pages_vec v;     /* of struct elf_symbol, by address */
    struct pages_vec names; /* NUL-terminated texts */
};

/* Both return false if there is no table or it is malformed; the struct is then
 * empty.  `build_id` (n bytes, 0: don't care) must be the file's own: a library
 * replaced on disk since it was loaded has other addresses. */
bool elf_symbols_from_fd(struct elf_symbols *s, int fd, const uint8_t *build_id,
                         size_t build_id_n);
bool elf_symbols_from_module(struct elf_symbols *s, const struct elf_view *v);
void elf_symbols_release(struct elf_symbols *s);

/* Returns true if it is the ELF file with this build id. */
bool elf_fd_has_build_id(int fd, const uint8_t *build_id, size_t build_id_n);

/* The function that contains vaddr, or NULL. */
const struct elf_symbol *elf_symbols_find(const struct elf_symbols *s,
                                          uint64_t vaddr);

static inline struct str elf_symbol_name(const struct elf_symbols *s,
                                         const struct elf_symbol *symbol)
{
    return str_from((const char *)s->names.p + symbol->name);
}

#endif

#ifndef SYMBOL_SYMBOL_TABLE_H
#define SYMBOL_SYMBOL_TABLE_H

#include "base/vec.h"
#include "elf/section.h"
#include "symbol/object_types.h"

/*
 * The symbols of an ELF file by address.  Names stay in the file until they
 * are asked for.
 *
 * Functions, objects and labels of sections that are loaded count; which of
 * several at one address is in elf/symbol_choice.h.
 */
struct symbol_entry {
    uint64_t address, size;
    uint32_t name;
    uint32_t file;  /* of a local one: the source's name; 0 not known */
    uint32_t order; /* in the file */
    bool is_code;   /* no object */
};

struct symbol_table {
    struct elf_section names;
    VEC(struct symbol_entry) all;  /* by address, then size */
    VEC(struct symbol_entry) best; /* one an address */
};

/* Reads the section of that type, SHT_SYMTAB or SHT_DYNSYM; false: there is
 * none, or it holds nothing.  Release it if true. */
bool symbol_table_read(struct symbol_table *t, struct arena *a,
                       const struct elf_file *elf, uint32_t type);
void symbol_table_release(struct symbol_table *t);

/* The symbol that contains an address of the file, or NULL, and its texts ("":
 * none). */
const struct symbol_entry *symbol_table_find(const struct symbol_table *t,
                                             uint64_t address);
struct str symbol_table_name(struct symbol_table *t,
                             const struct symbol_entry *s);
struct str symbol_table_file(struct symbol_table *t,
                             const struct symbol_entry *s);

/* Returns true if `name` is one of the names of the symbol's start address. */
bool symbol_table_is_called(struct symbol_table *t,
                            const struct symbol_entry *s, struct str name);

/* Appends all functions and labels, by address. */
struct symbol_list {
    VEC(struct object_symbol) list;
};
void symbol_table_list(struct symbol_table *t, struct arena *a,
                       struct symbol_list *out);

/* The address of a symbol of .symtab by its name. */
bool symbol_value(const struct elf_file *elf, struct str name, uint64_t *out);

#endif

#ifndef SYMBOL_GO_TABLE_H
#define SYMBOL_GO_TABLE_H

#include "elf/section.h"
#include "dwarf/frame.h"

/*
 * .gopclntab: the table that Go's runtime has for its own tracebacks.  It is
 * there in every Go program, also in one that was linked without symbols and
 * DWARF (-ldflags="-s -w").
 *
 * It has the function and the innermost line of an address.  Inlining
 * information is elsewhere in the program and is not read, so the line may
 * belong to a different function than the one that is named.  Tables of Go 1.2,
 * 1.16, 1.18 and 1.20 and later.
 */
struct go_table {
    struct elf_section section;
    unsigned version; /* 2, 16, 18, 20 */
    unsigned pointer; /* bytes of one */
    unsigned quantum; /* of instructions */
    uint64_t n;       /* functions */
    uint64_t text;    /* address that offsets start from */
    uint64_t names, units, files, pcs, functions; /* offsets of parts */
};

/* False: the file has no table, or an unknown version. */
bool go_table_open(struct go_table *t, const struct elf_file *elf);
void go_table_release(struct go_table *t);

/* False: no function contains the address.  Texts live as long as the table. */
bool go_table_find(struct go_table *t, uint64_t address,
                   struct symbol_frame *out);

#endif

#ifndef REPORT_DISASSEMBLY_H
#define REPORT_DISASSEMBLY_H

#include "report/context.h"

/*
 * The instructions of every symbol of the binaries that matches a report's
 * argument and has samples, with what each costs: the data behind -disasm and
 * the page's view of it.
 */
struct disassembled {
    uint64_t address; /* in the file */
    struct str text;
    int64_t flat, cum;
    struct str function, file; /* base name; "" if not known */
    int64_t line;
};

struct disassembled_symbol {
    const struct str *names; /* all that share the address */
    size_t n_names;
    int64_t flat, cum;
    VEC(struct disassembled) instructions;
};

struct disassembly {
    VEC(struct disassembled_symbol) symbols; /* by name */
};

/* Fails when nothing matches, or a binary cannot be disassembled. */
bool disassembly_make(struct report *r, struct disassembly *out,
                      struct error *err);

#endif

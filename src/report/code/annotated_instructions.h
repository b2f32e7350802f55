#ifndef REPORT_CODE_ANNOTATED_INSTRUCTIONS_H
#define REPORT_CODE_ANNOTATED_INSTRUCTIONS_H

#include "report/context.h"

/*
 * The instructions of symbols of the binaries that match a report's argument
 * and have samples, with what each costs: the data behind -disasm and the
 * page's view of it.
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
    VEC(struct disassembled_symbol) symbols;
    size_t n_left_out; /* that match, too */
};

/*
 * All symbols by name, or, with max_symbols > 0, that many of them by their own
 * cost.  Fails if nothing matches or the disassembler fails; with a limit only
 * if it fails for every symbol.
 */
bool disassembly_make(struct report *r, int max_symbols,
                      struct disassembly *out, struct error *err);

#endif

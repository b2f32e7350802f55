#ifndef RUNTIME_WRITE_FUNCTION_NAMES_H
#define RUNTIME_WRITE_FUNCTION_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "elf/jit_map.h"
#include "elf/symbols.h"
#include "runtime/unwind/modules.h"

/*
 * Addresses to function names, from the symbol tables of what is loaded and,
 * for generated code, from what the program's runtime has written for perf
 * (jit_map.h).
 *
 * Made for one answer and released with it: a module's table is read when
 * the first address in it is asked for.  Hold runtime.lock meanwhile.
 */
struct name_module {
    const struct module *module;
    struct elf_symbols symbols;
    bool has_symbols;
};

struct names {
    const struct modules *modules;
    struct pages_vec loaded; /* of struct name_module */
    struct jit_map jit;
    bool has_jit; /* it was looked for */
    char *(*demangle)(const char *, char *, size_t *, int *);
};

struct name {
    struct str mangled;          /* as in the symbol table, or the jit_map */
    uint64_t start;              /* run-time address of the function */
    const struct module *module; /* NULL: in none */
};

void names_init(struct names *n, const struct modules *modules);
void names_release(struct names *n);

/* False: no symbol is there; out->module may still be known.  The text lives
 * until names_release. */
bool names_find(struct names *n, uint64_t address, struct name *out);

/* Appends the name as people write it: demangled if the program brings a
 * C++ runtime; of generated code only the function (jit_name.h). */
void names_pretty(struct names *n, struct str mangled, struct buf *out);

/* The name of a frame that is no code ("[truncated]"), or NULL. */
const char *names_pseudo(uint64_t frame);

#endif

#ifndef SYMBOL_OBJECTS_H
#define SYMBOL_OBJECTS_H

#include "base/vec.h"
#include "symbol/instruction.h"
#include "symbol/object.h"

/*
 * Access to binaries for reports on code, as a struct of functions, so that
 * tests can provide their own and need no binaries.
 */

/* The names that share an address; `end` is the last byte before the next
 * group. */
struct symbol_group {
    uint64_t start, end; /* in the file */
    const struct str *names;
    size_t n_names;
};

struct symbol_groups {
    VEC(struct symbol_group) list; /* by address */
};

struct objects {
    void *arg;
    struct object *(*open)(void *arg, const char *path,
                           struct object_mapping mapping, struct error *err);
    void (*close)(void *arg, struct object *o);

    /* The address inside the file. */
    bool (*file_address)(void *arg, struct object *o, uint64_t address,
                         uint64_t *out, struct error *err);

    /* Every symbol of the file; memory from `a` and the object. */
    bool (*symbols)(void *arg, struct object *o, struct arena *a,
                    struct symbol_groups *out, struct error *err);

    /* [start, end) of the file; memory from `a`. */
    bool (*disassemble)(void *arg, struct object *o, struct arena *a,
                        uint64_t start, uint64_t end, bool intel_syntax,
                        struct instructions *out, struct error *err);

    /* As object_resolve; addresses are those of the profile. */
    bool (*resolve)(void *arg, struct object *o, const uint64_t *addresses,
                    size_t n, symbol_found *found, void *found_arg,
                    struct error *err);
};

/*
 * The binaries on this machine, disassembled by binutils' objdump or LLVM's.
 * `tools` is the -tools flag: a comma list of [tool:]directory, "" for PATH.
 * Lives as long as `a`.
 */
struct objects objects_local(struct arena *a, struct str tools);

#endif

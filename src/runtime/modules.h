#ifndef RUNTIME_MODULES_H
#define RUNTIME_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "elf/symbols.h"
#include "elf/unwind_table.h"
#include "runtime/grace.h"
#include "runtime/unwind.h"

/*
 * What is loaded into the process: the program, its libraries, the vDSO,
 * each with its unwind table, published to signal handlers as an unwind_map.
 *
 * modules_refresh() takes the loader's lock for as long as it takes to copy
 * the unwind data of what is new, then builds without it.  It is never called
 * in a handler.  Modules that went away are remembered (the newest
 * MODULES_MAX_DEAD of them), so that samples taken in them still get names.
 *
 * One thread at a time may call what is not marked otherwise.
 */
#define MODULES_MAX      1024
#define MODULES_MAX_DEAD 64

struct module {
    char path[512];
    uint8_t build_id[ELF_BUILD_ID_MAX];
    size_t build_id_n;
    uint64_t bias;
    uint64_t start, limit; /* run-time addresses of its code */
    uint64_t offset;       /* of the code in the file */
    struct unwind_table table;
    struct elf_view view; /* its bytes: only with the loader's lock held */
    bool is_loaded, is_main, is_vdso;
    uint64_t died; /* for dead ones: when, in refreshes */
};

struct modules {
    struct module *v; /* MODULES_MAX of them, in pages */
    size_t n;
    uint64_t adds, subs; /* the loader's counters at the last refresh */
    uint64_t refreshes;
    uint64_t ignored; /* modules beyond MODULES_MAX */
    uint64_t unfreed; /* maps that could not be freed in time */
    struct rule_set rules;
    struct grace grace;
    _Atomic(struct unwind_map *) map;
    size_t map_bytes;
};

bool modules_init(struct modules *m); /* false: out of memory */
void modules_release(struct modules *m);

/* Brings map and list up to date; cheap when nothing was loaded or unloaded
 * since.  False: out of memory, the old map stays. */
bool modules_refresh(struct modules *m);

/* The module that has code at an address, loaded ones first; NULL: none. */
const struct module *modules_find(const struct modules *m, uint64_t address);

/* The functions of a module: from its file if that is still the one that was
 * loaded, else from memory.  False: it has no names. */
bool module_symbols(const struct module *module, struct elf_symbols *out);

/* Bytes of memory held for tables. */
size_t modules_bytes(const struct modules *m);

#endif

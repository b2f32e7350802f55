#ifndef RUNTIME_UNWIND_MODULES_H
#define RUNTIME_UNWIND_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pages.h"
#include "base/str.h"
#include "elf/symbols.h"
#include "elf/unwind_table.h"
#include "runtime/unwind/grace.h"
#include "runtime/unwind/unwind.h"
#include "runtime/unwind/unwind_data.h"

/*
 * What is loaded into the process: the program, its libraries, the vDSO,
 * published to signal handlers as an unwind_map.
 *
 * modules_refresh() only lists what is new and takes hold of its unwind data:
 * walks read that as it is until the module has a table, which is built
 * whenever there is time:
 *
 *     while (modules_build_begin(m, &job)) {
 *         modules_build_run(&job);       // may take 100 ms; needs no lock
 *         modules_build_end(m, &job);
 *     }
 *
 * None of this is ever called in a handler.  Modules that went away are
 * remembered (the newest MODULES_MAX_DEAD of them), so that samples taken in
 * them still get names.
 *
 * One thread at a time may call what is not marked otherwise, and only one
 * may build.
 */
#define MODULES_MAX      1024
#define MODULES_MAX_DEAD 64

struct module {
    char path[512];
    uint8_t build_id[ELF_BUILD_ID_MAX];
    size_t build_id_n;
    uint64_t bias;
    uint64_t start, limit;     /* run-time addresses of its code */
    uint64_t offset;           /* of the code in the file */
    struct unwind_data frames; /* until the table is built */
    struct elf_view view;      /* of frames */
    struct unwind_table table; /* empty: not built, or nothing to build it of */
    bool is_loaded, is_main, is_vdso;
    bool was_built; /* or tried: once is enough */
    uint64_t died;  /* for dead ones: when, in refreshes */
};

struct modules {
    struct module *v; /* MODULES_MAX of them, in pages */
    size_t n;
    uint64_t adds, subs; /* the loader's counters at the last refresh */
    uint64_t refreshes;
    uint64_t ignored;      /* modules beyond MODULES_MAX */
    struct rule_set rules; /* grown by who builds */
    struct grace grace;
    _Atomic(struct unwind_map *) map;
    size_t map_bytes;
    struct module *building;  /* a place that must stay as it is, or NULL */
    size_t unpublished;       /* rows that are built but in no map yet */
    struct pages_vec retired; /* memory that handlers may still read */
};

struct module_build {
    struct module *module;
    struct elf_view view;
    struct rule_set *rules;
    struct unwind_table table;
};

bool modules_init(struct modules *m); /* false: out of memory */

/* Brings map and list up to date; cheap when nothing was loaded or unloaded
 * since.  False: out of memory, the old map stays. */
bool modules_refresh(struct modules *m);

/* The next module without a table, smallest first; false: none. */
bool modules_build_begin(struct modules *m, struct module_build *job);
void modules_build_run(struct module_build *job); /* by any one thread */
/* Takes the table over and publishes it, now or with the next ones. */
void modules_build_end(struct modules *m, struct module_build *job);
/* All of it at once, for who has the time. */
void modules_build_all(struct modules *m);
bool modules_has_unbuilt(const struct modules *m);
/* In a forked child, whose parent may have been building. */
void modules_build_abandon(struct modules *m);

/* The module that has code at an address, loaded ones first; NULL: none. */
const struct module *modules_find(const struct modules *m, uint64_t address);

/* Returns true if it is the library that we load when a profile is written,
 * which may be where the program had generated code before. */
bool modules_is_own(struct str path);

/* The functions of a module: from its file if that is still the one that was
 * loaded, else from memory.  False: it has no names. */
bool module_symbols(const struct module *module, struct elf_symbols *out);

/* Bytes of memory held for tables. */
size_t modules_bytes(const struct modules *m);

#endif

#ifndef PERF_UNWIND_H
#define PERF_UNWIND_H

#include "elf/unwind_table.h"
#include "perf/sample.h"
#include "perf/space.h"

/*
 * Stacks from the copy of registers and stack memory that `perf record
 * --call-graph dwarf` takes: walked with the unwind tables of the binaries,
 * which must be on this machine.
 *
 * Only samples of this machine's own kind are walked.
 */
struct unwind_module {
    const char *path;
    bool is_there;
    struct unwind_table table;
    /* Loaded segments: file offset to virtual address. */
    struct {
        uint64_t offset, n, vaddr;
    } segments[ELF_MAX_SEGMENTS];
    size_t n_segments;
};

/* A profile's mapping, and the module it is of. */
struct unwind_file {
    uint64_t start, offset;
    struct str path, build_id; /* build_id: bytes, "" not known */
    uint32_t module;           /* UINT32_MAX: not looked for */
};

struct perf_unwinder {
    struct arena *arena;
    struct rule_set rules;
    VEC(struct unwind_module) modules;
    VEC(struct unwind_file) files; /* by the number of a perf_map */
};

bool perf_unwinder_init(struct perf_unwinder *u, struct arena *a);
void perf_unwinder_release(struct perf_unwinder *u);

/* Return addresses of the sample's user stack, the leaf itself first;
 * returns how many. */
size_t perf_unwind(struct perf_unwinder *u, const struct perf_space *space,
                   const struct perf_sample *s, uint64_t *out, size_t max);

#endif

#ifndef PERF_SPACE_H
#define PERF_SPACE_H

#include "base/map.h"
#include "base/vec.h"

/*
 * The memory maps of every process, built from the records in order of time: a
 * mapping replaces what was there before it, a fork copies, an exec starts with
 * an empty map.
 */
struct perf_map {
    uint64_t start, limit;
    uint32_t file; /* the caller's number for the mapping */
};

struct perf_space {
    uint32_t pid;
    VEC(struct perf_map) maps; /* by address, none over another */
    uint32_t first; /* file of the first map since exec; UINT32_MAX */
    uint64_t samples;
};

struct perf_spaces {
    struct arena *arena;
    VEC(struct perf_space) list;
    struct map index; /* by pid */
};

#define PERF_KERNEL  UINT32_MAX /* the kernel's pid */
#define PERF_NO_FILE UINT32_MAX

void perf_spaces_init(struct perf_spaces *s, struct arena *a);

/* Created if it does not exist; the next call invalidates pointers. */
struct perf_space *perf_space_of(struct perf_spaces *s, uint32_t pid);

void perf_space_map(struct perf_spaces *s, uint32_t pid, struct perf_map map);
void perf_space_fork(struct perf_spaces *s, uint32_t parent, uint32_t child);
void perf_space_exec(struct perf_spaces *s, uint32_t pid);

/* The map at an address, or NULL. */
const struct perf_map *perf_space_find(const struct perf_space *s,
                                       uint64_t address);

#endif

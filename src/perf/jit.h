#ifndef PERF_JIT_H
#define PERF_JIT_H

#include "base/vec.h"
#include "elf/jit_map.h"

/*
 * Names of generated code in recorded processes: of each, the files that its
 * runtime wrote for perf (jit_map.h), read when a sample asks for them.
 *
 * They are those of this machine.  For a recording from another one, which
 * may have processes with the same numbers, nothing is read.
 */
struct perf_jit_process {
    uint32_t pid;
    const char *dump_path; /* NULL: none was mapped */
    struct jit_map map;
    bool was_read;
};

struct perf_jit {
    struct arena *arena;
    bool is_foreign;
    VEC(struct perf_jit_process) processes;
};

/* `hostname`: where it was recorded; "": not known. */
void perf_jit_init(struct perf_jit *j, struct arena *a, struct str hostname);
void perf_jit_release(struct perf_jit *j);

/* A file that a process has mapped; if it is a dump, it is remembered. */
void perf_jit_note_file(struct perf_jit *j, uint32_t pid, struct str path);

/* Returns true if a mapping of this name may hold generated code. */
bool perf_jit_may_hold(struct str path);

bool perf_jit_find(struct perf_jit *j, uint32_t pid, uint64_t address,
                   struct jit_code *out);

#endif

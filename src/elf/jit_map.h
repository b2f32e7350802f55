#ifndef ELF_JIT_MAP_H
#define ELF_JIT_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pages.h"
#include "base/str.h"
#include "elf/read.h"

/*
 * Names of code that a process has generated: what runtimes write for `perf`.
 *
 *     struct jit_map m;
 *
 *     jit_map_init(&m);
 *     jit_map_add_text(&m, text);           // /tmp/perf-PID.map
 *     jit_map_add_dump(&m, &source, pid);   // jit-PID.dump
 *     jit_map_finish(&m);
 *     if (jit_map_find(&m, address, &code)) …
 *     jit_map_release(&m);
 *
 * A map is a text with a line `START SIZE NAME` for each function, numbers in
 * hexadecimal.  A dump is a file of binary records: code that was loaded, with
 * its name and bytes, and code that was moved.
 *
 * Addresses are reused when code is discarded; the latest record wins.
 * Malformed lines and records are skipped, and so is one that is still being
 * written.
 */
struct jit_map {
    struct pages_vec codes; /* by address, none over another, when finished */
    struct pages_vec names; /* bytes */
};

struct jit_code {
    uint64_t start, limit;
    struct str name; /* as the runtime wrote it; see jit_name.h */
};

/* More is not read, of a file and of a name. */
#define JIT_MAX_CODES     ((size_t)1 << 22)
#define JIT_MAX_NAME      4096
#define JIT_MAX_MAP_BYTES ((size_t)256 << 20)

void jit_map_init(struct jit_map *m);
void jit_map_release(struct jit_map *m);

/* False: out of memory, or too many.  What was added before is kept. */
bool jit_map_add(struct jit_map *m, uint64_t start, uint64_t size,
                 struct str name);

/* Before finishing: the name of the last code that was added at this address,
 * among the newest `lookback`; its length, 0 when there is none. */
size_t jit_map_last_name(const struct jit_map *m, uint64_t start,
                         size_t lookback, char out[JIT_MAX_NAME]);

bool jit_map_add_text(struct jit_map *m, struct str text);

/* False also if it is not a dump, or one of another process. */
bool jit_map_add_dump(struct jit_map *m, const struct elf_source *file,
                      uint32_t pid);

#define JIT_DIRECTORY "/tmp" /* by convention */

/* The files of a process: DIRECTORY/perf-PID.map, and the dump at this path or,
 * if it is NULL, DIRECTORY/jit-PID.dump.  Another user's files are not read.
 * False: nothing was found. */
bool jit_map_read(struct jit_map *m, const char *directory, uint32_t pid,
                  const char *dump_path);

/* Returns true if it is the path of a dump of this process. */
bool jit_is_dump_path(struct str path, uint32_t pid);

/* Sorts.  False: out of memory; the map is then empty. */
bool jit_map_finish(struct jit_map *m);

/* False: no code that we know is there.  The name lives as long as the map. */
bool jit_map_find(const struct jit_map *m, uint64_t address,
                  struct jit_code *out);

#endif

#ifndef RUNTIME_PROFILES_H
#define RUNTIME_PROFILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "runtime/stacktable.h"
#include "runtime/threads.h"
#include "runtime/writer.h"

/*
 * The profiles that can be had at any moment, by name: what the endpoint's
 * index lists and what pprof_write_profile() writes.  The CPU profile takes
 * time and is in cpu.h.
 *
 *     const struct profile_kind *k = profiles_find(STR("threads"));
 *     profiles_write(k, debug, out, &err);
 *
 * A delta is two snapshots: take, wait, take, subtract, write.
 */
struct snapshot {
    struct profile_spec spec;
    struct stack_table table;
    struct threads threads; /* of a dump, else empty */
};

struct profile_kind {
    const char *name;
    const char *description;
    bool (*take)(struct snapshot *out, bool details, struct error *err);
    uint64_t (*count)(void);
    bool can_delta;
    bool has_dump; /* debug=2 differs from debug=1 */

    /* debug=1 in a form of its own; NULL: counts and stacks. */
    bool (*write_text)(const struct snapshot *s, struct buf *out,
                       struct error *err);
    /* What would switch it on, in words; returns NULL, or is NULL: it is on.
     */
    const char *(*switched_off)(void);
    /* The program's own, see custom.h: then take and count are NULL. */
    const struct pprof_profile *custom;
};

uint64_t profiles_count(const struct profile_kind *kind);

/* A snapshot of counts with an empty table of so many slots (a power of two)
 * and bytes; _take functions start with it.  False: out of memory. */
bool snapshot_begin(struct snapshot *s, const char *name, uint32_t slots,
                    size_t bytes, struct error *err);

/* All but the program's own, sorted by name; ends with a NULL name. */
const struct profile_kind *profiles_all(void);
const struct profile_kind *profiles_find(struct str name); /* NULL: none */

/* One snapshot, written: debug 0 (or less) is the gzip'd profile, 1 text,
 * 2 and more the dump where there is one. */
bool profiles_write(const struct profile_kind *kind, int debug, struct buf *out,
                    struct error *err);

/* The pieces, for deltas.  Release a snapshot that was taken. */
bool snapshot_take(const struct profile_kind *kind, struct snapshot *out,
                   struct error *err);
void snapshot_release(struct snapshot *s);
/* Of threads: each one by itself, with name and id as labels. */
bool snapshot_label_threads(struct snapshot *s, struct error *err);
bool snapshot_subtract(struct snapshot *after, const struct snapshot *before,
                       struct error *err);
bool snapshot_write(const struct snapshot *s, struct buf *out,
                    struct error *err);

/* Names of addresses for the `symbol` request: appends the function's name.
 * False: unknown.  Between begin and end the lock is held. */
struct symbol_request;
bool profiles_symbol_begin(struct symbol_request **out);
bool profiles_symbol(struct symbol_request *r, uint64_t address,
                     struct buf *out);
void profiles_symbol_end(struct symbol_request *r);

#endif

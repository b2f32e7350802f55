#ifndef RUNTIME_PROFILES_H
#define RUNTIME_PROFILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "runtime/write/snapshot.h"

/*
 * The profiles that can be written at any moment, by name: those in the
 * endpoint's index and those that pprof_write_profile() writes.  The CPU
 * profile takes time and is in cpu.h.
 *
 *     const struct profile_kind *k = profiles_find(STR("threads"));
 *     profiles_write(k, debug, out, &err);
 */
uint64_t profiles_count(const struct profile_kind *kind);

/* All but the program's own, sorted by name; ends with a NULL name. */
const struct profile_kind *profiles_all(void);
const struct profile_kind *profiles_find(struct str name); /* NULL: none */

/* Returns true if the endpoint serves something of ours under this name, so
 * that the program cannot use it. */
bool profiles_is_reserved(struct str name);

/* One snapshot, written: debug 0 (or less) is the gzip'd profile, 1 text,
 * 2 and more the dump where there is one. */
bool profiles_write(const struct profile_kind *kind, int debug, struct buf *out,
                    struct error *err);

/* One snapshot, for deltas; the caller releases it. */
bool snapshot_take(const struct profile_kind *kind, struct snapshot *out,
                   struct error *err);

/* Names of addresses for the `symbol` request: appends the function's name.
 * False: unknown.  Between begin and end the lock is held. */
struct symbol_request;
bool profiles_symbol_begin(struct symbol_request **out);
bool profiles_symbol(struct symbol_request *r, uint64_t address,
                     struct buf *out);
void profiles_symbol_end(struct symbol_request *r);

#endif

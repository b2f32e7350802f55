#ifndef RUNTIME_WRITE_LINE_LOOKUP_H
#define RUNTIME_WRITE_LINE_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pages.h"
#include "runtime/unwind/modules.h"
#include "runtime/write/lines.h"

/*
 * Files, lines and inlined calls for the addresses of a profile, if
 * libpprof-symbol.so is installed (beside libpprof, or where the loader looks)
 * and the program has debug information.
 *
 * Done by a thread of its own with low priority, and with no lock held: a big
 * program takes a second.  PPROF_SYMBOL_MEMORY=MB bounds what it may hold of
 * files at a time, 64; 0 switches it off.  A 64th of that may be used to
 * remember answers for the next profile (line_cache.h): if all are known, no
 * thread is started and no file is read.  Addresses without an answer stay
 * as they are; the analyser can finish them.  So do all of them if the
 * machine is so busy that the thread is not done in LINES_SECONDS; it then
 * ends by itself, and until it has, no other one is started.
 */
#define LINES_SECONDS 10

struct line_lookup {
    struct lines lines;      /* the answers: places in the given order */
    struct pages_vec groups; /* of struct line_group: modules */
    struct pages_vec vaddrs; /* of uint64_t, one an address */
    /* Of the group under way, what is not cached: */
    struct pages_vec missing;    /* of uint64_t: addresses */
    struct pages_vec missing_at; /* of size_t: their places */
    _Atomic int state;           /* who frees it: line_lookup_run */
};

struct line_lookup *line_lookup_new(void); /* NULL: out of memory */
void line_lookup_free(struct line_lookup *l);

/* Returns true if lines are available.  Loads the library, so do not hold the
 * lock. */
bool lines_wanted(void);

/* Notes which module each address is in; they rise.  Hold runtime.lock.
 * False: there is nothing to ask. */
bool line_lookup_plan(struct line_lookup *l, const struct modules *modules,
                      const uint64_t *addresses, size_t n);

/* Asks.  Without the lock.  False: it took too long, and `l` is gone. */
bool line_lookup_run(struct line_lookup *l);

/* The child has neither the thread nor what it was about to remember. */
void line_lookup_after_fork(void);

#endif

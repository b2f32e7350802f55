#ifndef RUNTIME_WRITE_LINE_LOOKUP_H
#define RUNTIME_WRITE_LINE_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pages.h"
#include "base/str.h"
#include "runtime/unwind/modules.h"

/*
 * Files, lines and inlined calls for the addresses of a profile, if
 * libpprof-symbol.so is installed (beside libpprof, or where the loader looks)
 * and the program has debug information.
 *
 * Done by a thread of its own with low priority, and with no lock held: a big
 * program takes a second.  PPROF_SYMBOL_MEMORY=MB bounds what it may hold of
 * files at a time, 64; 0 switches it off.  Addresses without an answer stay
 * as they are; the analyser can finish them.  So do all of them if the
 * machine is so busy that the thread is not done in LINES_SECONDS; it then
 * ends by itself, and until it has, no other one is started.
 */
#define LINES_SECONDS 10

struct line_function {
    uint32_t name, file; /* offsets in text */
    int64_t start_line;
    uint64_t id; /* for the writer; 0 at first */
};

struct line_frame {
    uint32_t function;
    int64_t line, column;
};

struct line_place {
    uint32_t first, n; /* frames, innermost first; n 0: not known */
    bool is_final;     /* nobody will know more */
};

struct lines {
    struct pages_vec groups;    /* of struct line_group: modules */
    struct pages_vec vaddrs;    /* of uint64_t, one an address */
    struct pages_vec places;    /* of struct line_place, the same */
    struct pages_vec frames;    /* of struct line_frame */
    struct pages_vec functions; /* of struct line_function */
    struct pages_vec slots;     /* of uint32_t: hash to function + 1 */
    struct pages_vec text;      /* NUL-terminated texts */
    size_t group;               /* the one under way */
    _Atomic int state;          /* who frees it: lines_resolve */
    bool failed;                /* out of memory: what there is stays */
};

#define LINES_MAX_FRAMES 64 /* of one address; more inner ones are cut off */

struct lines *lines_new(void); /* NULL: out of memory */
void lines_free(struct lines *l);

/* Can lines be had at all?  Loads the library: not with the lock. */
bool lines_wanted(void);

/* Notes which module each address is in; they rise.  Hold runtime.lock.
 * False: there is nothing to ask. */
bool lines_plan(struct lines *l, const struct modules *modules,
                const uint64_t *addresses, size_t n);

/* Asks.  Without the lock.  False: it took too long, and `l` is gone. */
bool lines_resolve(struct lines *l);

static inline struct line_place lines_at(const struct lines *l, size_t i)
{
    const struct line_place *v = l ? l->places.p : NULL;

    return l && i < l->places.n ? v[i] : (struct line_place){0, 0, false};
}

static inline const struct line_frame *lines_frames(const struct lines *l,
                                                    struct line_place p)
{
    return p.n ? (const struct line_frame *)l->frames.p + p.first : NULL;
}

static inline struct line_function *lines_function(const struct lines *l,
                                                   uint32_t function)
{
    return (struct line_function *)l->functions.p + function;
}

static inline struct str lines_text(const struct lines *l, uint32_t offset)
{
    return str_from((const char *)l->text.p + offset);
}

#endif

#ifndef REPORT_CODE_OBJECTS_MEMO_H
#define REPORT_CODE_OBJECTS_MEMO_H

#include "symbol/objects.h"

/*
 * Binaries for several reports about one profile.
 *
 * Reports on other sample types ask for the same code again: a binary is opened
 * once, and a piece of code disassembled once, which is a run of objdump.
 * There is a time limit: after it, no further binary is opened and no further
 * piece disassembled, but cached results stay available.  Reports start with
 * the most expensive code, so that only less important code is missing.
 *
 * For one thread.
 */
struct memo_opened {
    const char *path;
    struct object_mapping mapping;
    struct object *object;
};

struct memo_code {
    struct object *object;
    uint64_t start, end;
    bool intel_syntax;
    struct instructions instructions;
};

struct objects_memo {
    struct objects objects; /* for the reports */
    const struct objects *from;
    struct arena *arena;
    int64_t end_ns; /* of the monotonic clock */
    VEC(struct memo_opened) opened;
    VEC(struct memo_code) code;
};

/* `from` and `a` outlive it; it must not move. */
void objects_memo_init(struct objects_memo *m, const struct objects *from,
                       struct arena *a);

/* Sets the time limit from now on; initially it is zero. */
void objects_memo_allow(struct objects_memo *m, int64_t ns);

/* Closes the binaries. */
void objects_memo_release(struct objects_memo *m);

#endif

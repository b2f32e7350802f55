#ifndef RUNTIME_PUSH_PUSH_OPTIONS_H
#define RUNTIME_PUSH_PUSH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "runtime/push/push_target.h"

struct pprof_push_options;

/*
 * Options of pushing: from the program, else the environment (env.h), else the
 * default.  A set-uid program ignores the environment.
 */
enum push_kind {
    PUSH_CPU,
    PUSH_WALL,
    PUSH_HEAP,
    PUSH_BLOCK,
    PUSH_MUTEX,
    PUSH_THREADS,
    PUSH_KINDS,
};

extern const char *const push_kind_names[PUSH_KINDS];

struct push_options {
    struct push_target target;
    bool kinds[PUSH_KINDS];
    int64_t interval_ns; /* from one round to the next */
    int64_t length_ns;   /* of a CPU or wall profile; that of the interval:
                            without a pause */
    size_t max_bytes;    /* of profiles that wait to be sent */
    int64_t exit_ns;     /* how long the end of the program may wait; 0: not */
    bool quiet, verbose;
};

/* Returns true if the environment names a collector. */
bool push_options_wanted(void);

/* `asked` may be NULL.  False: an option is invalid, or two cannot be
 * combined. */
bool push_options_read(const struct pprof_push_options *asked,
                       struct push_options *out, struct error *err);

/* Reads "cpu,heap,mutex". */
bool push_kinds_parse(const char *text, bool out[PUSH_KINDS],
                      struct error *err);

#endif

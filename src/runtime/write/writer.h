#ifndef RUNTIME_WRITE_WRITER_H
#define RUNTIME_WRITE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "runtime/unwind/stack_table.h"

/*
 * A stack table as a profile: profile.proto with names, mappings and build
 * ids, gzip'd; or as text.
 *
 * Nothing of the program may be stopped for this: it reads the table while
 * others may add.
 */
struct profile_type {
    const char *type, *unit;
};

struct profile_spec {
    const char *name; /* in the text's head: "threadcreate" */
    struct profile_type types[STACK_VALUES];
    size_t n_types;
    struct profile_type period_type;
    int64_t period;
    int64_t time_ns, duration_ns; /* 0: left out */
    const char *default_type;     /* NULL: none */
    /* Not 0: the second type is the first times this (cpu = samples *
     * period) and is not counted in the table. */
    int64_t second_is_first_times;
    /* If not NULL, tags are size_tags (thread_labels.h), and sizes are shown
     * under this name. */
    const char *size_label;
    bool has_label_tags; /* tags are label_tags (thread_labels.h) */
    struct buf comments; /* lines; the caller releases it */
};

/* Appends the profile to out.  False: out is full or memory is out. */
bool profile_write(const struct profile_spec *spec,
                   const struct stack_table *table, struct buf *out,
                   struct error *err);

/* Appends the text of a count profile (debug=1): total, then every stack
 * with its addresses and names. */
bool profile_write_text(const struct profile_spec *spec,
                        const struct stack_table *table, struct buf *out,
                        struct error *err);

/* gzip, level 1. */
bool profile_gzip(struct str bytes, struct buf *out, struct error *err);

#endif

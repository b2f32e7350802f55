#ifndef REPORT_CODE_ANNOTATED_SOURCE_H
#define REPORT_CODE_ANNOTATED_SOURCE_H

#include "report/context.h"

/*
 * Source lines with the instructions made from them and what both cost: the
 * data behind -weblist and the page's source view.
 *
 * A function is shown when it, its file or its binary matches the report's
 * argument.  Instructions and inlined calls come from the binary if it can be
 * opened; otherwise the profile's own lines are used instead ("synthetic"
 * instructions).
 */
struct listing_call { /* an inlined call above an instruction */
    struct str source;
    struct str file; /* base name */
    int64_t line;
};

struct listing_instruction {
    uint64_t address; /* in the file */
    struct str text;  /* "" for a synthetic one */
    struct str file;  /* base name; "" if not known */
    int64_t line;
    int64_t flat, cum;
    bool new_block;                   /* does not follow the one before */
    const struct listing_call *calls; /* those that are not shown already */
    size_t n_calls;
};

struct listing_line {
    int64_t line;
    struct str source;
    int64_t flat, cum;
    bool has_cost; /* some instruction belongs to it */
    const struct listing_instruction *instructions; /* worth expanding */
    size_t n_instructions;
};

struct listing_function {
    struct str name, file;
    int64_t flat, cum;
    VEC(struct listing_line) lines;
};

struct annotated_source {
    VEC(struct listing_function) functions;
};

/*
 * Files by name, or, with max_files >= 0, that many of them by cost.  Fails if
 * nothing matches.
 */
bool listing_make(struct report *r, int max_files, struct annotated_source *out,
                  struct error *err);

#endif

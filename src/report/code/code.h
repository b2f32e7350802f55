#ifndef REPORT_CODE_CODE_H
#define REPORT_CODE_CODE_H

#include "report/context.h"
#include "symbol/objects.h"

/*
 * The instructions of the functions that a report is about, and which source
 * lines they came from.  Collected from the samples, then from the binaries.
 */
struct code_instruction {
    uint64_t address;      /* in the profiled process */
    uint64_t file_address; /* in the binary */
    uint64_t length;
    struct str text; /* "" when there is no binary */
    struct str file;
    int64_t line;
    int64_t flat, cum;
};

/* A frame around an instruction. */
struct code_frame {
    struct str function, file;
    int64_t line;
};

/* An instruction under one of the interesting functions around it. */
struct code_place {
    struct str file;     /* of the interesting frame, cleaned */
    int64_t line;        /* there */
    struct str function; /* as the binary names it */
    uint32_t instruction;
    const struct code_frame *callees; /* outermost first */
    size_t n_callees;
};

struct code {
    VEC(struct code_instruction) instructions;
    VEC(struct code_place) places; /* in the order they were found */
};

/* Everything that matches the report's argument; empty if nothing does. */
void code_collect(struct report *r, struct code *out);

/* Returns true if the report's argument is a number, which selects by address,
 * too. */
bool code_argument_address(const struct report *r, uint64_t *out);

/* The name to show for one that a binary has. */
struct str code_pretty_name(const struct report *r, struct str system_name);

#endif

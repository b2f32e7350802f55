#ifndef REPORT_STACK_STACKS_H
#define REPORT_STACK_STACKS_H

#include "base/vec.h"
#include "report/context.h"
#include "report/graph/node.h"

/*
 * The samples of a profile as distinct stacks, root first: what flame graphs
 * are made of.
 *
 * Frames that print the same are the same frame, frames are numbered in the
 * order of their names, and stacks come in the order of their frames, so
 * that stacks with a common beginning stand together: a tree is one pass.
 * Unsymbolized frames are called "[prog]+0x12f0", the place in the file.
 * Samples without any frame are left out.
 */
struct stack_frame {
    struct str name; /* as printed, unique */
    uint32_t node;   /* one of the nodes with that name, in `nodes` */
};

struct stack {
    size_t start; /* frames[start .. start + depth), root first */
    size_t depth;
    uint32_t row; /* of the values */
};

struct report_stacks {
    struct arena *arena;
    struct node_table nodes;
    VEC(struct stack_frame) names; /* by frame number */
    VEC(uint32_t) frames;          /* frame numbers of all stacks */
    VEC(struct stack) stacks;

    /* Sums of the samples of a stack, types.n numbers a row: all of them,
     * and those of the base profile alone (negative; NULL without one). */
    size_t n_types;
    VEC(int64_t) values;
    VEC(int64_t) base;
    bool has_base;
};

void report_stacks_make(struct report_stacks *t, const struct report *r);

/* Names the unsymbolized nodes by their place in a file, as above. */
void stacks_name_bare(struct node_table *nodes);

/* What the report shows for a stack: its selected value, with -mean divided
 * by the first one. */
int64_t stack_value(const struct report *r, const struct report_stacks *t,
                    const struct stack *s);

#endif

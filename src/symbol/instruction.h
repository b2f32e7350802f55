#ifndef SYMBOL_INSTRUCTION_H
#define SYMBOL_INSTRUCTION_H

#include <stdint.h>

#include "base/vec.h"

/*
 * Disassembled code.
 */
struct instruction {
    uint64_t address;          /* in the file */
    struct str text;           /* "mov %rsp,%rbp" */
    struct str function, file; /* "" when not known */
    int64_t line;
};

struct instructions {
    VEC(struct instruction) list;
};

#endif

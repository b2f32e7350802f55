#ifndef SYMBOL_OBJECT_TYPES_H
#define SYMBOL_OBJECT_TYPES_H

#include <stdint.h>

#include "base/str.h"

/*
 * Types of an object (symbol/object.h) and its parts.
 */

/* How the profiled process had the file mapped. */
struct object_mapping {
    uint64_t start, limit, offset;
    struct str kernel_symbol; /* of "[kernel.kallsyms]_stext", else "" */
};

/* A symbol of the file, by its address there. */
struct object_symbol {
    uint64_t address, size;
    struct str name;
};

#endif

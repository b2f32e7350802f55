#ifndef ELF_JIT_NAME_H
#define ELF_JIT_NAME_H

#include <stdint.h>

#include "base/str.h"

/*
 * Parses the names that runtimes write for generated code.
 *
 *     JS:*render /app/view.js:12:8       V8: `*` optimised, `~` interpreted …
 *     py::render:/app/view.py            CPython 3.12
 *
 * A function has one name here whichever way it was compiled.  A function
 * without a name is named after its place.  Names of other runtimes stay as
 * they are.  The parts are views of the text.
 */
struct jit_name {
    struct str function;
    struct str file; /* "": not told */
    int64_t line;    /* of the function; 0: not known */
};

struct jit_name jit_name_parse(struct str text);

#endif

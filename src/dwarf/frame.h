#ifndef DWARF_FRAME_H
#define DWARF_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* One of the functions at an address, innermost first. */
struct symbol_frame {
    struct str function; /* as in the file: mangled; "": not known */
    struct str file;     /* "" not known */
    int64_t line, column, start_line;
};

/* Called with the frames of the index-th address; they and their texts are
 * valid until it returns. */
typedef void symbol_found(void *arg, size_t index,
                          const struct symbol_frame *frames, size_t n);

#endif

#ifndef CONFIG_LIMITS_H
#define CONFIG_LIMITS_H

#include <stddef.h>

#include "base/str.h"

/*
 * The source of a document, and limits for reading it.
 */
struct document_source {
    const char *name; /* of the file, for errors */
    struct str text;  /* has to live only until the tree is there */
};

struct document_limits {
    size_t bytes; /* of the text */
    size_t nodes;
    unsigned depth;
};

/* For files that people write: 4 MB, 100,000 nodes, 64 levels. */
extern const struct document_limits document_default_limits;

#endif

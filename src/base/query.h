#ifndef BASE_QUERY_H
#define BASE_QUERY_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"

/*
 * The words of a URL's query, "f=main&n=10", as Go's net/url reads and
 * writes them.
 */
struct query_word {
    struct str name, value; /* decoded, from the arena */
};

/* Takes the next readable word off the front of *rest; malformed ones (a bad
 * %XX, a semicolon) are skipped.  False when none is left. */
bool query_next(struct arena *a, struct str *rest, struct query_word *out);

/* Appends a name or a value, encoded. */
void query_encode(struct buf *out, struct str text);

#endif

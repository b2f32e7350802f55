#ifndef COLLECTOR_INTAKE_LABEL_TEXT_H
#define COLLECTOR_INTAKE_LABEL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "store/store.h"

/*
 * The `labels` parameter of profefe's API: comma-separated key=value pairs,
 * each key and value escaped once more as in a URL query, so that a value can
 * hold a comma.  `text` is the parameter after the URL's own decoding.
 *
 * Pairs without a key are skipped; a pair without = has an empty value.  The
 * result is sorted by key; equal keys keep their order.
 */
/* A profile may have this many labels. */
#define LABELS_MAX 256

struct labels {
    struct store_label *v; /* from the arena */
    size_t n;
};

/* The error is Go's: invalid URL escape "%zz". */
bool labels_parse(struct labels *out, struct arena *a, struct str text,
                  struct error *err);

#endif

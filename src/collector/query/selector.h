#ifndef COLLECTOR_QUERY_SELECTOR_H
#define COLLECTOR_QUERY_SELECTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "store/store.h"

/*
 * Which profiles a query is about, written as PromQL writes it:
 *
 *     cpu{service="api",region=~"eu-.*",version!="1.3"}
 *
 * The name before the braces is the profile type; it may be left out, and so
 * may the braces.  `service` is the service and `__type__` the type; every
 * other name is a label.  Names that are not made of letters, digits and _
 * are quoted: {"k8s.pod"="a"}.  Values are quoted with ", ' (both with
 * backslash escapes) or ` (as it is).  A regular expression must match the
 * whole value.  A label that a profile does not have counts as "".
 *
 * The matchers belong to the arena, but for the compiled expressions: release
 * the selector.
 */
#define SELECTOR_MAX_MATCHERS 64

struct selector {
    struct store_matcher *matchers;
    size_t n;
};

/* The error has the column and what was expected there. */
bool selector_parse(struct selector *out, struct arena *a, struct str text,
                    struct error *err);
void selector_release(struct selector *s);

/* The value that the service, or the type, must be equal to; "" if the
 * selector leaves it open. */
struct str selector_service(const struct selector *s);
struct str selector_type(const struct selector *s);

/* Adds field = value; false when there are SELECTOR_MAX_MATCHERS already. */
bool selector_require(struct selector *s, struct arena *a,
                      enum store_field field, struct str key, struct str value);

/* Appends the selector in its canonical form: equal for selectors that
 * differ only in order, quotes and white space. */
void selector_format(const struct selector *s, struct arena *a,
                     struct buf *out);

#endif

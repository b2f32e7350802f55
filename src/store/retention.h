#ifndef STORE_RETENTION_H
#define STORE_RETENTION_H

#include "store/options.h"

/*
 * Retention rules that a store keeps: a copy of those it was given, with their
 * texts.  retention_release() drops it.
 */
struct retention {
    struct store_retention *rules;
    size_t n;
    char *text;
};

/* False: out of memory. */
bool retention_copy(const struct store_retention *rules, size_t n,
                    struct retention *out);
void retention_release(struct retention *r);

/* The rule that decides about a series, or NULL. */
const struct store_retention *
retention_rule(const struct retention *r, struct str service, struct str type);

/* How long the step of a sum is. */
extern const int64_t level_ns[STORE_LEVELS];

#endif

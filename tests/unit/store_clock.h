#ifndef TESTS_UNIT_STORE_CLOCK_H
#define TESTS_UNIT_STORE_CLOCK_H

#include "store_support.h"

/*
 * A store whose clock the test sets, and whose background work it does.
 */
#define SECOND ((int64_t)1000000000)
#define HOUR   (3600 * SECOND)
#define DAY    (24 * HOUR)

static int64_t now_ns;

static inline int64_t test_clock(void)
{
    return now_ns;
}

/* A midnight. */
#define MIDNIGHT ((int64_t)1700006400 * SECOND)

static inline struct store_options clocked(void)
{
    struct store_options o = store_test_options();

    o.now_ns = test_clock;
    return o;
}

static inline void work_off(struct store *s)
{
    struct store_stats stats;

    while (sqlite_store_work(s))
        continue;
    store_get_stats(s, &stats);
    if (stats.background_errors) {
        test_failed = true;
        printf("# background: %s\n", stats.last_background_error);
    }
}

static inline struct store_stats stats_of(struct store *s)
{
    struct store_stats stats;

    store_get_stats(s, &stats);
    return stats;
}

static inline struct profile *
merged(struct store *s, const struct store_query *q, enum store_values values)
{
    struct profile *p = NULL;
    struct error err;

    if (store_merge(s, q, values, NULL, &p, NULL, &err) != STORE_OK)
        printf("# merge: %s\n", err.text);
    return p;
}

#endif

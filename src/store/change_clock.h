#ifndef STORE_CHANGE_CLOCK_H
#define STORE_CHANGE_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/clock.h"

/*
 * Counts changes of stored profiles by the minute of their time, so that an
 * answer about a range can be kept until something in that range changes.
 *
 * A writer counts a change after readers can see it.  A reader reads the clock
 * before it looks at the profiles: a change that it may have missed then gives
 * another reading.  Minutes share counters, so a reading may change
 * unnecessarily, but it always changes when it has to.
 */
enum { CHANGE_COUNTERS = 1 << 14 };

struct change_clock {
    atomic_ullong all; /* changes that may affect any time */
    atomic_ullong minutes[CHANGE_COUNTERS];
};

static inline int64_t change_minute(int64_t ns)
{
    return ns / MINUTE - (ns % MINUTE < 0);
}

static inline void change_clock_count(struct change_clock *c, int64_t ns)
{
    size_t at = (size_t)change_minute(ns) % CHANGE_COUNTERS;

    atomic_fetch_add(&c->minutes[at], 1);
}

static inline void change_clock_count_all(struct change_clock *c)
{
    atomic_fetch_add(&c->all, 1);
}

/* The reading for a range, both ends included; never 0. */
static inline uint64_t change_clock_read(struct change_clock *c,
                                         int64_t from_ns, int64_t to_ns)
{
    uint64_t sum = 1 + atomic_load(&c->all);
    int64_t first = change_minute(from_ns), last = change_minute(to_ns);

    if (last - first >= CHANGE_COUNTERS)
        last = first + CHANGE_COUNTERS - 1;
    for (int64_t i = first; i <= last; i++)
        sum += atomic_load(&c->minutes[(size_t)i % CHANGE_COUNTERS]);
    return sum;
}

#endif

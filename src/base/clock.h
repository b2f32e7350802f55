#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* In nanoseconds. */
#define SECOND ((int64_t)1000000000)
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

/* Nanoseconds of any clock; 0 if there is no clock with that id. */
static inline int64_t clock_ns(clockid_t clock)
{
    struct timespec t = {0};

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Of the monotonic clock. */
static inline int64_t clock_monotonic_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* Since 1970, UTC. */
static inline int64_t clock_realtime_ns(void)
{
    return clock_ns(CLOCK_REALTIME);
}

static inline struct timespec clock_timespec(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / 1000000000,
                             .tv_nsec = ns % 1000000000};
}

/* The CPU clock of a thread, as the kernel numbers it. */
static inline clockid_t clock_of_thread(int tid)
{
    return (clockid_t)(~(unsigned)tid << 3 | 6);
}

#endif

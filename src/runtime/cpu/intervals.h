#ifndef RUNTIME_CPU_INTERVALS_H
#define RUNTIME_CPU_INTERVALS_H

#include <stdint.h>

/*
 * Random intervals between samples.
 *
 * Samples at fixed intervals fall in step with a program whose loop takes a
 * multiple of the interval: they hit the same few places in every round, and
 * the shares in the profile are wrong however long it runs.  So each thread has
 * a sequence of targets on its CPU clock, between half a period and one and a
 * half apart, and a sample counts the targets that the thread has passed since
 * the last one.  A signal that comes late therefore loses nothing, and counts
 * do not depend on what the program does.
 *
 * The number of targets must be the time divided by the period, also after
 * few of them: each interval is corrected by an eighth of what the sequence
 * is ahead or behind.  That keeps the sum within about two periods, and is too
 * weak a force to bring the targets in step with anything.  (The deviation is
 * 0.6 periods; modulo one period such a distribution is even to 0.2 %.)  To
 * round the elapsed time to periods instead would be wrong: what a sample
 * counts would depend on its place in the period.
 *
 * All of this is async-signal-safe.
 */
struct intervals {
    int64_t target_ns;    /* the next one */
    int64_t accounted_ns; /* CPU time that the targets passed stand for */
    uint64_t random;      /* 0: needs a seed */
};

/* A state that differs from thread to thread and from profile to profile. */
static inline uint64_t intervals_seed(uint64_t thread, uint64_t time)
{
    uint64_t x = thread * 0x9e3779b97f4a7c15u + time;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (x ^ x >> 31) | 1;
}

/* Uniform in [0, limit): xorshift64*. */
static inline int64_t intervals_below(uint64_t *random, int64_t limit)
{
    uint64_t x = *random;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *random = x;
    x *= 0x2545f4914f6cdd1du;
    return (int64_t)((unsigned __int128)x * (uint64_t)limit >> 64);
}

/* Between half a period and one and a half. */
static inline int64_t intervals_draw(uint64_t *random, int64_t period_ns)
{
    return period_ns / 2 + intervals_below(random, period_ns);
}

/*
 * How far the next target is from a moment that has nothing to do with them,
 * such as the start of a thread.  With this distribution a thread of any length
 * passes, on average, exactly one target per period: uniform up to half a
 * period, and falling to nothing at one and a half.
 */
static inline int64_t intervals_first(uint64_t *random, int64_t period_ns)
{
    int64_t a, b;

    if (intervals_below(random, 2) == 0)
        return 1 + intervals_below(random, period_ns / 2);
    a = intervals_below(random, period_ns);
    b = intervals_below(random, period_ns);
    return period_ns / 2 + (a < b ? a : b);
}

static inline void intervals_begin(struct intervals *v, int64_t target_ns,
                                   int64_t period_ns)
{
    v->target_ns = target_ns;
    v->accounted_ns = target_ns - period_ns;
}

/* From here on the targets are passed all at once. */
#define INTERVALS_MANY 64

/* The number of targets up to now, which are passed by this. */
static inline int64_t intervals_pass(struct intervals *v, int64_t now_ns,
                                     int64_t period_ns)
{
    int64_t n = 0;

    if (now_ns - v->target_ns > INTERVALS_MANY * period_ns) {
        n = (now_ns - v->target_ns) / period_ns;
        v->target_ns += n * period_ns;
        v->accounted_ns += n * period_ns;
    }
    for (; v->target_ns <= now_ns; n++) {
        int64_t ahead = v->target_ns - v->accounted_ns - period_ns;

        v->accounted_ns += period_ns;
        v->target_ns += intervals_draw(&v->random, period_ns) - ahead / 8;
    }
    return n;
}

#endif

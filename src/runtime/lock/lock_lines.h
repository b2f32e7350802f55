#ifndef RUNTIME_LOCK_LOCK_LINES_H
#define RUNTIME_LOCK_LOCK_LINES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Who waits for which lock: how the time that threads spend waiting finds
 * its way to the thread that made them wait.
 *
 * A waiter enters the lock's line and leaves it when it has the lock.  Who
 * releases the lock asks for the charge: the time that all threads in the
 * line together have waited since the last release, or since they came.  So
 * every nanosecond of waiting up to the last release is charged once, to the
 * holder of that moment.
 *
 * Lines are found by the lock's address; LOCK_LINES of them are enough for
 * as many locks that are waited for at the same moment.  Nothing here blocks
 * or allocates: a line that is busy for long is passed over, and a waiter who
 * leaves a busy line drops a note that the next visitor reads.  Async-signal
 * handlers may therefore interrupt any of this and come in again.
 */
#define LOCK_LINES 1024

#define LOCK_NOTES 4

struct lock_line {
    _Atomic uint32_t busy;
    uint32_t n;                 /* waiters; written only while busy */
    uint64_t sum;               /* of the times since when they count; wraps */
    _Atomic uintptr_t lock;     /* the address; 0: free */
    _Atomic int64_t charged_ns; /* the last charge */
    /* Waiters who left while it was busy: since when they count, 0: free. */
    _Atomic int64_t notes[LOCK_NOTES];
};

struct lock_lines {
    _Atomic uint32_t waiters; /* in all lines: 0 means no need to look */
    _Atomic uint64_t lost;    /* waiters who found no line */
    struct lock_line lines[LOCK_LINES];
};

/* The line that was entered; NULL: no room, the wait is not charged. */
struct lock_line *lock_lines_enter(struct lock_lines *t, const void *lock,
                                   int64_t now_ns);

/* `entered_ns` as it was given to enter. */
void lock_lines_leave(struct lock_lines *t, struct lock_line *line,
                      int64_t entered_ns);

/* The time spent waiting for this lock since the last charge; 0: no thread
 * waits.  The holder calls it before it releases the lock. */
int64_t lock_lines_charge(struct lock_lines *t, const void *lock,
                          int64_t now_ns);

/* In a forked child: the waiters stayed behind in the parent. */
void lock_lines_reset(struct lock_lines *t);

#endif

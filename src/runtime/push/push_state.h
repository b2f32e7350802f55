#ifndef RUNTIME_PUSH_PUSH_STATE_H
#define RUNTIME_PUSH_PUSH_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/push/push_options.h"
#include "runtime/push/push_queue.h"

/*
 * What the two threads of push.h share.  One takes profiles (push_taker.c),
 * the other sends them (push_sender.c), so that a collector that hangs delays
 * no profile.
 *
 * OFF -> ON -> ASKED (the end is near) -> TAKEN (by the taker, which ends)
 *     -> DONE (by the sender, which ends) -> OFF
 *
 * Straight from ON to DONE: nothing is pushed any more.
 */
enum push_phase { PUSH_OFF, PUSH_ON, PUSH_ASKED, PUSH_TAKEN, PUSH_DONE };

struct push_state {
    struct push_options options;
    _Atomic int pid;              /* of the process that pushes; 0: none */
    _Atomic uint32_t phase;       /* enum push_phase; a futex */
    _Atomic int64_t finish_by_ns; /* from ASKED on: the deadline of all waits */
    _Atomic int threads;          /* that have not ended yet */

    /* Futexes: they count what the threads should look at. */
    _Atomic uint32_t taker_wake, sender_wake;

    pthread_mutex_t lock; /* of the queue */
    struct push_queue queue;
    int64_t started_ns; /* since 1970 */

    /* By the sender: the collector does not answer, or takes its time. */
    _Atomic bool is_failing;
    _Atomic int64_t sending_since_ns; /* 0: it is not sending */
};

extern struct push_state push __attribute__((visibility("hidden")));

void *push_taker(void *arg);
void *push_sender(void *arg);

/* Copies a profile into the queue and wakes the sender. */
void push_enqueue(const struct push_profile *profile);

/* Sleeps until then, or until the phase is not ON any more.  False: it is
 * not.  A wake that the caller has not seen yet ends it, too. */
bool push_sleep_until(_Atomic uint32_t *wake, int64_t until_ns);

/* ns, more or less: between `low` and `high` per cent of it. */
int64_t push_jitter(int64_t ns, int low, int high);

#endif

#ifndef RUNTIME_THREAD_ASK_H
#define RUNTIME_THREAD_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/cpu/sigprof.h"

/*
 * Asks threads that run for their stacks.
 *
 * A perf event of the thread, or a CPU timer where events are not allowed, is
 * made to fire as soon as the thread has used a little CPU time.  Both send
 * their signal on the way back to user mode only: a thread that goes to sleep
 * instead is not woken, its call is not interrupted, and it answers when it
 * runs again.
 *
 *     asks_begin(&a, ASK_DUMP);
 *     slot = asks_send(&a, tid);
 *     … later
 *     if (ask_is_done(asks_slot(&a, slot))) …
 *     asks_forget(&a, slot);
 *     asks_end(&a);
 *
 * A slot stays with its thread, and keeps the event or timer, until it is
 * forgotten: it may be sent again.
 */
struct asks {
    enum ask_group group;
    struct ask *slots;        /* ASK_SLOTS */
    int fds[ASK_SLOTS];       /* of events, or -1 */
    int timers[ASK_SLOTS];    /* or -1 */
    bool by_event, in_kernel; /* events are allowed, also for kernel time */
};

/* One at a time for each group.  False: out of memory. */
bool asks_begin(struct asks *a, enum ask_group group);
void asks_end(struct asks *a);

/* The number of the slot; -1: none is free, or the thread cannot be asked. */
int asks_send(struct asks *a, int tid);
void asks_send_again(struct asks *a, int slot);
void asks_forget(struct asks *a, int slot);

static inline struct ask *asks_slot(const struct asks *a, int slot)
{
    return &a->slots[slot];
}

static inline bool ask_is_done(const struct ask *a)
{
    return atomic_load(&a->state) == ASK_DONE;
}

/* Takes the question back.  False: the thread is answering just now. */
bool ask_cancel(struct ask *a);

/* In a forked child: there are no requests any more; descriptors are closed. */
void asks_after_fork(struct asks *a);

#endif

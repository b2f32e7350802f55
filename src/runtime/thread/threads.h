#ifndef RUNTIME_THREAD_THREADS_H
#define RUNTIME_THREAD_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/pages.h"
#include "runtime/cpu/sigprof.h"
#include "runtime/unwind/stack_table.h"

/*
 * What all threads are doing now.
 *
 * No system call of the program is interrupted: threads that wait are looked
 * at (stack_look.h), those that run answer a signal of their event or timer
 * (ask.h).  A thread that runs and does not answer within the deadline
 * (signals blocked, no CPU) is listed with what /proc knows and without a
 * stack.
 */
#define THREADS_DEADLINE_NS 100000000
#define THREADS_MAX         16384

struct thread_info {
    int tid;
    char name[16];
    char state;       /* as in /proc: R, S, D, T, Z …; '?' unknown */
    char wchan[48];   /* without a stack: where in the kernel it waits */
    bool is_caller;   /* the thread that asks */
    bool was_blocked; /* it waited: of its registers only some are known */
    bool has_stack;
    enum unwind_end end;
    uint32_t labels; /* see thread_labels.h */
    uint32_t n;
    uint64_t first;                    /* its frames start here in frames */
    uint64_t registers[ASK_REGISTERS]; /* sp first; 0: not known */

    /* If it was blocked: the lowest address of its stack, 0 if that is not
     * known, and its CPU clock.  It is still where it was while the clock
     * shows the same time. */
    uint64_t stack_start;
    int64_t cpu_ns;
};

struct threads {
    struct pages_vec v;      /* of struct thread_info */
    struct pages_vec frames; /* of uint64_t */
    uint64_t left_out;       /* threads beyond THREADS_MAX */
};

/* False: out of memory, no /proc. */
bool threads_dump(struct threads *out, struct error *err);
void threads_release(struct threads *t);

/* How many there are now. */
size_t threads_count(void);

/* The dump as counted stacks, for the profile, tagged with the labels of the
 * threads (thread_labels.h) and, if wanted, the threads themselves.  False: out
 * of memory. */
bool threads_aggregate(const struct threads *t, bool tag_threads,
                       struct stack_table *out);

/* debug=2: one paragraph a thread, for people. */
bool threads_write_text(const struct threads *t, struct buf *out,
                        struct error *err);

void threads_after_fork(void);

/* Name and state of a thread, as in /proc; both as they were: it is gone. */
void threads_read_stat(int tid, char name[16], char *state);

/* How long it has run and how long it has waited for a CPU while it could;
 * false: the kernel does not say. */
bool threads_times(int tid, int64_t *ran_ns, int64_t *waited_ns);

/*
 * The stacks that called pthread_create, for the `threadcreate` profile;
 * empty unless the library was preloaded or linked with its hooks.
 */
bool threads_watch_creation(void); /* from now on; false: no memory */
bool threads_watches_creation(void);
void threads_note_creation(void); /* from the hook, in the creator */
uint64_t threads_n_created(void); /* all that were noted */
bool threads_copy_created(struct stack_table *out);

#endif

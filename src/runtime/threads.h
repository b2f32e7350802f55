#ifndef RUNTIME_THREADS_H
#define RUNTIME_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/pages.h"
#include "runtime/sigprof.h"
#include "runtime/stacktable.h"

/*
 * What all threads are doing now.
 *
 * Each thread is sent a SIGURG (ignored by default, so a late one harms
 * nobody) and writes its own stack and name into its slot: reading them from
 * /proc costs more than all the rest.  Who does not answer within the deadline
 * (signals blocked, uninterruptible sleep) is listed with what /proc knows and
 * without a stack.
 */
#define THREADS_DEADLINE_NS 100000000
#define THREADS_MAX         16384

struct thread_info {
    int tid;
    char name[16];
    char state;     /* as in /proc: R, S, D, T, Z …; '?' unknown */
    char wchan[48]; /* without a stack: where in the kernel it waits */
    bool is_caller; /* the thread that asks */
    bool has_stack;
    enum unwind_end end;
    uint32_t labels; /* see labels.h */
    uint32_t n;
    uint64_t first;                    /* its frames start here in frames */
    uint64_t registers[ASK_REGISTERS]; /* sp first; all 0: not known */
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
 * threads (labels.h) and, if wanted, the threads themselves.  False: out of
 * memory. */
bool threads_aggregate(const struct threads *t, bool tag_threads,
                       struct stack_table *out);

/* debug=2: one paragraph a thread, for people. */
bool threads_write_text(const struct threads *t, struct buf *out,
                        struct error *err);

void threads_after_fork(void);

/*
 * The pieces, for who looks at threads again and again (wall.c).  Between
 * listen(true) and listen(false) SIGURG is answered by sigprof_on_ask().
 */
void threads_listen(bool on);
bool threads_ask(int tid, uint64_t value); /* false: it is gone */
bool threads_is_deaf(int tid); /* SIGURG blocked, or gone: it won't answer */
void threads_describe(struct thread_info *t); /* name, state, wchan of tid */

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

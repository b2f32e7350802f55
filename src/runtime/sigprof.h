#ifndef RUNTIME_SIGPROF_H
#define RUNTIME_SIGPROF_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/grace.h"
#include "runtime/stacktable.h"
#include "runtime/unwind.h"

/*
 * The signal handlers, and all that they touch.
 *
 * `sampler` is the one state of the library that handlers see.  Fields are
 * set by src/runtime/cpu.c and threads.c before the signal that makes a
 * handler look at them, and only with nobody inside (grace).
 */

/* What a thread keeps for itself: initial-exec, because a lazily allocated
 * thread-local would call malloc in the handler.  Well below 100 bytes. */
struct thread_state {
    int64_t accounted_ns; /* CPU time that samples stand for already */
    uint32_t profile;     /* the profile that accounted_ns belongs to */
    uint32_t tid;
    uint32_t at_fork;     /* what to undo after fork, see state.c */
    uint64_t stack_limit; /* of a thread whose start we saw, else 0 */
    uint64_t stack_start; /* its lowest address */
    uint32_t labels;      /* the set that is on, see labels.h */
    uint64_t random;      /* of locks.c */
    bool is_own;          /* a thread of ours, not the program's */
};

extern __thread struct thread_state pprof_thread
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* How CPU time turns into signals. */
enum cpu_source {
    CPU_SOURCE_NONE,
    CPU_SOURCE_PERF,      /* task-clock event, kernel time included */
    CPU_SOURCE_PERF_USER, /* task-clock event for user mode, where more is
                             not allowed; timers for time in the kernel */
    CPU_SOURCE_TIMER,     /* a CPU timer a thread */
};

/* A walk needs 2 KiB for its frames, more than a handler's stack may spare.
 */
#define N_SCRATCH 64
struct scratch {
    _Atomic uint32_t busy;
    uint64_t pcs[UNWIND_MAX_FRAMES + 1];
};

/* One sample in time, for the timeline. */
struct tick {
    int64_t time_ns; /* monotonic */
    uint32_t tid;
    uint32_t cpu;
    uint32_t record; /* offset in the stack table */
    uint32_t weight;
};

/* Whether a walk ended in code that nobody knows; the builder waits for it. */
enum { NEW_CODE_NONE, NEW_CODE_SEEN, NEW_CODE_PAUSE };

/* A thread that is asked for its stack. */
enum { ASK_FREE, ASK_SENT, ASK_WRITING, ASK_DONE, ASK_EXPIRED };
#define ASK_REGISTERS 32
struct ask {
    _Atomic uint64_t state;            /* by ask_state() */
    uint64_t registers[ASK_REGISTERS]; /* sp first, 0 where there is none */
    uint32_t n;
    uint32_t labels;
    enum unwind_end end;
    bool was_blocked; /* in a system call that waits */
    char name[16];
    /* When it answered, the thread's CPU time then, and the system call that
     * it was blocked in (-1: not known). */
    bool wants_times; /* by who asks */
    int64_t time_ns, cpu_ns;
    int call;
    uint64_t pcs[UNWIND_MAX_FRAMES];
};

/*
 * The program's own action for a signal that we took over.  Handlers read
 * one word of it: they never see half of an action while the program sets
 * another.
 */
#define ACTION_SIGINFO ((uint64_t)1 << 63) /* no address has this bit */
struct program_action {
    struct sigaction full;
    _Atomic uint64_t handler;
};

static inline void program_action_set(struct program_action *a,
                                      const struct sigaction *to)
{
    uint64_t handler = (uint64_t)(uintptr_t)to->sa_handler;

    a->full = *to;
    atomic_store(&a->handler, to->sa_flags & SA_SIGINFO
                                  ? handler | ACTION_SIGINFO
                                  : handler);
}

struct sampler {
    struct grace *grace; /* of the modules: one for everything */
    _Atomic(struct unwind_map *) *map;

    _Atomic uint32_t new_code; /* a futex */

    /* CPU */
    _Atomic bool running;
    _Atomic(enum cpu_source) source; /* the keeper may change it */
    uint32_t profile;                /* number of the running profile */
    int64_t period_ns;
    bool tag_threads;
    struct stack_table *table;
    struct scratch *scratch; /* N_SCRATCH */
    struct tick *ticks;      /* NULL: no timeline wanted */
    uint64_t n_ticks;
    _Atomic uint64_t next_tick;
    _Atomic uint64_t samples; /* signals that became a sample */
    _Atomic uint64_t no_scratch;
    _Atomic uint64_t ends[UNWIND_ENDS];
    struct program_action old_prof, old_trap;

    /* thread dump */
    _Atomic(struct ask *) asks; /* NULL: nobody is asking */
    uint32_t n_asks;
    _Atomic uint64_t asks_answered;
    _Atomic(struct ask *) wall_asks; /* those of wall.c: slots from ASK_WALL */
    uint32_t n_wall_asks;
    struct program_action old_urg;

    /* libc's own: the preload library wraps the name. */
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);

    uint64_t main_stack_limit; /* end of the first thread's stack */
};

extern struct sampler sampler __attribute__((visibility("hidden")));

/* Distinguishes our signals from the program's own. */
#define SAMPLER_COOKIE 0x7070726f66000001u

#define ASK_WALL 0x8000

/* The value that travels with the signal: cookie, 24 bits of generation, 16
 * bits of slot.  A slot's state repeats the generation, so that a handler
 * that comes late finds that it is not meant. */
static inline uint64_t ask_value(uint32_t generation, uint32_t slot)
{
    return (uint64_t)SAMPLER_COOKIE >> 40 << 40 |
           (uint64_t)(generation & 0xffffff) << 16 | (slot & 0xffff);
}

static inline uint64_t ask_state(uint64_t value, unsigned state)
{
    return (value >> 16 & 0xffffff) << 8 | state;
}

/* Handlers for sigaction with SA_SIGINFO. */
void sigprof_on_sample(int sig, siginfo_t *info, void *context);
void sigprof_on_ask(int sig, siginfo_t *info, void *context);

/*
 * For threads whose start and end we see.  A source samples a thread first
 * when a whole period of its own has passed: without this, threads that live
 * for less would never be seen.  Each starts with a random part of a period
 * on its account, and what is due at its end is charged to `run`, its start
 * routine.  In the mean the sum is exact.
 *
 * _begin says at which CPU time of the thread its first sample is due; 0: no
 * profile runs.
 */
int64_t sigprof_thread_begin(void);
void sigprof_thread_end(void *(*run)(void *));

/*
 * The caller's own stack into pcs (UNWIND_MAX_FRAMES), without the innermost
 * `skip` frames below this call; for hooks.  Async-signal-safe.
 */
size_t sigprof_stack_here(uint64_t *pcs, size_t skip);

/* The same from the frame that `return_address` leads back to, for hooks that
 * are called often: at most max frames are walked, ours among them, and *end
 * says how it ended.  Async-signal-safe. */
size_t sigprof_stack_from(const void *return_address, uint64_t *pcs, size_t max,
                          enum unwind_end *end);

#endif

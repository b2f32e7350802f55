#ifndef RUNTIME_CPU_SIGPROF_H
#define RUNTIME_CPU_SIGPROF_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/cpu/intervals.h"
#include "runtime/unwind/grace.h"
#include "runtime/unwind/stack_table.h"
#include "runtime/unwind/unwind.h"

/*
 * The signal handlers, and all data that they access.
 *
 * `sampler` is the one state of the library that handlers see.  Fields are set
 * by cpu.c and thread/ask.c before the signal that makes a handler look at
 * them, and only while no handler is running (grace).
 */

/* The thread-local state: initial-exec, because a lazily allocated thread-local
 * would call malloc in the handler.  About 100 bytes. */
struct thread_state {
    struct intervals due; /* when its samples are */
    uint32_t profile;     /* the profile that `due` belongs to */
    uint32_t own_event;   /* the profile in which it got an event of its own */
    uint32_t tid;
    uint32_t at_fork;     /* what to undo after fork, see state.c */
    uint64_t stack_limit; /* of a thread whose start we saw, else 0 */
    uint64_t stack_start; /* its lowest address */
    uint32_t labels;      /* the set that is on, see thread_labels.h */
    uint64_t lock_random; /* of locks.c */
    uint64_t own_caller;  /* where it entered the library, see own_thread.h */
    bool is_own;          /* a thread of ours, or inside the library */
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

/*
 * The perf events of threads, so that a handler finds the file descriptor of
 * the event that fired and sets its next period.  The event's number travels
 * with the signal.  A thread that inherited an event gets the signals of that
 * number too, but is not its owner and leaves the period alone.
 */
#define SAMPLER_MAX_EVENTS 256

static inline uint64_t sampler_event(int tid, int fd)
{
    return (uint64_t)(uint32_t)tid << 32 | (uint32_t)fd;
}

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

/* Set if a walk ended in unknown code; the builder waits for it. */
enum { NEW_CODE_NONE, NEW_CODE_SEEN, NEW_CODE_PAUSE };

/*
 * A thread that runs is asked for its stack (thread/ask.h): its event or timer
 * sends it a signal with the number of the slot, and the handler fills that.
 */
enum { ASK_FREE, ASK_SENT, ASK_WRITING, ASK_DONE };
#define ASK_REGISTERS 32
struct ask {
    _Atomic uint32_t state;
    _Atomic uint32_t tid;              /* who is asked: no other may answer */
    uint64_t registers[ASK_REGISTERS]; /* sp first, 0 where there is none */
    uint32_t n;
    uint32_t labels;
    enum unwind_end end;
    char name[16];
    int64_t time_ns, cpu_ns; /* when it answered, and its CPU time then */
    uint64_t pcs[UNWIND_MAX_FRAMES];
};

/* Slots of the thread dump and of the wall profile. */
enum ask_group { ASK_DUMP, ASK_WALL, ASK_GROUPS };
#define ASK_SLOTS 128

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
    _Atomic(enum cpu_source) source; /* the sampling thread may change it */
    uint32_t profile;                /* number of the running profile */
    int64_t period_ns;
    _Atomic bool tag_threads;
    /* Read once for each sample: it is replaced while samples are taken. */
    _Atomic(struct stack_table *) table;
    struct scratch *scratch;      /* N_SCRATCH */
    _Atomic(struct tick *) ticks; /* NULL: no timeline wanted */
    uint64_t n_ticks;
    _Atomic uint64_t next_tick;
    _Atomic uint64_t samples; /* signals that became a sample */
    _Atomic uint64_t no_scratch;
    _Atomic uint64_t ends[UNWIND_ENDS];
    _Atomic uint64_t events[SAMPLER_MAX_EVENTS]; /* sampler_event(), 0: free */
    struct program_action old_prof, old_trap;

    /* ASK_SLOTS each; NULL: not in use */
    _Atomic(struct ask *) asks[ASK_GROUPS];

    /* libc's own: the preload library wraps the name. */
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);

    uint64_t main_stack_limit; /* end of the first thread's stack */
};

extern struct sampler sampler __attribute__((visibility("hidden")));

/*
 * The value that travels with a timer's or an event's signal: a cookie that
 * tells ours from the program's own, what the signal is for, and the number
 * of the event or request.
 */
#define SAMPLER_COOKIE 0x7070726f66000000u

enum signal_kind {
    SIGNAL_SAMPLE = 1,
    SIGNAL_SAMPLE_FROM_BIRTH, /* of a thread that began after the profile: its
                                 whole CPU time counts */
    SIGNAL_ASK,               /* + enum ask_group */
};

static inline uint64_t signal_value(enum signal_kind kind, unsigned number)
{
    return SAMPLER_COOKIE | (uint64_t)kind << 16 | number;
}

static inline enum signal_kind signal_value_kind(uint64_t value)
{
    return (enum signal_kind)(value >> 16 & 0xff);
}

/* The handler, for sigaction with SA_SIGINFO. */
void sigprof_on_signal(int sig, siginfo_t *info, void *context);

/*
 * For threads whose start and end we see.  A source samples a thread first when
 * a whole period of its own has passed: without this, threads that live for
 * less would never be seen.  The first target of each is drawn when it starts,
 * and targets that it has passed at its end without a signal are charged to
 * `run`, its start routine.  On average the sum is exact.
 *
 * _begin says at which CPU time of the thread its first sample is due; 0: no
 * profile runs.  The later ones follow at random intervals.
 */
int64_t sigprof_thread_begin(void);
void sigprof_thread_end(void *(*run)(void *));

/* By the thread that starts a profile: its time counts from now on, also what
 * it uses before the first signal. */
void sigprof_begin_here(void);

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

#ifndef RUNTIME_THREAD_STACK_LOOK_H
#define RUNTIME_THREAD_STACK_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/unwind/prologue.h"
#include "runtime/unwind/unwind.h"

/*
 * Finds where another thread waits, without disturbing it.
 *
 * A signal would interrupt pause(), sleep() and poll(), and a profiler must not
 * change what system calls return.  The kernel shows pc and sp of a thread that
 * is blocked in /proc/self/task/TID/syscall.  With these the stack is copied
 * and walked.  The thread's CPU clock, read before and after, says whether the
 * thread ran meanwhile; then what was seen is thrown away.
 *
 * The copy has no registers.  Where the walk needs the frame pointer, it is
 * found by reading the function's first instructions (prologue.h) and
 * believed only if the walk then reaches the thread's start.  Otherwise the
 * stack ends there, and `end` says so.
 */
struct stack_looker {
    uint8_t *room;    /* for the copy */
    int64_t state_at; /* from a thread's robust list to its pprof_thread */
    bool has_state_at;
    struct prologue_cache prologues;
};

bool stack_looker_init(struct stack_looker *l); /* false: out of memory */
void stack_looker_release(struct stack_looker *l);

enum look {
    LOOK_GONE,    /* there is no such thread any more */
    LOOK_RUNS,    /* it is not blocked, or was not all the time */
    LOOK_BLOCKED, /* what was seen is in *out */
    LOOK_REFUSED, /* the kernel does not show it, as after setuid() */
};

struct stack_seen {
    int64_t cpu_ns; /* its CPU clock: it is there as long as this stays so */
    long call;      /* number of the system call; -1: none, as in a fault */
    uint64_t args[6];
    uint64_t sp, pc;
    uint32_t labels;      /* its labels, see thread_labels.h; 0 also: unknown */
    uint64_t own_caller;  /* where it entered the library; 0: it has not */
    uint64_t stack_start; /* lowest address of its stack; 0: not known */
    enum unwind_end end;
    uint32_t n;
    uint64_t pcs[UNWIND_MAX_FRAMES];
};

/* Drops what a thread of the program does inside the library. */
uint32_t stack_without_own(uint64_t *pcs, uint32_t n, uint64_t own_caller);

enum look stack_look(struct stack_looker *l, int tid, struct stack_seen *out);

/* The CPU clock of a thread; -1: it is gone. */
int64_t thread_cpu_ns(int tid);

#endif

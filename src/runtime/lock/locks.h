#ifndef RUNTIME_LOCK_LOCKS_H
#define RUNTIME_LOCK_LOCKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "runtime/lock/lock_lines.h"
#include "runtime/unwind/stack_table.h"

/*
 * The `block` and `mutex` profiles: what is recorded when a thread waits for
 * another.  The wrappers (lock_hooks.h) call this, and only
 * after they have seen that there is something to wait for.
 *
 *     struct lock_wait w;
 *     bool noted = locks_wait_begin(&w, mutex, LOCK_SITE());
 *     rc = real(mutex);
 *     if (noted)
 *         locks_wait_end(&w, rc == 0);
 *
 * block: the waiter's stack.  With rate r (nanoseconds) a wait of d is kept
 * with probability min(1, d/r) and then counts as max(1, r/d) waits of
 * max(d, r) in all, which is free of bias.  1 keeps everything, 0 is off.
 *
 * mutex: the stack of who releases a lock that others wait for.  With
 * fraction n one release in n is kept and counts n-fold.  0 is off.
 *
 * Counts only grow.  Nothing here takes a lock, allocates or changes errno.
 */

/* Rates of negligible cost, for an endpoint if no others were set. */
#define LOCKS_CHEAP_BLOCK_NS       1000000
#define LOCKS_CHEAP_MUTEX_FRACTION 10

/* Who called a wrapper, and which; both end up in the stack. */
struct lock_site {
    const void *caller; /* return address */
    uint64_t wrapper;   /* the leaf of the stack */
};

/* Where this is said.  Not the wrapper's first address, which may belong to
 * something that is inlined there; and no function, which would be inlined
 * here. */
#if defined(__x86_64__)
#define LOCK_PC_HERE(out) __asm__("lea 0(%%rip), %0" : "=r"(out))
#else
#define LOCK_PC_HERE(out) __asm__("adr %0, ." : "=r"(out))
#endif

#define LOCK_SITE()                                                            \
    __extension__({                                                            \
        struct lock_site site_ = {__builtin_return_address(0), 0};             \
                                                                               \
        LOCK_PC_HERE(site_.wrapper);                                           \
        site_;                                                                 \
    })

struct lock_wait {
    int64_t start_ns;
    int64_t keep_from_ns; /* shorter waits are not kept; -1: none is */
    struct lock_site site;
    struct stack_record *record; /* the stack if it was taken before */
    struct lock_line *line;
};

/* What wrappers check first; written when rates change. */
struct lock_watch {
    _Atomic bool on; /* block or mutex */
    bool has_hooks;  /* wrappers are there to call us */
    struct lock_lines lines;
};

extern struct lock_watch lock_watch __attribute__((visibility("hidden")));

/* `lock`: the lock that another thread holds; NULL if the wait is not for a
 * lock.  False: do not record the wait. */
bool locks_wait_begin(struct lock_wait *w, const void *lock,
                      struct lock_site site);
/* `waited` false: it was refused, not waited for. */
void locks_wait_end(const struct lock_wait *w, bool waited);

/* Before the holder lets go: what it owes to those who wait, 0 for nothing
 * or a release that is not kept.  Then, when it has let go, record it. */
int64_t locks_release_begin(const void *lock);
void locks_release_end(int64_t owed_ns, struct lock_site site);

/* Applies the environment: PPROF_BLOCK_RATE, PPROF_MUTEX_FRACTION. */
void locks_read_environment(void);

/* Enables the cheap rates and returns true, unless a rate was set before.
 * locks_unserve() undoes this. */
bool locks_serve(void);
void locks_unserve(void);

/* The rates; false: out of memory, or no wrapper is in this program. */
bool locks_set_block_rate(int64_t ns, struct error *err);
bool locks_set_mutex_fraction(int64_t n, struct error *err);
int64_t locks_block_rate(void);
int64_t locks_mutex_fraction(void);

/*
 * What was recorded: value 0 is the count, in parts of one (LOCKS_ONE, as Go
 * keeps it in floating point), value 1 the delay in nanoseconds.
 */
#define LOCKS_ONE 65536
const struct stack_table *locks_blocked(void);
const struct stack_table *locks_contended(void);

#define LOCKS_NO_HOOKS                                                         \
    "needs the hooks: preload libpprof-preload.so or link libpprof-hooks"

void locks_after_fork(void);

#endif

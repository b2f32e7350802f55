/*
 * syscall(), wrapped: locks that are made of futexes.
 *
 * Rust's std (Mutex, RwLock, Condvar, Once, thread::park), C++'s
 * std::atomic::wait and std::counting_semaphore, and many programs of their
 * own reach the kernel through libc's syscall().  Every other call goes on as
 * it is.
 *
 * Any futex that a thread waits for is in `block`.  To be in `mutex`, the one
 * who wakes must have held a lock, and not just have news for a thread that
 * was idle.  That is told by the value of the word that is waited for, and by
 * its value after the release: see lock_of() and owed_by().
 */
#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "pprof/pprof.h"
#include "runtime/hook/hook_next.h"
#include "runtime/hook/lock_hooks.h"
#include "runtime/hook/static_next.h"
#include "runtime/lock/locks.h"
#include "runtime/own_code.h"
#include "runtime/rawcall.h"

/* libc's is variadic; on our machines that makes no difference to the callee,
 * which takes all six arguments, meant or not. */
typedef long syscall_fn(long nr, long a, long b, long c, long d, long e,
                        long f);

PPROF_API OWN_WRAPPER syscall_fn futex_hook_syscall __asm__("syscall");

static long plain_syscall(long nr, long a, long b, long c, long d, long e,
                          long f)
{
    long rc = raw_call6(nr, a, b, c, d, e, f);

    if (rc < 0 && rc > -4096) {
        errno = (int)-rc;
        return -1;
    }
    return rc;
}

syscall_fn *futex_next_syscall __attribute__((visibility("hidden"))) =
    plain_syscall;

/* --- what is waited for -------------------------------------------------- */

/*
 * The words of Rust's std.  A mutex is 2 when it is held and somebody waits,
 * by which many others do it, too; a Once is 5.  A RwLock has the number of
 * its readers, or all bits set for a writer, below two bits for who waits.  A
 * condition variable counts up with each notification.  A parked thread's
 * word has all bits set, and is 1 when the thread shall go on.
 */
#define MUTEX_CONTENDED     2
#define ONCE_RUNNING_QUEUED 5
#define ALL_BITS            UINT32_MAX
#define UNPARKED            1
#define READERS_WAITING     ((uint32_t)1 << 30)
#define WRITERS_WAITING     ((uint32_t)1 << 31)
#define WRITE_LOCKED        (READERS_WAITING - 1)
#define MANY_READERS        65535

static bool is_held_rwlock(uint32_t state, uint32_t waiting)
{
    uint32_t holders = state & WRITE_LOCKED;

    return (state & waiting) && holders != 0 &&
           (holders == WRITE_LOCKED || holders <= MANY_READERS);
}

/* Writers of a RwLock do not wait for its state but for the counter that
 * stands behind it. */
static bool is_behind_rwlock(uintptr_t word)
{
    uint32_t before;

    return raw_load_u32(word - sizeof(before), &before) &&
           is_held_rwlock(before, WRITERS_WAITING);
}

/*
 * Under which name a lock is waited for: an address within its word that says
 * how to tell that it was released.  A word that changes in another way was
 * no lock: a counter that was 2 or 5 is more than that when somebody wakes.
 */
static const void *few_states(uintptr_t word)
{
    return (const void *)(word | 1);
}

static const void *rwlock_or_parked(uintptr_t word)
{
    return (const void *)(word | 2);
}

/* The name of the lock that a thread waits for; NULL: it is none. */
static const void *lock_of(uintptr_t word, uint32_t expected)
{
    if (expected == ALL_BITS)
        return rwlock_or_parked(word);
    if (is_held_rwlock(expected, READERS_WAITING) || is_behind_rwlock(word))
        return (const void *)word;
    if (expected == MUTEX_CONTENDED || expected == ONCE_RUNNING_QUEUED)
        return few_states(word);
    return NULL;
}

/* What who wakes owes to those who wait. */
static int64_t owed_by(uintptr_t word)
{
    int64_t owed = locks_release_begin((const void *)word);
    uint32_t now = 0;

    raw_load_u32(word, &now);
    if (!owed && now <= MUTEX_CONTENDED)
        owed = locks_release_begin(few_states(word));
    if (!owed && now != UNPARKED)
        owed = locks_release_begin(rwlock_or_parked(word));
    return owed;
}

/* --- calls --------------------------------------------------------------- */

struct futex_call {
    uintptr_t word;
    long op, value, d, e, f;
};

static long go_on(const struct futex_call *c)
{
    return futex_next_syscall(SYS_futex, (long)c->word, c->op, c->value, c->d,
                              c->e, c->f);
}

static long wait_futex(const struct futex_call *c, const void *lock,
                       struct lock_site site)
{
    struct lock_wait w;
    long rc;

    if (!locks_wait_begin(&w, lock, site))
        return go_on(c);
    rc = go_on(c);
    /* With EAGAIN the word had changed already. */
    locks_wait_end(&w, rc >= 0 || errno == ETIMEDOUT || errno == EINTR);
    return rc;
}

static long wake_futex(const struct futex_call *c, struct lock_site site)
{
    int64_t owed = lock_hooks_has_waiters() ? owed_by(c->word) : 0;
    long rc = go_on(c);

    if (owed)
        locks_release_end(owed, site);
    return rc;
}

static long profiled(const struct futex_call *c, struct lock_site site)
{
    switch (c->op & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
        return wait_futex(c, lock_of(c->word, (uint32_t)c->value), site);
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
        return wait_futex(c, (const void *)c->word, site);
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
    case FUTEX_WAKE_OP:
    case FUTEX_UNLOCK_PI:
        return wake_futex(c, site);
    default:
        return go_on(c);
    }
}

/* A futex while profiles are on; returns to who called syscall(). */
syscall_fn futex_hook_call __attribute__((visibility("hidden"), noinline));

long futex_hook_call(long nr, long a, long b, long c, long d, long e, long f)
{
    struct lock_site site = {__builtin_return_address(0),
                             (uint64_t)(uintptr_t)futex_hook_syscall};

    (void)nr;
    return profiled(&(struct futex_call){(uintptr_t)a, b, c, d, e, f}, site);
}

#if defined(__x86_64__)
/*
 * In assembly, because the last argument is on the stack, if there is one at
 * all: else some variable of the caller is there.  A compiler may read it and
 * write it back, while another thread changes it.
 */
_Static_assert(SYS_futex == 202 && offsetof(struct lock_watch, on) == 0,
               "as below");
__asm__(".section pprof_wrappers, \"ax\", %progbits\n"
        ".p2align 4\n"
        ".globl syscall\n"
        ".type syscall, @function\n"
        "syscall:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    cmp $202, %rdi\n"
        "    je 2f\n"
        "1:  jmp *futex_next_syscall(%rip)\n"
        "2:  cmpb $0, lock_watch(%rip)\n"
        "    je 1b\n"
        "    jmp futex_hook_call\n"
        "    .cfi_endproc\n"
        ".size syscall, .-syscall\n"
        ".text\n");
#else
long futex_hook_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
    if (nr != SYS_futex || !lock_hooks_on())
        return futex_next_syscall(nr, a, b, c, d, e, f);
    return futex_hook_call(nr, a, b, c, d, e, f);
}
#endif

__attribute__((constructor(102))) static void futex_hooks_start(void)
{
    static hook_slot slot;

    if (!static_next_is_needed())
        futex_next_syscall = hook_next(&slot, "syscall");
}

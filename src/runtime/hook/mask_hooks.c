/*
 * pthread_sigmask and sigprocmask, wrapped.  Many programs block all signals
 * in their worker threads, so that one thread gets those that are meant for
 * the process.  A thread that blocks SIGPROF and SIGTRAP as well would have no
 * samples, so from a mask of nearly all signals these two are taken out,
 * unless the program has a handler for them.
 *
 * A mask of a few signals that has one of them is meant so, and stays.
 * Async-signal-safe.
 */
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pprof/pprof.h"
#include "runtime/cpu/sigprof.h"
#include "runtime/hook/hook_next.h"
#include "runtime/hook/own_signals.h"
#include "runtime/own_code.h"

typedef int mask_fn(int, const sigset_t *, sigset_t *);

static hook_slot pthread_slot, process_slot;

/* Now, because a handler or a child after vfork must not call dlsym. */
__attribute__((constructor(101))) static void find_all(void)
{
    hook_find(&pthread_slot, "pthread_sigmask");
    hook_find(&process_slot, "sigprocmask");
}

/* Of the 31 that are not for real time; programs leave those for crashes
 * out. */
#define NEARLY_ALL 20

static bool is_nearly_all(const sigset_t *set)
{
    uint32_t word;

    memcpy(&word, set, sizeof(word));
    return __builtin_popcount(word & 0x7fffffff) >= NEARLY_ALL;
}

static int change(mask_fn *real, int how, const sigset_t *set, sigset_t *old)
{
    sigset_t fewer;

    if (!set || how == SIG_UNBLOCK || pprof_thread.is_own ||
        !is_nearly_all(set))
        return real(how, set, old);
    fewer = *set;
    if (!own_signal_is_programs(SIGPROF))
        sigdelset(&fewer, SIGPROF);
    if (!own_signal_is_programs(SIGTRAP))
        sigdelset(&fewer, SIGTRAP);
    return real(how, &fewer, old);
}

PPROF_API OWN_WRAPPER int pthread_sigmask(int how, const sigset_t *set,
                                          sigset_t *old)
{
    return change(hook_next(&pthread_slot, "pthread_sigmask"), how, set, old);
}

PPROF_API OWN_WRAPPER int sigprocmask(int how, const sigset_t *set,
                                      sigset_t *old)
{
    return change(hook_next(&process_slot, "sigprocmask"), how, set, old);
}

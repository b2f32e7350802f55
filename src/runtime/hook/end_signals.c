/*
 * SIGNAL CONTEXT: on_signal, on_once and end_signals_set; see the contract in
 * unwind.c.  The handler waits for the thread that writes the files, which is
 * bounded, and then lets the default action happen to the interrupted code
 * itself, so that a core file shows it and not this handler.
 *
 * A handler that the kernel resets after one call (SA_RESETHAND) would be
 * followed by the default action and not by us, so that reset is done here.
 */
#include "runtime/hook/end_signals.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/cpu/sigprof.h"
#include "runtime/rawcall.h"

/* What ends a program that does not handle it.  Not SIGPROF and SIGTRAP,
 * which the sampler uses, and not SIGSYS: where a system call is forbidden,
 * ours may be as well. */
static const int endings[] = {SIGHUP,    SIGINT,  SIGQUIT, SIGTERM,  SIGPIPE,
                              SIGALRM,   SIGUSR1, SIGUSR2, SIGXCPU,  SIGXFSZ,
                              SIGVTALRM, SIGIO,   SIGPWR,  SIGABRT,  SIGSEGV,
                              SIGBUS,    SIGILL,  SIGFPE,  SIGSTKFLT};

#define MAX_SIGNAL 64

static struct {
    void (*finish)(int sig);
    int except;
    uint64_t mask; /* of the signals that are ours if the program has none */
    /* The program's handlers that are reset after one call, with
     * ACTION_SIGINFO; 0: none, or it was called. */
    _Atomic uint64_t once[MAX_SIGNAL + 1];
} watch;

static bool is_watched(int sig)
{
    return sig > 0 && sig <= MAX_SIGNAL && (watch.mask >> (sig - 1) & 1);
}

static bool may_be_fault(int sig)
{
    return sig == SIGSEGV || sig == SIGBUS || sig == SIGILL || sig == SIGFPE;
}

/* A fault happens again when its instruction is executed again. */
static bool is_fault(int sig, const siginfo_t *info)
{
    return info->si_code > 0 && may_be_fault(sig);
}

/* The first process of a container: the default action of a signal that
 * somebody sends to it is to do nothing. */
static bool is_init(void)
{
    return raw_call4(SYS_getpid, 0, 0, 0, 0) == 1;
}

/* What is no fault is sent once more, and arrives when this returns. */
static void on_signal(int sig, siginfo_t *info, void *context)
{
    const struct sigaction fallback = {.sa_handler = SIG_DFL};
    int saved = errno;

    (void)context;
    if (!is_fault(sig, info) && is_init())
        return;
    watch.finish(sig);
    sampler.sigaction(sig, &fallback, NULL);
    if (!is_fault(sig, info))
        raw_call4(SYS_tgkill, raw_call4(SYS_getpid, 0, 0, 0, 0), raw_gettid(),
                  sig, 0);
    errno = saved;
}

static const struct sigaction ours = {.sa_sigaction = on_signal,
                                      .sa_flags =
                                          SA_SIGINFO | SA_ONSTACK | SA_RESTART};

/* Stands for a handler of the program's, for one call. */
static void on_once(int sig, siginfo_t *info, void *context)
{
    uint64_t word = atomic_exchange(&watch.once[sig], 0);
    uintptr_t handler = (uintptr_t)(word & ~ACTION_SIGINFO);
    int saved = errno;

    if (word == 0) { /* the same signal in another thread was the one */
        on_signal(sig, info, context);
        return;
    }
    sampler.sigaction(sig, &ours, NULL);
    errno = saved;
    if (word & ACTION_SIGINFO)
        ((void (*)(int, siginfo_t *, void *))handler)(sig, info, context);
    else
        ((void (*)(int))handler)(sig);
}

static bool is_default(const struct sigaction *a)
{
    return a->sa_handler == SIG_DFL;
}

static bool is_once(const struct sigaction *a)
{
    return (a->sa_flags & SA_RESETHAND) && a->sa_handler != SIG_IGN;
}

static bool calls(const struct sigaction *a,
                  void (*handler)(int, siginfo_t *, void *))
{
    return (a->sa_flags & SA_SIGINFO) && a->sa_sigaction == handler;
}

static void watch_signal(int sig)
{
    struct sigaction now;

    if (sig == watch.except)
        return;
    watch.mask |= (uint64_t)1 << (sig - 1);
    if (sampler.sigaction(sig, NULL, &now) == 0 && is_default(&now))
        sampler.sigaction(sig, &ours, NULL);
}

static void watch_all(void)
{
    bool only_faults = is_init();

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (!only_faults || may_be_fault(endings[i]))
            watch_signal(endings[i]);
    for (int sig = SIGRTMIN; sig <= SIGRTMAX && !only_faults; sig++)
        watch_signal(sig);
}

void end_signals_watch(void (*finish)(int sig), int except)
{
    watch.finish = finish;
    watch.except = except;
    watch_all();
}

void end_signals_after_fork(void)
{
    if (watch.finish)
        watch_all();
}

/* What goes to the kernel for what the program sets. */
static struct sigaction stand_in(int sig, const struct sigaction *act)
{
    struct sigaction a = *act;
    uint64_t word = (uint64_t)(uintptr_t)act->sa_handler;

    if (is_default(act))
        return ours;
    if (!is_once(act))
        return a;
    atomic_store(&watch.once[sig],
                 act->sa_flags & SA_SIGINFO ? word | ACTION_SIGINFO : word);
    a.sa_sigaction = on_once;
    a.sa_flags = (a.sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO;
    return a;
}

/* What the program sees of what the kernel had; `once` is what it was then. */
static struct sigaction as_set(const struct sigaction *was, uint64_t once)
{
    struct sigaction a = *was;

    if (calls(was, on_signal) || (calls(was, on_once) && once == 0))
        return (struct sigaction){.sa_handler = SIG_DFL};
    if (!calls(was, on_once))
        return a;
    a.sa_handler = (void (*)(int))(uintptr_t)(once & ~ACTION_SIGINFO);
    a.sa_flags |= (int)SA_RESETHAND;
    if (!(once & ACTION_SIGINFO))
        a.sa_flags &= ~SA_SIGINFO;
    return a;
}

bool end_signals_set(end_sigaction_fn *real, int sig,
                     const struct sigaction *act, struct sigaction *old,
                     int *result)
{
    struct sigaction was = {0}, now;
    uint64_t once;

    if (!is_watched(sig))
        return false;
    once = atomic_load(&watch.once[sig]);
    if (act)
        now = stand_in(sig, act);
    *result = real(sig, act ? &now : NULL, &was);
    if (*result == 0 && old)
        *old = as_set(&was, once);
    return true;
}

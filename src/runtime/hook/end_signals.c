/*
 * SIGNAL CONTEXT: on_signal and end_signals_set; see the contract in
 * unwind.c.  The handler waits for the thread that writes the files, which is
 * bounded, and then lets the default action happen to the interrupted code
 * itself, so that a core file shows it and not this handler.
 */
#include "runtime/hook/end_signals.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "runtime/cpu/sigprof.h"
#include "runtime/rawcall.h"

/* What ends a program that does not handle it.  Not SIGPROF and SIGTRAP,
 * which the sampler uses, and not SIGSYS: where a system call is forbidden,
 * ours may be as well. */
static const int endings[] = {SIGHUP,    SIGINT,  SIGQUIT, SIGTERM, SIGPIPE,
                              SIGALRM,   SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ,
                              SIGVTALRM, SIGIO,   SIGPWR,  SIGABRT, SIGSEGV,
                              SIGBUS,    SIGILL,  SIGFPE};

static struct {
    void (*finish)(int sig);
    uint64_t mask; /* of the signals that are ours if the program has none */
} watch;

static bool is_watched(int sig)
{
    return sig > 0 && sig <= 64 && (watch.mask >> (sig - 1) & 1);
}

/* A fault happens again when its instruction is executed again. */
static bool is_fault(int sig, const siginfo_t *info)
{
    return info->si_code > 0 &&
           (sig == SIGSEGV || sig == SIGBUS || sig == SIGILL || sig == SIGFPE);
}

/* What is no fault is sent once more, and arrives when this returns. */
static void on_signal(int sig, siginfo_t *info, void *context)
{
    const struct sigaction fallback = {.sa_handler = SIG_DFL};
    int saved = errno;

    (void)context;
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

static bool is_default(const struct sigaction *a)
{
    return a->sa_handler == SIG_DFL;
}

static bool is_ours(const struct sigaction *a)
{
    return (a->sa_flags & SA_SIGINFO) && a->sa_sigaction == on_signal;
}

void end_signals_watch(void (*finish)(int sig), int except)
{
    struct sigaction now;

    if (getpid() == 1)
        return;
    watch.finish = finish;
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        int sig = endings[i];

        if (sig == except)
            continue;
        watch.mask |= (uint64_t)1 << (sig - 1);
        if (sampler.sigaction(sig, NULL, &now) == 0 && is_default(&now))
            sampler.sigaction(sig, &ours, NULL);
    }
}

bool end_signals_set(end_sigaction_fn *real, int sig,
                     const struct sigaction *act, struct sigaction *old,
                     int *result)
{
    struct sigaction was = {0};

    if (!is_watched(sig))
        return false;
    *result = real(sig, act && is_default(act) ? &ours : act, &was);
    if (*result == 0 && is_ours(&was))
        was = (struct sigaction){.sa_handler = SIG_DFL};
    if (*result == 0 && old)
        *old = was;
    return true;
}

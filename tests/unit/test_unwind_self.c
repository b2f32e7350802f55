/*
 * The walker without a second library to compare with, for machines that are
 * only emulated here: libgcc's unwinder, which walks from the handler through
 * the signal frame, is the measure.
 */
#ifndef __clang__
#pragma GCC optimize("omit-frame-pointer")
#endif
#include "busy.h"
#include "test.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unwind.h>

#include "runtime/unwind/modules.h"
#include "runtime/unwind/unwind.h"

static struct modules modules;
static volatile sig_atomic_t n_walks, n_exact, n_complete;

struct theirs {
    uint64_t pcs[UNWIND_MAX_FRAMES];
    size_t n;
};

static _Unwind_Reason_Code take(struct _Unwind_Context *c, void *arg)
{
    struct theirs *t = arg;
    int exact = 0;
    uint64_t ip = _Unwind_GetIPInfo(c, &exact);

    if (t->n < UNWIND_MAX_FRAMES && ip)
        t->pcs[t->n++] = exact ? ip : ip - 1;
    return _URC_NO_REASON;
}

/* libgcc ends where code has no records (on aarch64 a call's way through the
 * PLT); the walker goes on there, so what libgcc has must be how it begins. */
const void *_Unwind_Find_FDE(void *pc, void *bases[3]);

static bool gave_up(uint64_t pc)
{
    void *bases[3];

    return !_Unwind_Find_FDE((void *)(uintptr_t)pc, bases);
}

static bool is_same(const uint64_t *ours, size_t n, const uint64_t *theirs,
                    size_t n_theirs)
{
    if (n_theirs == 0 || n_theirs > n ||
        (n_theirs < n && !gave_up(theirs[n_theirs - 1])))
        return false;
    return memcmp(ours, theirs, n_theirs * sizeof(*ours)) == 0;
}

static void compare(int sig, siginfo_t *info, void *context)
{
    static uint64_t ours[UNWIND_MAX_FRAMES];
    static struct theirs theirs;
    struct unwind_regs regs = unwind_regs_from(context);
    enum unwind_end end;
    size_t n, skip = 0;

    (void)sig;
    (void)info;
    n = unwind_walk(modules.map, &regs, (struct unwind_stack){0}, ours,
                    UNWIND_MAX_FRAMES, &end);
    theirs.n = 0;
    _Unwind_Backtrace(take, &theirs);
    while (skip < theirs.n && theirs.pcs[skip] != regs.pc)
        skip++;
    n_walks++;
    n_complete += end == UNWIND_COMPLETE;
    n_exact += is_same(ours, n, theirs.pcs + skip, theirs.n - skip);
}

static void busy_handler(int sig)
{
    static double v[64];

    (void)sig;
    for (int i = 0; i < 50; i++)
        work(2, v, 64);
}

static void tick(int on)
{
    struct itimerval t = {{0, on ? 2000 : 0}, {0, on ? 2000 : 0}};
    struct sigaction sa = {.sa_flags = SA_SIGINFO | SA_RESTART};

    n_walks = on ? 0 : n_walks;
    if (on)
        n_exact = n_complete = 0;
    sa.sa_sigaction = compare;
    sigaction(SIGALRM, &sa, NULL);
    setitimer(ITIMER_REAL, &t, NULL);
}

static bool exact_enough(void)
{
    printf("# %d walks, %d exact, %d complete\n", n_walks, n_exact, n_complete);
    return n_walks >= 50 && n_exact >= n_walks * 0.99 &&
           n_complete >= n_walks * 0.99;
}

TEST(stacks_in_handlers_equal_libgccs)
{
    static double v[256];
    double sum = 0;

    EXPECT(modules_init(&modules));
    tick(1);
    for (int i = 0; i < 20000 && n_walks < 300; i++)
        sum += work(i % 20, v, 256);
    tick(0);
    EXPECT(sum > 0);
    EXPECT(exact_enough());
}

TEST(the_walk_goes_through_signal_frames)
{
    signal(SIGUSR1, busy_handler);
    tick(1);
    for (int i = 0; i < 5000 && n_walks < 60; i++)
        raise(SIGUSR1);
    tick(0);
    EXPECT(exact_enough());
}

__attribute__((noinline)) static size_t here_and_up(uint64_t *pcs,
                                                    enum unwind_end *end)
{
    struct unwind_regs r;

    unwind_regs_here(&r);
    return unwind_walk(modules.map, &r, (struct unwind_stack){0}, pcs,
                       UNWIND_MAX_FRAMES, end);
}

__attribute__((noinline)) static size_t deep(int n, uint64_t *pcs,
                                             enum unwind_end *end)
{
    size_t r = n ? deep(n - 1, pcs, end) : here_and_up(pcs, end);

    __asm__ volatile("" ::: "memory");
    return r;
}

TEST(a_walk_can_start_anywhere_and_is_cut_when_deep)
{
    uint64_t pcs[UNWIND_MAX_FRAMES];
    enum unwind_end end;
    size_t n = deep(20, pcs, &end);

    EXPECT(end == UNWIND_COMPLETE && n > 22 && n < 40);
    EXPECT(deep(1000, pcs, &end) == UNWIND_MAX_FRAMES);
    EXPECT(end == UNWIND_TRUNCATED);
}

TEST_MAIN

/*
 * Stacks of threads that wait, taken without touching them: each must be what
 * the thread itself says, or end early and say so, but never be wrong.
 */
#include "test.h"

#include <execinfo.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "runtime/rawcall.h"
#include "runtime/state.h"
#include "runtime/thread/stack_look.h"

#define NOINLINE __attribute__((noinline))

/* clang has no such attribute; its build then tests the plain case twice. */
#if defined(__clang__)
#define WITH_FP
#else
#define WITH_FP __attribute__((optimize("no-omit-frame-pointer")))
#endif

static int never[2]; /* a pipe nobody writes to */
static _Atomic int tid;

/* What the waiting thread says of itself: its frames from the one that waits
 * on, as return addresses. */
static void *truth[64];
static int n_truth;

static NOINLINE void say_where(void)
{
    n_truth = backtrace(truth, 64);
    atomic_store(&tid, gettid());
}

/* --- ways to wait ----------------------------------------------------------
 */

static NOINLINE void wait_plain(void)
{
    char c;

    say_where();
    (void)!read(never[0], &c, 1);
    __asm__ volatile("");
}

static NOINLINE WITH_FP void wait_with_fp(void)
{
    volatile char room[200];
    char c;

    room[0] = 0;
    say_where();
    (void)!read(never[0], &c, 1);
    __asm__ volatile("" ::"r"(&room));
}

/* The call itself is in the function with the frame pointer. */
static NOINLINE WITH_FP void wait_inline_with_fp(void)
{
    volatile char room[72];
    char c;

    room[0] = 0;
    say_where();
    raw_call4(SYS_read, never[0], (long)&c, 1, 0);
    __asm__ volatile("" ::"r"(&room));
}

static NOINLINE WITH_FP void wait_with_big_frame(void)
{
    volatile char room[40000];
    char c;

    room[0] = room[39999] = 0;
    say_where();
    (void)!read(never[0], &c, 1);
    __asm__ volatile("" ::"r"(&room));
}

static NOINLINE WITH_FP void wait_with_alloca(void)
{
    volatile char *room =
        __builtin_alloca_with_align((size_t)(200 + getpid() % 2), 64);
    char c;

    room[0] = 0;
    say_where();
    (void)!read(never[0], &c, 1);
    __asm__ volatile("" ::"r"(room));
}

/* Leaves frames behind on the stack that look like real ones. */
static NOINLINE WITH_FP int stale(int depth)
{
    volatile int room[16];

    room[0] = depth;
    return depth == 0 ? 0 : stale(depth - 1) + room[0];
}

static NOINLINE WITH_FP void wait_above_stale_frames(void)
{
    volatile char room[3000]; /* never written: it holds what stale() left */
    char c;

    say_where();
    raw_call4(SYS_read, never[0], (long)&c, 1, 0);
    __asm__ volatile("" ::"r"(&room));
}

struct way {
    const char *name;
    void (*wait)(void);
    bool may_be_cut; /* nobody can know the frame pointer */
};

static const struct way ways[] = {
    {"plain", wait_plain, false},
    {"with frame pointer", wait_with_fp, false},
    {"inline, with frame pointer", wait_inline_with_fp, false},
    {"with a big frame", wait_with_big_frame, true},
    {"with alloca", wait_with_alloca, true},
    {"above stale frames", wait_above_stale_frames, false},
};

static NOINLINE void level_2(void (*wait)(void))
{
    stale(30);
    wait();
    __asm__ volatile("");
}

static NOINLINE WITH_FP void level_1(void (*wait)(void))
{
    level_2(wait);
    __asm__ volatile("");
}

static void *run(void *arg)
{
    level_1(((const struct way *)arg)->wait);
    return NULL;
}

/* --- comparison ------------------------------------------------------------
 */

/* The frames above the one that waits; in a sanitizer's build one more frame
 * is between that and backtrace(). */
static size_t n_common(const struct stack_seen *s, size_t skip, size_t from)
{
    size_t n = 0;

    while (skip + n < s->n && from + n < (size_t)n_truth &&
           s->pcs[skip + n] == (uint64_t)(uintptr_t)truth[from + n] - 1)
        n++;
    return n;
}

/* Frames before those: the call's own, in libc or not, and the one that
 * waits. */
static bool is_right(const struct stack_seen *s, bool *is_whole)
{
    *is_whole = false;
    for (size_t from = 2; from <= 3; from++) {
        for (size_t skip = 1; skip <= 5 && skip < s->n; skip++) {
            size_t n = n_common(s, skip, from);

            if (n == 0)
                continue;
            *is_whole = skip + n == s->n && from + n == (size_t)n_truth;
            return skip + n == s->n; /* nothing else behind them */
        }
    }
    return s->end != UNWIND_COMPLETE && s->n <= 3;
}

TEST(a_stack_is_right_or_it_is_cut)
{
    struct stack_looker l;
    struct stack_seen seen;
    struct error err;

    EXPECT(pipe(never) == 0 && runtime_ready(&err));
    EXPECT(stack_looker_init(&l));
    modules_build_all(&runtime.modules);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        bool is_whole = false, ok;
        pthread_t thread;

        atomic_store(&tid, 0);
        EXPECT(pthread_create(&thread, NULL, run, (void *)&ways[i]) == 0);
        while (atomic_load(&tid) == 0)
            usleep(1000);
        while (stack_look(&l, tid, &seen) != LOOK_BLOCKED)
            usleep(1000);
        EXPECT(seen.call == SYS_read && seen.args[0] == (uint64_t)never[0]);
        ok = is_right(&seen, &is_whole);
        printf("# %s: %u frames, end %d\n", ways[i].name, seen.n, seen.end);
        EXPECT(ok);
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) &&                   \
    !defined(__SANITIZE_THREAD__)
        EXPECT(is_whole || ways[i].may_be_cut);
#endif
    }
    stack_looker_release(&l);
}

/* --- races -----------------------------------------------------------------
 */

static _Atomic bool over;
static _Atomic uint64_t wrong_state;

static NOINLINE void nap(int64_t ns)
{
    struct timespec t = clock_timespec(ns);

    if (nanosleep(&t, NULL) != 0)
        atomic_fetch_add(&wrong_state, 1);
}

static NOINLINE void path_a(void)
{
    nap(200000);
    __asm__ volatile("");
}

static NOINLINE WITH_FP void path_b(void)
{
    nap(100000);
    __asm__ volatile("");
}

static void *restless(void *arg)
{
    unsigned n = (unsigned)(uintptr_t)arg;

    atomic_fetch_add(&tid, 1);
    ((_Atomic int *)truth)[n] = gettid();
    while (!atomic_load(&over)) {
        path_a();
        for (volatile int i = 0; i < 20000; i++)
            ;
        path_b();
    }
    return NULL;
}

/* Is it one of the two ways into nap(), and nothing between them? */
static bool is_possible(const struct stack_seen *s)
{
    static const void *const callers[] = {(void *)path_a, (void *)path_b};
    size_t at = 0;

    while (at < s->n && (s->pcs[at] < (uint64_t)(uintptr_t)nap ||
                         s->pcs[at] >= (uint64_t)(uintptr_t)nap + 256))
        at++;
    if (at + 2 >= s->n)
        return s->end != UNWIND_COMPLETE || s->call != SYS_clock_nanosleep;
    for (int i = 0; i < 2; i++) {
        uint64_t start = (uint64_t)(uintptr_t)callers[i];

        if (s->pcs[at + 1] >= start && s->pcs[at + 1] < start + 128)
            return s->pcs[at + 2] - (uint64_t)(uintptr_t)restless < 512;
    }
    return false;
}

TEST(threads_that_never_rest_are_never_seen_wrong)
{
    enum { N = 8, LOOKS = 2000 };
    static struct stack_seen seen;
    size_t blocked = 0, wrong = 0;
    struct stack_looker l;
    pthread_t threads[N];

    EXPECT(stack_looker_init(&l));
    atomic_store(&tid, 0);
    for (uintptr_t i = 0; i < N; i++)
        EXPECT(pthread_create(&threads[i], NULL, restless, (void *)i) == 0);
    while (atomic_load(&tid) < N)
        usleep(1000);
    for (int i = 0; i < LOOKS; i++) {
        int who = ((_Atomic int *)truth)[i % N];

        if (stack_look(&l, who, &seen) != LOOK_BLOCKED)
            continue;
        blocked++;
        wrong += !is_possible(&seen);
    }
    atomic_store(&over, true);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    stack_looker_release(&l);
    printf("# %zu looks, %zu wrong\n", blocked, wrong);
    EXPECT(blocked > LOOKS / 4 && wrong == 0);
    EXPECT(atomic_load(&wrong_state) == 0); /* nobody was interrupted */
}

TEST(a_thread_that_has_ended_is_gone)
{
    static struct stack_seen seen;
    struct stack_looker l;

    EXPECT(stack_looker_init(&l));
    EXPECT(stack_look(&l, 0x3ffffe, &seen) == LOOK_GONE);
    stack_looker_release(&l);
}

TEST_MAIN

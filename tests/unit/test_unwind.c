/*
 * Our walker against libunwind, in signal handlers that interrupt a program
 * without frame pointers wherever it happens to be.
 */
#ifndef __clang__
#pragma GCC optimize("omit-frame-pointer")
#endif
#include "busy.h"
#include "test.h"

#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/unwind/modules.h"
#include "runtime/unwind/unwind.h"

static struct modules modules;
static volatile sig_atomic_t n_walks, n_exact, n_complete;
static char report[512];

static struct unwind_stack stack_unknown;

/* libunwind's frames, as addresses to look up. */
static size_t oracle(ucontext_t *uc, uint64_t *pcs, size_t max)
{
    /* mov $15, %rax; syscall: what a handler returns to. */
    static const unsigned char sigreturn[] = {0x48, 0xc7, 0xc0, 0x0f, 0,
                                              0,    0,    0x0f, 0x05};
    unw_cursor_t c;
    unw_word_t ip;
    size_t n = 0;
    bool exact = true;

    if (unw_init_local2(&c, uc, UNW_INIT_SIGNAL_FRAME) < 0)
        return 0;
    do {
        if (unw_get_reg(&c, UNW_REG_IP, &ip) < 0 || ip == 0)
            break;
        pcs[n++] = exact ? ip : ip - 1;
        exact = memcmp((const void *)ip, sigreturn, sizeof(sigreturn)) == 0;
    } while (n < max && unw_step(&c) > 0);
    return n;
}

static void compare(int sig, siginfo_t *info, void *context)
{
    static uint64_t ours[UNWIND_MAX_FRAMES], theirs[UNWIND_MAX_FRAMES];
    struct unwind_regs regs = unwind_regs_from(context);
    enum unwind_end end;
    size_t n, m;

    (void)sig;
    (void)info;
    n = unwind_walk(modules.map, &regs, stack_unknown, ours, UNWIND_MAX_FRAMES,
                    &end);
    m = oracle(context, theirs, UNWIND_MAX_FRAMES);
    n_walks++;
    n_complete += end == UNWIND_COMPLETE;
    if (n == m && memcmp(ours, theirs, n * sizeof(*ours)) == 0) {
        n_exact++;
    } else if (!report[0]) {
        size_t i = 0;

        while (i < n && i < m && ours[i] == theirs[i])
            i++;
        snprintf(report, sizeof(report),
                 "%zu/%zu frames, end %d, differ at %zu: %llx/%llx after %llx",
                 n, m, end, i, i < n ? (unsigned long long)ours[i] : 0,
                 i < m ? (unsigned long long)theirs[i] : 0,
                 i ? (unsigned long long)ours[i - 1] : 0);
    }
}

static void reset(void)
{
    n_walks = n_exact = n_complete = 0;
    report[0] = '\0';
}

static void tick(int on)
{
    struct itimerval t = {{0, on ? 500 : 0}, {0, on ? 500 : 0}};
    struct sigaction sa = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};

    sa.sa_sigaction = compare;
    sigemptyset(&sa.sa_mask);
    sigaction(SIGALRM, &sa, NULL);
    setitimer(ITIMER_REAL, &t, NULL);
}

static bool exact_enough(void)
{
    printf("# %d walks, %d exact, %d complete %s\n", n_walks, n_exact,
           n_complete, report);
    return n_walks > 100 && n_exact >= n_walks * 0.999 &&
           n_complete >= n_walks * 0.999;
}

TEST(modules_have_a_map)
{
    EXPECT(modules_init(&modules));
    EXPECT(modules.n >= 2 && modules.v[0].is_main);
    EXPECT(modules_find(&modules, (uintptr_t)work) == &modules.v[0]);
    EXPECT(modules_find(&modules, (uintptr_t)qsort) != NULL);
    EXPECT(modules_find(&modules, 1) == NULL);
    printf("# %zu modules, %zu bytes\n", modules.n, modules_bytes(&modules));
}

static void compare_at_work(int walks)
{
    static double v[512];
    double sum = 0;

    reset();
    tick(1);
    for (int i = 0; i < 20000 && n_walks < walks; i++)
        sum += work(i % 40, v, 512);
    tick(0);
    EXPECT(sum > 0);
    EXPECT(exact_enough());
}

TEST(stacks_equal_libunwinds_before_there_are_tables)
{
    EXPECT(modules_has_unbuilt(&modules));
    compare_at_work(500);
}

TEST(every_module_gets_a_table)
{
    modules_build_all(&modules);
    EXPECT(!modules_has_unbuilt(&modules));
    for (size_t i = 0; i < modules.n; i++) {
        EXPECT(modules.v[i].table.n_rows > 0);
        EXPECT(modules.v[i].frames.p == NULL);
    }
    for (size_t i = 0; i < modules.map->n; i++)
        EXPECT(modules.map->ranges[i].table.n_rows > 0);
    EXPECT(modules.retired.n == 0);
}

TEST(stacks_in_handlers_equal_libunwinds)
{
    compare_at_work(1500);
}

static volatile sig_atomic_t in_handler;

static void busy_handler(int sig)
{
    static double v[128];

    (void)sig;
    in_handler = 1;
    for (int i = 0; i < 100; i++)
        work(2, v, 128);
    in_handler = 0;
}

TEST(the_walk_goes_through_signal_frames)
{
    reset();
    signal(SIGUSR1, busy_handler);
    tick(1);
    for (int i = 0; i < 2000 && n_walks < 200; i++)
        raise(SIGUSR1);
    tick(0);
    EXPECT(exact_enough());
}

TEST(the_walk_goes_from_an_alternate_stack_to_the_normal_one)
{
    stack_t alt = {.ss_size = 65536 * 4}, off = {.ss_flags = SS_DISABLE};
    struct sigaction sa = {.sa_handler = busy_handler, .sa_flags = SA_ONSTACK};

    alt.ss_sp = malloc(alt.ss_size);
    sigaltstack(&alt, NULL);
    sigaction(SIGUSR1, &sa, NULL);
    reset();
    tick(1);
    for (int i = 0; i < 2000 && n_walks < 200; i++)
        raise(SIGUSR1);
    tick(0);
    sigaltstack(&off, NULL);
    free(alt.ss_sp);
    EXPECT(exact_enough());
}

static ucontext_t main_context, fibre_context;

static void fibre(void)
{
    static double v[256];

    for (int i = 0; i < 4000 && n_walks < 200; i++)
        work(5, v, 256);
    swapcontext(&fibre_context, &main_context);
}

TEST(a_fibre_is_walked_to_its_start)
{
    char *stack = malloc(262144);

    getcontext(&fibre_context);
    fibre_context.uc_stack.ss_sp = stack;
    fibre_context.uc_stack.ss_size = 262144;
    fibre_context.uc_link = NULL;
    makecontext(&fibre_context, fibre, 0);
    reset();
    tick(1);
    swapcontext(&main_context, &fibre_context);
    tick(0);
    free(stack);
    printf("# %d walks, %d complete %s\n", n_walks, n_complete, report);
    EXPECT(n_walks > 50 && n_complete >= n_walks * 0.99);
}

#if defined(__x86_64__)
/* Saves nothing, describes nothing, keeps no frame pointer. */
__asm__(".globl undescribed_leaf\n"
        ".type undescribed_leaf, @function\n"
        "undescribed_leaf:\n"
        "    xor %eax, %eax\n"
        "1:  add $1, %rax\n"
        "    cmp %rdi, %rax\n"
        "    jne 1b\n"
        "    ret\n"
        ".size undescribed_leaf, . - undescribed_leaf\n");
uint64_t undescribed_leaf(uint64_t n);

static volatile sig_atomic_t n_leaf, n_leaf_complete;

static void see_leaf(int sig, siginfo_t *info, void *context)
{
    static uint64_t pcs[UNWIND_MAX_FRAMES];
    struct unwind_regs regs = unwind_regs_from(context);
    enum unwind_end end;

    (void)sig;
    (void)info;
    unwind_walk(modules.map, &regs, stack_unknown, pcs, UNWIND_MAX_FRAMES,
                &end);
    if (pcs[0] - (uintptr_t)undescribed_leaf < 16) {
        n_leaf++;
        n_leaf_complete += end == UNWIND_COMPLETE;
    }
}

TEST(a_leaf_without_unwind_data_does_not_end_the_stack)
{
    struct itimerval t = {{0, 500}, {0, 500}}, none = {{0, 0}, {0, 0}};
    struct sigaction sa = {.sa_flags = SA_SIGINFO | SA_RESTART};

    sa.sa_sigaction = see_leaf;
    sigaction(SIGALRM, &sa, NULL);
    setitimer(ITIMER_REAL, &t, NULL);
    for (int i = 0; i < 2000 && n_leaf < 50; i++)
        undescribed_leaf(3000000);
    setitimer(ITIMER_REAL, &none, NULL);
    printf("# %d in the leaf, %d complete\n", n_leaf, n_leaf_complete);
    EXPECT(n_leaf >= 50 && n_leaf_complete == n_leaf);
}
#endif

TEST(garbage_registers_end_the_walk_and_nothing_else)
{
    uint64_t pcs[UNWIND_MAX_FRAMES];
    uint64_t seed = (uint64_t)time(NULL), here;
    enum unwind_end end;

    for (int i = 0; i < 20000; i++) {
        struct unwind_regs r;
        uint64_t *word = &r.pc;

        unwind_regs_here(&r);
        for (int k = 0; k < 4; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            switch ((seed >> 60) & 3) {
            case 0:
                word[k] = seed;
                break;
            case 1:
                word[k] = seed >> 17;
                break;
            case 2:
                word[k] += (seed >> 40) & 0xfff8;
                break;
            default:
                break;
            }
        }
        /* sp itself is the thread's: the kernel says so. */
        r.sp = ((uintptr_t)&here & ~(uint64_t)15) - 64;
        EXPECT(unwind_walk(modules.map, &r, stack_unknown, pcs,
                           UNWIND_MAX_FRAMES, &end) <= UNWIND_MAX_FRAMES);
    }
}

__attribute__((noinline)) static size_t here_and_up(uint64_t *pcs,
                                                    enum unwind_end *end)
{
    struct unwind_regs r;

    unwind_regs_here(&r);
    return unwind_walk(modules.map, &r, stack_unknown, pcs, UNWIND_MAX_FRAMES,
                       end);
}

__attribute__((noinline)) static size_t deep(int n, uint64_t *pcs,
                                             enum unwind_end *end)
{
    size_t r = n ? deep(n - 1, pcs, end) : here_and_up(pcs, end);

    __asm__ volatile("" ::: "memory");
    return r;
}

TEST(a_walk_can_start_anywhere)
{
    uint64_t pcs[UNWIND_MAX_FRAMES];
    enum unwind_end end;
    size_t n = deep(20, pcs, &end);

    EXPECT(end == UNWIND_COMPLETE);
    EXPECT(n > 22 && n < 40);
}

TEST(a_deep_stack_is_cut_and_says_so)
{
    uint64_t pcs[UNWIND_MAX_FRAMES];
    enum unwind_end end;

    EXPECT(deep(1000, pcs, &end) == UNWIND_MAX_FRAMES);
    EXPECT(end == UNWIND_TRUNCATED);
}

TEST_MAIN

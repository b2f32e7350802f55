/*
 * What the parts of libpprof cost: a sample beyond the kernel's share of a
 * signal, a dump of many threads, the start.  One JSON line each.
 *
 * `bench_sampler [DEPTH [THREADS]]`
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/pages.h"
#include "runtime/cpu/cpu_timer.h"
#include "runtime/cpu/sigprof.h"
#include "runtime/state.h"
#include "runtime/thread/threads.h"

#define SLICES 100
#define CALLS  200

static double ns_of(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void empty(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)info;
    (void)context;
}

/* A signal to ourselves that looks like a timer's. */
/* One that the handler sets for the next sample, far from now. */
static int timer;

static void send_one(void)
{
    siginfo_t info = {0};

    info.si_signo = SIGPROF;
    info.si_code = SI_TIMER;
    info.si_timerid = timer;
    info.si_value.sival_ptr = (void *)signal_value(SIGNAL_SAMPLE, 0);
    syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGPROF, &info);
}

static double best_of_signals(void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction sa = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    double best = 1e18;

    sa.sa_sigaction = handler;
    sigfillset(&sa.sa_mask);
    sigaction(SIGPROF, &sa, NULL);
    for (int s = 0; s < SLICES; s++) {
        double t = ns_of(CLOCK_THREAD_CPUTIME_ID);

        for (int i = 0; i < CALLS; i++)
            send_one();
        t = (ns_of(CLOCK_THREAD_CPUTIME_ID) - t) / CALLS;
        best = t < best ? t : best;
    }
    return best;
}

static void measure_handler(int depth)
{
    double none = best_of_signals(empty), ours;

    timer = cpu_timer_new(gettid(), signal_value(SIGNAL_SAMPLE, 0));
    sampler.source = CPU_SOURCE_TIMER;
    ours = best_of_signals(sigprof_on_signal);
    cpu_timer_free(timer);
    printf("{\"bench\": \"handler\", \"source\": \"timer\", \"depth\": %d, "
           "\"empty_ns\": %.0f, \"beyond_ns\": %.0f}\n",
           depth, none, ours - none);
}

static __attribute__((noinline)) void descend(int n, int depth)
{
    if (n > 0) {
        descend(n - 1, depth);
    } else {
        measure_handler(depth);
    }
    __asm__ volatile("" ::: "memory");
}

static pthread_barrier_t up;

static void *sleeper(void *arg)
{
    pthread_barrier_wait(&up);
    for (;;)
        pause();
    return arg;
}

static void measure_dump(int n)
{
    double best = 1e18, cpu = 1e18;
    size_t with_stack = 0;

    for (int i = 0; i < 5; i++) {
        double t = ns_of(CLOCK_MONOTONIC);
        double c = ns_of(CLOCK_PROCESS_CPUTIME_ID);
        struct threads dump;
        struct error err;

        if (!threads_dump(&dump, &err))
            return;
        t = ns_of(CLOCK_MONOTONIC) - t;
        c = ns_of(CLOCK_PROCESS_CPUTIME_ID) - c;
        best = t < best ? t : best;
        cpu = c < cpu ? c : cpu;
        with_stack = 0;
        for (size_t k = 0; k < dump.v.n; k++)
            with_stack += ((struct thread_info *)dump.v.p)[k].has_stack;
        threads_release(&dump);
    }
    printf("{\"bench\": \"thread dump\", \"threads\": %d, \"with_stack\": %zu, "
           "\"wall_ms\": %.1f, \"cpu_us_per_thread\": %.1f}\n",
           n, with_stack, best / 1e6, cpu / 1e3 / n);
}

int main(int argc, char **argv)
{
    int depth = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 30;
    int n = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1000;
    static struct stack_table table;
    struct error err;
    double t = ns_of(CLOCK_MONOTONIC), c = ns_of(CLOCK_PROCESS_CPUTIME_ID);
    pthread_attr_t attr;
    pthread_t thread;

    if (!runtime_ready(&err) || !stack_table_init(&table, 65536, 1u << 24))
        return 1;
    t = (ns_of(CLOCK_MONOTONIC) - t) / 1e6;
    modules_build_all(&runtime.modules);
    printf("{\"bench\": \"start\", \"modules\": %zu, \"table_bytes\": %zu, "
           "\"blocking_ms\": %.2f, \"cpu_ms\": %.2f}\n",
           runtime.modules.n, modules_bytes(&runtime.modules), t,
           (ns_of(CLOCK_PROCESS_CPUTIME_ID) - c) / 1e6);
    sampler.scratch = pages_alloc(N_SCRATCH * sizeof(struct scratch));
    sampler.table = &table;
    sampler.period_ns = 1000; /* so that every signal is a sample */
    sampler.profile = 1;
    atomic_store(&sampler.running, true);
    descend(depth, depth);
    atomic_store(&sampler.running, false);

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 65536);
    pthread_barrier_init(&up, NULL, (unsigned)n + 1);
    for (int i = 0; i < n; i++)
        if (pthread_create(&thread, &attr, sleeper, NULL) != 0)
            return 1;
    pthread_barrier_wait(&up);
    measure_dump(n);
    return 0;
}

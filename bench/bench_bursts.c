/*
 * Work that is bound to the scheduler's ticks: a thread runs 0.8 ms every
 * 4 ms, woken at a fixed phase.  How many of the samples that are due at
 * 100 Hz come, ours (source by PPROF_CPU_SOURCE) and those of ITIMER_PROF,
 * which most profilers use.  One JSON line a phase.
 *
 * `bench_bursts [SECONDS]` a phase, 4 by default.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

#include "runtime/cpu/cpu.h"
#include "runtime/cpu/sigprof.h"

#define TURN_NS   4000000
#define BURST_NS  800000
#define PERIOD_NS 10000000

static int64_t ns_of(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static __attribute__((noinline)) void burst(void)
{
    int64_t end = ns_of(CLOCK_THREAD_CPUTIME_ID) + BURST_NS;

    while (ns_of(CLOCK_THREAD_CPUTIME_ID) < end)
        ;
}

/* CPU time that it took. */
static int64_t run(int64_t phase_ns, double seconds)
{
    int64_t cpu = ns_of(CLOCK_THREAD_CPUTIME_ID);
    int64_t at = ns_of(CLOCK_MONOTONIC) / TURN_NS * TURN_NS + phase_ns;

    for (int i = 0; i < (int)(seconds * 1e9 / TURN_NS); i++) {
        struct timespec t;

        at += TURN_NS;
        t = (struct timespec){at / 1000000000, at % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
        burst();
    }
    return ns_of(CLOCK_THREAD_CPUTIME_ID) - cpu;
}

static volatile sig_atomic_t n_ticks;

static void on_tick(int sig)
{
    (void)sig;
    n_ticks++;
}

static double by_itimer(int64_t phase_ns, double seconds)
{
    struct itimerval on = {{0, PERIOD_NS / 1000}, {0, PERIOD_NS / 1000}};
    struct itimerval off = {{0, 0}, {0, 0}};
    struct sigaction ours = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    struct sigaction old;
    int64_t cpu;

    n_ticks = 0;
    sigaction(SIGPROF, &ours, &old);
    setitimer(ITIMER_PROF, &on, NULL);
    cpu = run(phase_ns, seconds);
    setitimer(ITIMER_PROF, &off, NULL);
    sigaction(SIGPROF, &old, NULL);
    return (double)n_ticks * PERIOD_NS / (double)cpu;
}

static double by_us(int64_t phase_ns, double seconds)
{
    struct cpu_options options = {.rate_hz = 100};
    const struct stack_record *r;
    int64_t cpu, samples = 0;
    struct error err;
    uint32_t at = 0;

    if (!cpu_start(&options, &err)) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    cpu = run(phase_ns, seconds);
    while ((r = stack_table_next(sampler.table, &at)) != NULL)
        samples += r->values[0];
    cpu_stop(CPU_ASKED, NULL, &err);
    return (double)samples * PERIOD_NS / (double)cpu;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 4;
    const char *source = getenv("PPROF_CPU_SOURCE");

    for (int64_t phase = 500000; phase < TURN_NS; phase += 1000000) {
        double ours = by_us(phase, seconds);

        printf(
            "{\"bench\": \"bursts\", \"source\": \"%s\", \"phase_ms\": %.1f, "
            "\"seen\": %.2f, \"itimer_seen\": %.2f}\n",
            source ? source : "best", (double)phase / 1e6, ours,
            by_itimer(phase, seconds));
        fflush(stdout);
    }
    return 0;
}

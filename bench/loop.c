/*
 * What a running CPU profile, or an idle endpoint, costs a compute loop at the
 * end of a 30-frame stack.
 *
 *     loop profile ROUNDS [HZ]      source by PPROF_CPU_SOURCE
 *     loop endpoint ROUNDS
 *
 * In one process, so that address layout and clock speed are the same: each
 * round is off, on, on, off, each half a second of the same work, measured in
 * the CPU time of the whole process, threads of ours included, but without
 * start and stop.  A round's ratio is on/off; its noise is what the two off
 * parts differ.  One JSON line: medians.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pprof/pprof.h"
#include "runtime/cpu/cpu.h"
#include "runtime/endpoint/serve.h"

#define MAX_ROUNDS 1000
#define PART_NS    500000000

static __attribute__((noinline)) unsigned work(int depth, long n)
{
    unsigned x = 1;

    if (depth > 0) {
        x = work(depth - 1, n);
    } else {
        for (long i = 0; i < n; i++)
            x = x * 1664525u + (unsigned)i;
    }
    __asm__ volatile("" : "+r"(x));
    return x;
}

static double cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double part(long calls)
{
    double t = cpu_ns();

    for (long i = 0; i < calls; i++)
        work(30, 1000000);
    return cpu_ns() - t;
}

static bool is_profile;
static int hz;

static bool serve(struct error *err)
{
    struct pprof_serve_options asked = {.size = sizeof(asked),
                                        .address = "127.0.0.1:0"};
    struct serve_options options;

    return serve_options_read(&asked, &options, err) &&
           serve_start(&options, err);
}

static bool on(void)
{
    struct error err;

    if (is_profile ? cpu_start(&(struct cpu_options){.rate_hz = hz}, &err)
                   : serve(&err))
        return true;
    fprintf(stderr, "%s\n", err.text);
    return false;
}

static void off(void)
{
    struct error err;

    if (is_profile)
        cpu_stop(CPU_ASKED, NULL, &err);
    else
        serve_stop();
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
    qsort(v, n, sizeof(*v), by_value);
    return n ? v[n / 2] : 0;
}

int main(int argc, char **argv)
{
    static double ratio[MAX_ROUNDS], noise[MAX_ROUNDS];
    size_t rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 5;
    const char *source = getenv("PPROF_CPU_SOURCE");
    long calls;

    is_profile = argc < 2 || strcmp(argv[1], "profile") == 0;
    hz = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 100;
    rounds = rounds < MAX_ROUNDS ? rounds : MAX_ROUNDS;
    part(20);
    calls = (long)(PART_NS / (part(20) / 20)) + 1;
    if (!on()) /* the first time is not steady */
        return 1;
    part(calls);
    off();
    for (size_t i = 0; i < rounds; i++) {
        double a = part(calls), b, c, d;

        on();
        part(calls / 4); /* until it is steady */
        b = part(calls);
        c = part(calls);
        off();
        d = part(calls);
        ratio[i] = (b + c) / (a + d);
        noise[i] = fabs(a / d - 1);
    }
    printf("{\"bench\": \"overhead\", \"load\": \"loop\", \"what\": \"%s\", "
           "\"source\": \"%s\", \"hz\": %d, \"rounds\": %zu, "
           "\"median_ratio\": %.4f, \"noise\": %.4f}\n",
           is_profile ? "profile" : "endpoint, idle",
           is_profile ? (source ? source : "best") : "", is_profile ? hz : 0,
           rounds, median(ratio, rounds), median(noise, rounds));
    return 0;
}

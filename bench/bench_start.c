/*
 * What the start of the endpoint and of the first CPU profile costs: how long
 * the caller is blocked, and the CPU time that the tables take in the
 * background.  One JSON line.
 *
 * `bench_start [LIBRARY...]` loads the libraries before: clang's are a big
 * program's worth of unwind data.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "pprof/pprof.h"
#include "runtime/cpu/cpu.h"
#include "runtime/endpoint/serve.h"
#include "runtime/state.h"

static double ns_of(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void wait_for_tables(void)
{
    bool busy = true;

    while (busy) {
        usleep(1000);
        runtime_lock();
        busy =
            runtime.modules.building || modules_has_unbuilt(&runtime.modules);
        runtime_unlock();
    }
}

static size_t n_rows(void)
{
    size_t n = 0;

    for (size_t i = 0; i < runtime.modules.n; i++)
        n += runtime.modules.v[i].table.n_rows;
    return n;
}

int main(int argc, char **argv)
{
    struct cpu_options options = {0};
    struct serve_options endpoint;
    struct error err;
    double t, serve, start, again, cpu;

    for (int i = 1; i < argc; i++)
        if (!dlopen(argv[i], RTLD_LAZY))
            fprintf(stderr, "%s\n", dlerror());
    t = ns_of(CLOCK_MONOTONIC);
    if (!serve_options_read(
            &(struct pprof_serve_options){
                .size = sizeof(struct pprof_serve_options),
                .address = "127.0.0.1:0"},
            &endpoint, &err) ||
        !serve_start(&endpoint, &err))
        fprintf(stderr, "%s\n", err.text);
    serve = ns_of(CLOCK_MONOTONIC) - t;

    t = ns_of(CLOCK_MONOTONIC);
    cpu = ns_of(CLOCK_PROCESS_CPUTIME_ID);
    if (!cpu_start(&options, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    start = ns_of(CLOCK_MONOTONIC) - t;
    wait_for_tables();
    cpu = ns_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    cpu_stop(CPU_ASKED, NULL, &err);

    t = ns_of(CLOCK_MONOTONIC);
    if (!cpu_start(&options, &err))
        return 1;
    again = ns_of(CLOCK_MONOTONIC) - t;
    cpu_stop(CPU_ASKED, NULL, &err);
    printf("{\"bench\": \"start\", \"modules\": %zu, \"rows\": %zu, "
           "\"table_bytes\": %zu, \"serve_ms\": %.2f, \"first_profile_ms\": "
           "%.2f, \"next_profile_ms\": %.2f, \"background_cpu_ms\": %.1f}\n",
           runtime.modules.n, n_rows(), modules_bytes(&runtime.modules),
           serve / 1e6, start / 1e6, again / 1e6, cpu / 1e6);
    return 0;
}

/*
 * Code that is loaded, run for 40 ms of CPU time and unloaded, again and
 * again: `fresh_code LIBRARY N`.  Links nothing of ours; run it under
 * pprof-run.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static int64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void burn(int64_t ns)
{
    int64_t until = cpu_ns() + ns;

    while (cpu_ns() < until)
        ;
}

int main(int argc, char **argv)
{
    int n = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;

    for (int i = 0; i < n; i++) {
        void *library = dlopen(argv[1], RTLD_NOW), *found;
        void (*run)(void (*)(int64_t), int64_t);

        found = library ? dlsym(library, "truth_library_30") : NULL;
        if (!found)
            return 1;
        *(void **)&run = found;
        run(burn, 40000000);
        dlclose(library);
    }
    return 0;
}

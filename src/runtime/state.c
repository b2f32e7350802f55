/*
 * What every profile needs, made on first use: the list of modules, and where
 * the first thread's stack ends.
 */
#include "runtime/state.h"

#include <errno.h>
#include <time.h>

#include "base/clock.h"
#include "elf/maps.h"
#include "runtime/cpu/sigprof.h"
#include "runtime/own_code.h"

struct runtime runtime = {.lock = PTHREAD_MUTEX_INITIALIZER,
                          .create = pthread_create};

static void find_main_stack(void)
{
    struct maps maps;

    if (maps_read(&maps, "/proc/self/maps")) {
        for (size_t i = 0; i < maps.entries.n; i++) {
            const struct maps_entry *e = maps_at(&maps, i);

            if (str_eq(e->path, STR("[stack]")))
                sampler.main_stack_limit = e->limit;
        }
    }
    maps_release(&maps);
}

bool runtime_ready(struct error *err)
{
    bool ok;

    runtime_lock();
    if (!runtime.is_ready) {
        runtime.is_ready = modules_init(&runtime.modules);
        sampler.grace = &runtime.modules.grace;
        sampler.map = &runtime.modules.map;
        find_main_stack();
        if (runtime.is_ready)
            own_code_find(&runtime.modules);
    }
    ok = runtime.is_ready;
    runtime_unlock();
    return ok || error_set(err, "out of memory");
}

void runtime_lock(void)
{
    pthread_mutex_lock(&runtime.lock);
}

void runtime_unlock(void)
{
    pthread_mutex_unlock(&runtime.lock);
}

void runtime_sleep_ns(int64_t ns)
{
    struct timespec t = clock_timespec(ns);

    while (nanosleep(&t, &t) != 0 && errno == EINTR)
        ;
}

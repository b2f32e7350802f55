#include "runtime/unwind/table_builder.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>

#include "runtime/cpu/sigprof.h"
#include "runtime/own_thread.h"
#include "runtime/rawcall.h"
#include "runtime/state.h"

/* What takes long is done in a thread of its own, which does not get in the
 * program's way but is done sooner or later.  Not all of it: who holds the
 * lock must not be of low priority, and nobody may raise his own again. */
#define LONG_BYTES (256u << 10)
#define LONG_NICE  10

/* Between two looks for new code. */
#define MIN_PAUSE_NS 1000000
#define MAX_PAUSE_NS 1000000000

static struct {
    pthread_mutex_t lock; /* while the thread is being started */
    _Atomic bool is_up;
} builder = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *build_slowly(void *job)
{
    setpriority(PRIO_PROCESS, (id_t)raw_gettid(), LONG_NICE);
    modules_build_run(job);
    return NULL;
}

static void build_one(struct module_build *job)
{
    struct error ignored;
    pthread_t thread;

    if (job->view.segments[0].n >= LONG_BYTES &&
        own_thread_start(&thread, "pprof-table", build_slowly, job, &ignored))
        pthread_join(thread, NULL);
    else
        modules_build_run(job);
}

/* Whether there was anything new. */
static bool look_and_build(void)
{
    struct module_build job;
    uint64_t before;
    bool is_new;

    runtime_lock();
    before = runtime.modules.refreshes;
    modules_refresh(&runtime.modules);
    code_copies_look(&runtime.copies, &runtime.modules);
    is_new = runtime.modules.refreshes != before;
    while (modules_build_begin(&runtime.modules, &job)) {
        runtime_unlock();
        build_one(&job);
        runtime_lock();
        modules_build_end(&runtime.modules, &job);
        is_new = true;
    }
    runtime_unlock();
    return is_new;
}

static void *build(void *arg)
{
    int64_t pause = MIN_PAUSE_NS;
    uint32_t paused;

    (void)arg;
    for (;;) {
        atomic_store(&sampler.new_code, NEW_CODE_PAUSE);
        if (look_and_build())
            pause = MIN_PAUSE_NS;
        else if (pause < MAX_PAUSE_NS)
            pause *= 2;
        raw_futex_wait(&sampler.new_code, NEW_CODE_PAUSE,
                       pause); /* not if it was seen already */
        paused = NEW_CODE_PAUSE;
        atomic_compare_exchange_strong(&sampler.new_code, &paused,
                                       NEW_CODE_NONE);
        while (atomic_load(&sampler.new_code) == NEW_CODE_NONE)
            raw_futex_wait(&sampler.new_code, NEW_CODE_NONE, 0);
    }
    return NULL;
}

static void start(void)
{
    struct error ignored;
    pthread_t thread;

    pthread_mutex_lock(&builder.lock);
    if (!atomic_load(&builder.is_up) &&
        own_thread_start(&thread, "pprof-tables", build, NULL, &ignored)) {
        pthread_detach(thread);
        atomic_store(&builder.is_up, true);
    }
    pthread_mutex_unlock(&builder.lock);
}

void table_builder_refresh(void)
{
    bool has_work;

    runtime_lock();
    modules_refresh(&runtime.modules);
    has_work = modules_has_unbuilt(&runtime.modules);
    runtime_unlock();
    if (!atomic_load(&builder.is_up))
        start();
    else if (has_work &&
             atomic_exchange(&sampler.new_code, NEW_CODE_SEEN) != NEW_CODE_SEEN)
        raw_futex_wake(&sampler.new_code);
}

/* Who loads and unloads all the time does not get more looks than others:
 * a pause is not cut short. */
void table_builder_notice(void)
{
    if (atomic_load(&builder.is_up) &&
        atomic_exchange(&sampler.new_code, NEW_CODE_SEEN) == NEW_CODE_NONE)
        raw_futex_wake(&sampler.new_code);
}

void table_builder_after_fork(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

    builder.lock = fresh;
    atomic_store(&builder.is_up, false);
    atomic_store(&sampler.new_code, NEW_CODE_NONE);
}

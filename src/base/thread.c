#include "base/thread.h"

#include <signal.h>
#include <stdatomic.h>

static atomic_bool profiled;

void thread_admit_profiler(void)
{
    atomic_store(&profiled, true);
}

int thread_start(pthread_t *out, const char *name, size_t stack_bytes,
                 void *(*run)(void *), void *arg)
{
    pthread_attr_t attr;
    sigset_t all, old;
    int rc = pthread_attr_init(&attr);

    if (rc != 0)
        return rc;
    pthread_attr_setstacksize(&attr, stack_bytes);
    /* A thread inherits the mask of the one that starts it. */
    sigfillset(&all);
    if (atomic_load(&profiled)) {
        sigdelset(&all, SIGPROF);
        sigdelset(&all, SIGTRAP);
    }
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rc = pthread_create(out, &attr, run, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    if (rc == 0)
        pthread_setname_np(*out, name);
    return rc;
}

/*
 * The names of libc that the libraries with hooks (libpprof-preload.so,
 * libpprof-hooks) wrap for all profiles: pthread_create, to know where
 * threads come from and where their stacks are, and sigaction/signal, so that
 * a program which sets its own handler for one of our signals gets it called
 * and we stay in.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "pprof/pprof.h"
#include "runtime/cpu/sampling_thread.h"
#include "runtime/cpu/sigprof.h"
#include "runtime/hook/end_signals.h"
#include "runtime/hook/own_signals.h"
#include "runtime/hook/static_next.h"
#include "runtime/own_code.h"
#include "runtime/own_thread.h"
#include "runtime/state.h"
#include "runtime/thread/threads.h"

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                      void *);
typedef void handler_fn(int);
typedef int sigaction_fn(int, const struct sigaction *, struct sigaction *);

/* Found by the constructor, or by the first call if that comes earlier. */
static _Atomic(create_fn *) next_create;
static _Atomic(sigaction_fn *) next_sigaction;

static void *next(const char *name)
{
    void *fn = static_next(name);

    return fn || static_next_is_needed() ? fn : dlsym(RTLD_NEXT, name);
}

static create_fn *find_create(void)
{
    create_fn *fn = atomic_load(&next_create);

    if (!fn) {
        *(void **)&fn = next("pthread_create");
        atomic_store(&next_create, fn);
    }
    return fn;
}

static sigaction_fn *find_sigaction(void)
{
    sigaction_fn *fn = atomic_load(&next_sigaction);

    if (!fn) {
        *(void **)&fn = next("sigaction");
        atomic_store(&next_sigaction, fn);
    }
    return fn;
}

struct start {
    void *(*run)(void *);
    void *arg;
    size_t stack_size;
    uint32_t labels; /* of who starts it */
    bool is_own;     /* by the library, for itself */
};

static void begin_thread(void)
{
    struct own_scope scope = own_scope_enter(NULL);

    sampling_thread_thread_begin();
    own_scope_restore(&scope);
}

/* However it ends: return, pthread_exit, cancellation. */
static void end_thread(void *run)
{
    struct own_scope scope = own_scope_enter(NULL);

    sampling_thread_thread_end((void *(*)(void *))run);
    own_scope_restore(&scope);
}

/* The first frame of every thread: above it there is only the loader's. */
static void *run_thread(void *arg)
{
    struct start s = *(struct start *)arg;
    uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    void *result;

    if (s.is_own)
        own_thread_enter();
    free(arg);
    pprof_thread.stack_limit = (here | 255) + 1;
    pprof_thread.stack_start = here > s.stack_size ? here - s.stack_size : 0;
    pprof_thread.labels = s.labels;
    begin_thread();
    pthread_cleanup_push(end_thread, (void *)s.run);
    result = s.run(s.arg);
    pthread_cleanup_pop(1);
    if (s.is_own)
        own_thread_leave();
    return result;
}

/* Not an allocation of the program's. */
static struct start *new_start(void *(*run)(void *), void *arg)
{
    struct own_scope scope = own_scope_enter(NULL);
    struct start *s = malloc(sizeof(*s));

    own_scope_restore(&scope);
    if (s)
        *s = (struct start){run, arg, 0, pprof_thread.labels,
                            pprof_thread.is_own};
    return s;
}

PPROF_API OWN_WRAPPER int pthread_create(pthread_t *thread,
                                         const pthread_attr_t *attr,
                                         void *(*run)(void *), void *arg)
{
    create_fn *real = find_create();
    struct start *s;
    pthread_attr_t defaults;
    int rc;

    if (!real)
        return EAGAIN;
    threads_note_creation();
    s = new_start(run, arg);
    if (!s)
        return real(thread, attr, run, arg);
    if (attr) {
        pthread_attr_getstacksize(attr, &s->stack_size);
    } else if (pthread_getattr_default_np(&defaults) == 0) {
        pthread_attr_getstacksize(&defaults, &s->stack_size);
        pthread_attr_destroy(&defaults);
    }
    /* Less than all: thread-locals live at the top of the same block. */
    s->stack_size -= s->stack_size / 8;
    rc = real(thread, attr, run_thread, s);
    if (rc != 0)
        free(s);
    return rc;
}

/* A bit for each signal that the program handles itself. */
static _Atomic uint64_t handled;

static void note_handler(int sig, const struct sigaction *act)
{
    uint64_t bit = (uint64_t)1 << (sig % 64);

    if (act->sa_handler != SIG_DFL && act->sa_handler != SIG_IGN)
        atomic_fetch_or(&handled, bit);
    else
        atomic_fetch_and(&handled, ~bit);
}

bool own_signal_is_programs(int sig)
{
    return atomic_load(&handled) & (uint64_t)1 << (sig % 64);
}

/* Which of the sampler's places holds the program's action for a signal. */
static struct program_action *kept_action(int sig)
{
    struct sigaction now;
    sigaction_fn *real = find_sigaction();

    if ((sig != SIGPROF && sig != SIGTRAP) || !real ||
        real(sig, NULL, &now) != 0 || !(now.sa_flags & SA_SIGINFO))
        return NULL;
    if (now.sa_sigaction == sigprof_on_signal)
        return sig == SIGTRAP ? &sampler.old_trap : &sampler.old_prof;
    return NULL;
}

PPROF_API OWN_WRAPPER int sigaction(int sig, const struct sigaction *act,
                                    struct sigaction *old)
{
    sigaction_fn *real = find_sigaction();
    struct program_action *kept;
    struct sigaction was;
    int rc;

    if (!real) {
        errno = ENOSYS;
        return -1;
    }
    if (end_signals_set(real, sig, act, old, &rc))
        return rc;
    if (act && (sig == SIGPROF || sig == SIGTRAP))
        note_handler(sig, act);
    kept = sampler.grace ? kept_action(sig) : NULL;
    if (!kept)
        return real(sig, act, old);
    was = kept->full;
    if (act)
        program_action_set(kept, act);
    if (old)
        *old = was;
    return 0;
}

PPROF_API OWN_WRAPPER handler_fn *signal(int sig, handler_fn *handler)
{
    struct program_action *kept = sampler.grace ? kept_action(sig) : NULL;
    struct sigaction plain = {.sa_handler = handler, .sa_flags = SA_RESTART};
    handler_fn *(*real)(int, handler_fn *);
    struct sigaction was;
    handler_fn *old;
    int rc;

    if (handler != SIG_ERR &&
        end_signals_set(find_sigaction(), sig, &plain, &was, &rc))
        return rc == 0 ? was.sa_handler : SIG_ERR;
    if (sig == SIGPROF || sig == SIGTRAP)
        note_handler(sig, &plain);
    if (!kept) {
        *(void **)&real = next("signal");
        return real ? real(sig, handler) : SIG_ERR;
    }
    old = kept->full.sa_handler;
    program_action_set(kept, &plain);
    return old;
}

/* Before any other constructor of ours: they may start threads. */
__attribute__((constructor(101))) static void hooks_start(void)
{
    runtime.create = find_create();
    runtime.sees_thread_starts = true;
    sampler.sigaction = find_sigaction();
    threads_watch_creation();
}

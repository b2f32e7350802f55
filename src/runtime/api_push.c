/*
 * The functions of <pprof/pprof.h> that push profiles.
 */
#include <errno.h>
#include <pthread.h>

#include "pprof/pprof.h"
#include "runtime/api.h"
#include "runtime/own_thread.h"
#include "runtime/push/push.h"
#include "runtime/push/push_dumps.h"

/* One thread at a time starts; what it reads is too large for a stack. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct push_options read;

static int start(const struct pprof_push_options *options, struct error *err)
{
    if (!options && push_is_running())
        return 0;
    if (!push_options_read(options, &read, err))
        return EINVAL;
    push_dumps_read_environment();
    if (push_start(&read, err))
        return 0;
    return err->code ? err->code : ENOMEM;
}

int pprof_push_start(const struct pprof_push_options *options)
{
    struct own_scope scope = own_scope_enter(__builtin_return_address(0));
    struct error err = {""};
    int code;

    pthread_mutex_lock(&lock);
    code = start(options, &err);
    pthread_mutex_unlock(&lock);
    own_scope_restore(&scope);
    return code ? api_fail(code, &err) : 0;
}

void pprof_push_stop(void)
{
    push_finish();
}

void api_push_after_fork(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

    lock = fresh;
}

/*
 * The functions of <pprof/pprof.h> that take profiles: the CPU profile, which
 * runs between a start and a stop, and all others, which are there at once.
 */
#include "runtime/api.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/file.h"
#include "pprof/pprof.h"
#include "runtime/cpu/cpu.h"
#include "runtime/own_thread.h"
#include "runtime/profiles.h"

/* The largest profile that is written. */
#define MAX_REPLY_BYTES (256u << 20)

static pthread_mutex_t cpu_lock = PTHREAD_MUTEX_INITIALIZER;
static int cpu_fd = -1;

const char *pprof_version(void)
{
    return PPROF_VERSION;
}

int pprof_start_cpu_profile_opts(int fd,
                                 const struct pprof_cpu_options *options)
{
    struct pprof_cpu_options o = {0};
    struct cpu_options inner = {0};
    struct error err = {""};
    struct own_scope scope = own_scope_enter(__builtin_return_address(0));
    int rc = 0;

    if (options)
        memcpy(&o, options,
               options->size < sizeof(o) ? options->size : sizeof(o));
    inner.rate_hz = o.rate_hz;
    inner.tag_threads = o.thread_labels != 0;
    pthread_mutex_lock(&cpu_lock);
    if (cpu_start(&inner, &err))
        cpu_fd = fd;
    else
        rc = api_fail(cpu_is_running(CPU_ASKED) ? EBUSY : ENOMEM, &err);
    pthread_mutex_unlock(&cpu_lock);
    own_scope_restore(&scope);
    return rc;
}

int pprof_start_cpu_profile(int fd)
{
    return pprof_start_cpu_profile_opts(fd, NULL);
}

int pprof_stop_cpu_profile(void)
{
    struct own_scope scope = own_scope_enter(__builtin_return_address(0));
    struct buf out = BUF_INIT(MAX_REPLY_BYTES);
    struct error err = {""};
    int rc = 0;

    pthread_mutex_lock(&cpu_lock);
    if (cpu_fd < 0) {
        error_set(&err, "cpu profiling is not running");
        rc = api_fail(EINVAL, &err);
    } else if (!cpu_stop(CPU_ASKED, &out, &err)) {
        rc = api_fail(ENOMEM, &err);
    } else if (!file_write_fd(cpu_fd, "cpu profile", buf_str(&out), &err)) {
        rc = api_fail(EIO, &err);
    }
    cpu_fd = -1;
    pthread_mutex_unlock(&cpu_lock);
    buf_release(&out);
    own_scope_restore(&scope);
    return rc;
}

static int write_profile(const char *name, int fd, int debug)
{
    const struct profile_kind *kind = profiles_find(str_from(name));
    struct buf out = BUF_INIT(MAX_REPLY_BYTES);
    struct error err = {""};
    int rc = 0;

    if (!kind) {
        error_set(&err, "unknown profile \"%s\"", name);
        return api_fail(ENOENT, &err);
    }
    if (!profiles_write(kind, debug, &out, &err))
        rc = api_fail(ENOMEM, &err);
    else if (!file_write_fd(fd, name, buf_str(&out), &err))
        rc = api_fail(EIO, &err);
    buf_release(&out);
    return rc;
}

int pprof_write_profile(const char *name, int fd, int debug)
{
    struct own_scope scope = own_scope_enter(__builtin_return_address(0));
    int rc = write_profile(name, fd, debug);

    own_scope_restore(&scope);
    return rc;
}

void api_cpu_after_fork(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

    cpu_lock = fresh;
    cpu_fd = -1;
}

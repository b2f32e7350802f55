/*
 * The functions of <pprof/pprof.h>.
 */
#include "runtime/api.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "pprof/pprof.h"
#include "runtime/cpu.h"
#include "runtime/profiles.h"

/* What a reply may be big. */
#define MAX_REPLY_BYTES (256u << 20)

static pthread_mutex_t cpu_lock = PTHREAD_MUTEX_INITIALIZER;
static int cpu_fd = -1;

/* Kept outside of thread-local storage, which is scarce: only the last
 * failures of a few threads matter to anybody. */
static struct {
    pthread_t thread;
    char text[512];
} failures[16];

int api_fail(int code, const struct error *err)
{
    pthread_t self = pthread_self();
    size_t slot = ((size_t)self >> 12) % 16;

    failures[slot].thread = self;
    snprintf(failures[slot].text, sizeof(failures[slot].text), "%.511s",
             err->text);
    return -code;
}

const char *pprof_last_error(void)
{
    pthread_t self = pthread_self();
    size_t slot = ((size_t)self >> 12) % 16;

    return pthread_equal(failures[slot].thread, self) ? failures[slot].text
                                                      : "";
}

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
        rc = api_fail(cpu_is_running() ? EBUSY : ENOMEM, &err);
    pthread_mutex_unlock(&cpu_lock);
    return rc;
}

int pprof_start_cpu_profile(int fd)
{
    return pprof_start_cpu_profile_opts(fd, NULL);
}

int pprof_stop_cpu_profile(void)
{
    struct buf out = BUF_INIT(MAX_REPLY_BYTES);
    struct error err = {""};
    int rc = 0;

    pthread_mutex_lock(&cpu_lock);
    if (cpu_fd < 0) {
        error_set(&err, "cpu profiling is not running");
        rc = api_fail(EINVAL, &err);
    } else if (!cpu_stop(&out, &err)) {
        rc = api_fail(ENOMEM, &err);
    } else if (!file_write_fd(cpu_fd, "cpu profile", buf_str(&out), &err)) {
        rc = api_fail(EIO, &err);
    }
    cpu_fd = -1;
    pthread_mutex_unlock(&cpu_lock);
    buf_release(&out);
    return rc;
}

int pprof_write_profile(const char *name, int fd, int debug)
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

void api_after_fork(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

    cpu_lock = fresh;
    cpu_fd = -1;
}

/*
 * The wall profile of <pprof/pprof.h>.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/file.h"
#include "pprof/pprof.h"
#include "runtime/api.h"
#include "runtime/own_thread.h"
#include "runtime/thread/wall.h"

#define MAX_PROFILE_BYTES (256u << 20)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int wall_fd = -1;

int pprof_start_wall_profile(int fd, const struct pprof_wall_options *options)
{
    struct own_scope scope = own_scope_enter(__builtin_return_address(0));
    struct pprof_wall_options o = {0};
    struct error err = {""};
    int rc = 0;

    if (options)
        memcpy(&o, options,
               options->size < sizeof(o) ? options->size : sizeof(o));
    pthread_mutex_lock(&lock);
    if (wall_start(&(struct wall_options){.hz = o.hz,
                                          .tag_threads = o.thread_labels != 0},
                   &err))
        wall_fd = fd;
    else
        rc = api_fail(wall_is_running(WALL_ASKED) ? EBUSY : ENOMEM, &err);
    pthread_mutex_unlock(&lock);
    own_scope_restore(&scope);
    return rc;
}

int pprof_stop_wall_profile(void)
{
    struct own_scope scope = own_scope_enter(__builtin_return_address(0));
    struct buf out = BUF_INIT(MAX_PROFILE_BYTES);
    struct error err = {""};
    int rc = 0;

    pthread_mutex_lock(&lock);
    if (wall_fd < 0) {
        error_set(&err, "wall profiling is not running");
        rc = api_fail(EINVAL, &err);
    } else if (!wall_stop(WALL_ASKED, &out, &err)) {
        rc = api_fail(ENOMEM, &err);
    } else if (!file_write_fd(wall_fd, "wall profile", buf_str(&out), &err)) {
        rc = api_fail(EIO, &err);
    }
    wall_fd = -1;
    pthread_mutex_unlock(&lock);
    buf_release(&out);
    own_scope_restore(&scope);
    return rc;
}

void api_wall_after_fork(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

    lock = fresh;
    wall_fd = -1;
}

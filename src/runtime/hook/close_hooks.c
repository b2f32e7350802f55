/*
 * Wrappers of close and its relatives.  Daemons close all file descriptors when
 * they start, ours included (base/own_fd.h).  The calls report success but
 * leave ours open, so that profiles and the endpoint go on.
 *
 * Async-signal-safe.  A child after vfork, or after a fork that nobody
 * profiles, has descriptors of its own and closes what it wants.
 */
#include <errno.h>
#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/own_fd.h"
#include "pprof/pprof.h"
#include "runtime/hook/hook_next.h"
#include "runtime/own_code.h"
#include "runtime/rawcall.h"

static hook_slot close_slot;

/* Now, because a handler or a child after vfork must not call dlsym. */
__attribute__((constructor(101))) static void find_all(void)
{
    hook_find(&close_slot, "close");
}

PPROF_API OWN_WRAPPER int close(int fd)
{
    int (*real)(int);

    own_fds_settle(false);
    if (own_fd_is_kept(fd))
        return 0;
    *(void **)&real = hook_next(&close_slot, "close");
    return real(fd);
}

#if defined(__GLIBC__) /* others have none */

/* What the kernel does, on kernels that are older than the call. */
static long close_each(unsigned first, unsigned last)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && last >= limit.rlim_cur)
        last = (unsigned)limit.rlim_cur;
    for (unsigned fd = first; fd <= last; fd++)
        raw_call4(SYS_close, (long)fd, 0, 0, 0);
    return 0;
}

static long close_part(unsigned first, unsigned last, unsigned flags)
{
    long rc = raw_call4(SYS_close_range, first, last, flags, 0);

    return rc == -ENOSYS && flags == 0 ? close_each(first, last) : rc;
}

static long close_parts(unsigned first, unsigned last, unsigned flags)
{
    long rc = 0;
    int own;

    if (first > INT_MAX)
        return close_part(first, last, flags);
    own = own_fd_next((int)first);
    while (rc == 0 && own >= 0 && (unsigned)own <= last) {
        if (first < (unsigned)own)
            rc = close_part(first, (unsigned)own - 1, flags);
        first = (unsigned)own + 1;
        own = own_fd_next(own + 1);
    }
    return rc == 0 && first <= last ? close_part(first, last, flags) : rc;
}

/* Closes a range except our own descriptors, which are closed by exec.  Returns
 * 0 or -errno; wrong arguments fail before anything is closed. */
static long close_others(unsigned first, unsigned last, unsigned flags)
{
    long rc;

    own_fds_settle(true);
    rc = close_parts(first, last, flags);
    own_fds_release();
    return rc;
}

PPROF_API OWN_WRAPPER int close_range(unsigned first, unsigned last, int flags)
{
    long rc =
        first > last ? -EINVAL : close_others(first, last, (unsigned)flags);

    if (rc == 0)
        return 0;
    errno = (int)-rc;
    return -1;
}

PPROF_API OWN_WRAPPER void closefrom(int low)
{
    close_others(low < 0 ? 0 : (unsigned)low, ~0u, 0);
}

#endif

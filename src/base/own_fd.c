/*
 * The list is a bit for each number.  A thread that opens a file and one that
 * closes all of them may meet: a number is ours before it can be listed.  So
 * whoever opens is counted, and whoever closes waits a little.
 */
#include "base/own_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Higher numbers are not listed.  The kernel copies a table of all numbers up
 * to the highest at each fork, so they are not higher than need be. */
#define MAX_FD  65536
#define HIGH_FD 512

#define BITS 64

#define PAUSE_NS 50000
#define PAUSES   2000 /* a tenth of a second */

static struct {
    _Atomic uint64_t bits[MAX_FD / BITS];
    _Atomic int owner;   /* process id, 0: none yet */
    _Atomic int lowest;  /* of the high numbers, 0: any will do */
    _Atomic int opening; /* how many are opened and not listed yet */
    _Atomic int holding; /* how many threads are closing all */
} kept;

static uint64_t bit(int fd)
{
    return (uint64_t)1 << (fd % BITS);
}

static bool is_listed(int fd)
{
    return fd >= 0 && fd < MAX_FD &&
           (atomic_load_explicit(&kept.bits[fd / BITS], memory_order_relaxed) &
            bit(fd));
}

static int process_id(void)
{
    return (int)syscall(SYS_getpid);
}

/* libc's close() is where a thread that was cancelled ends, and then our
 * caller would keep its locks. */
static void plain_close(int fd)
{
    int saved = errno;

    syscall(SYS_close, fd);
    errno = saved;
}

static void wait_while(_Atomic int *count)
{
    static const struct timespec pause = {.tv_nsec = PAUSE_NS};
    int saved = errno;

    for (int i = 0; i < PAUSES && atomic_load(count) > 0; i++)
        syscall(SYS_nanosleep, &pause, NULL);
    errno = saved;
}

void own_fd_begin(void)
{
    wait_while(&kept.holding);
    atomic_fetch_add(&kept.opening, 1);
}

int own_fd_note(int fd)
{
    if (atomic_load(&kept.owner) == 0)
        atomic_store(&kept.owner, process_id());
    if (fd >= 0 && fd < MAX_FD)
        atomic_fetch_or(&kept.bits[fd / BITS], bit(fd));
    atomic_fetch_sub(&kept.opening, 1);
    return fd;
}

int own_fd_keep(int fd)
{
    int saved = errno, lowest = atomic_load(&kept.lowest), high;

    if (fd < 0 || lowest == 0)
        return own_fd_note(fd);
    high = fcntl(fd, F_DUPFD_CLOEXEC, lowest);
    if (high >= 0) {
        plain_close(fd);
        fd = high;
    }
    errno = saved;
    return own_fd_note(fd);
}

int own_fd_lose(int fd)
{
    if (is_listed(fd))
        atomic_fetch_and(&kept.bits[fd / BITS], ~bit(fd));
    return -1;
}

void own_fd_close(int fd)
{
    own_fd_lose(fd);
    if (fd >= 0)
        plain_close(fd);
}

bool own_fd_is_kept(int fd)
{
    return is_listed(fd) && atomic_load(&kept.owner) == process_id();
}

int own_fd_next(int from)
{
    if (atomic_load(&kept.owner) != process_id())
        return -1;
    for (int fd = from; fd < MAX_FD; fd++) {
        if (fd % BITS == 0 && atomic_load(&kept.bits[fd / BITS]) == 0)
            fd += BITS - 1;
        else if (is_listed(fd))
            return fd;
    }
    return -1;
}

/* In a child after vfork the counts are the parent's. */
void own_fds_settle(bool hold)
{
    if (!hold && atomic_load_explicit(&kept.opening, memory_order_relaxed) <= 0)
        return;
    if (hold)
        atomic_fetch_add(&kept.holding, 1);
    if (atomic_load(&kept.owner) == process_id())
        wait_while(&kept.opening);
}

void own_fds_release(void)
{
    atomic_fetch_sub(&kept.holding, 1);
}

void own_fds_reserve(void)
{
    struct rlimit limit;
    int lowest = HIGH_FD, any;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
        limit.rlim_cur < 2 * (rlim_t)HIGH_FD)
        lowest = (int)(limit.rlim_cur / 2);
    any = (int)syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY | O_CLOEXEC, 0);
    if (any < 0)
        return;
    plain_close(fcntl(any, F_DUPFD_CLOEXEC, lowest));
    plain_close(any);
    atomic_store(&kept.lowest, lowest);
}

void own_fds_after_fork(void)
{
    atomic_store(&kept.owner, 0);
    atomic_store(&kept.opening, 0);
    atomic_store(&kept.holding, 0);
}

/*
 * /proc/self/task is read with getdents64 directly: opendir() allocates, and
 * this runs in threads that must not.  Threads of ours that are just starting
 * are waited for first, so that none is taken for one of the program's.
 */
#include "runtime/thread/thread_list.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/str.h"
#include "runtime/own_thread.h"

struct linux_dirent {
    uint64_t ino;
    int64_t off;
    unsigned short len;
    unsigned char type;
    char name[];
};

/* Not opendir(), which allocates. */
bool threads_each(bool (*each)(void *ctx, int tid), void *ctx)
{
    int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    _Alignas(8) char room[4096];
    bool go_on = true;
    long n = 0;

    if (fd < 0)
        return false;
    own_threads_settle();
    while (go_on && (n = syscall(SYS_getdents64, fd, room, sizeof(room))) > 0) {
        for (long at = 0; go_on && at < n;) {
            const struct linux_dirent *d = (const void *)(room + at);
            uint64_t tid;

            at += d->len;
            if (str_to_u64(str_from(d->name), 10, &tid))
                go_on = each(ctx, (int)tid);
        }
    }
    close(fd);
    return n >= 0;
}

/* A directory has as many links as it has directories in it, and two. */
uint64_t threads_change(void)
{
    struct stat st;

    return stat("/proc/self/task", &st) == 0 ? st.st_nlink : 0;
}

/*
 * setuid and its relatives, wrapped for one case that would end the program.
 *
 * User and group ids belong to a thread in Linux, so libc changes them in all
 * threads, and aborts if that works in one thread and not in another.
 * Capabilities belong to a thread, too, and nobody changes them for all: a
 * program that keeps its capabilities while it gives up root (PR_SET_KEEPCAPS,
 * as setpriv does) leaves our threads without them.  If it then changes its
 * group, it may, and our threads may not.
 *
 * Then only the calling thread changes, as it would without us: ours have
 * less power than it already.  With other threads of the program around, the
 * decision is libc's.
 */
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "pprof/pprof.h"
#include "runtime/hook/hook_next.h"
#include "runtime/own_code.h"
#include "runtime/own_thread.h"
#include "runtime/rawcall.h"

#define MAX_OWN    32
#define MAX_GROUPS 65536
#define SAME       -1L /* this id does not change */

/* A thread's effective capabilities; 0 for one that has just ended. */
static uint64_t capabilities(int tid)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, tid};
    struct __user_cap_data_struct data[2] = {{0}};

    if (raw_call4(SYS_capget, (long)&head, (long)data, 0, 0) != 0)
        return 0;
    return data[0].effective | (uint64_t)data[1].effective << 32;
}

static bool has_threads_of_its_own(void)
{
    DIR *d = opendir("/proc/self/task");
    bool found = d == NULL;
    struct dirent *e;
    uint64_t tid;

    while (d && !found && (e = readdir(d)) != NULL)
        found = str_to_u64(str_from(e->d_name), 10, &tid) &&
                (int)tid != raw_gettid() && !own_thread_is((int)tid);
    if (d)
        closedir(d);
    return found;
}

/* Returns true if libc's function would succeed here and fail in a thread of
 * ours. */
static bool is_for_this_thread_only(void)
{
    uint64_t mine = capabilities(0);
    int own[MAX_OWN];
    size_t n = own_threads_list(own, MAX_OWN);

    if (mine == 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if ((capabilities(own[i]) & mine) != mine)
            return !has_threads_of_its_own();
    return false;
}

static int change(long call, long a, long b, long c)
{
    long rc = raw_call4(call, a, b, c, 0);

    if (rc < 0)
        errno = (int)-rc;
    return rc < 0 ? -1 : 0;
}

static int change_ids(long call, const char *name, hook_slot *slot, long r,
                      long e, long s)
{
    int (*real)(unsigned, unsigned, unsigned);

    if (is_for_this_thread_only())
        return change(call, r, e, s);
    *(void **)&real = hook_next(slot, name);
    return real((unsigned)r, (unsigned)e, (unsigned)s);
}

PPROF_API OWN_WRAPPER int setresuid(uid_t r, uid_t e, uid_t s)
{
    static hook_slot slot;

    return change_ids(SYS_setresuid, "setresuid", &slot, r, e, s);
}

PPROF_API OWN_WRAPPER int setresgid(gid_t r, gid_t e, gid_t s)
{
    static hook_slot slot;

    return change_ids(SYS_setresgid, "setresgid", &slot, r, e, s);
}

PPROF_API OWN_WRAPPER int setreuid(uid_t r, uid_t e)
{
    static hook_slot slot;

    return change_ids(SYS_setreuid, "setreuid", &slot, r, e, 0);
}

PPROF_API OWN_WRAPPER int setregid(gid_t r, gid_t e)
{
    static hook_slot slot;

    return change_ids(SYS_setregid, "setregid", &slot, r, e, 0);
}

PPROF_API OWN_WRAPPER int setuid(uid_t id)
{
    static hook_slot slot;

    return change_ids(SYS_setuid, "setuid", &slot, id, 0, 0);
}

PPROF_API OWN_WRAPPER int setgid(gid_t id)
{
    static hook_slot slot;

    return change_ids(SYS_setgid, "setgid", &slot, id, 0, 0);
}

PPROF_API OWN_WRAPPER int seteuid(uid_t id)
{
    static hook_slot slot;
    int (*real)(uid_t);

    if (is_for_this_thread_only())
        return change(SYS_setresuid, SAME, id, SAME);
    *(void **)&real = hook_next(&slot, "seteuid");
    return real(id);
}

PPROF_API OWN_WRAPPER int setegid(gid_t id)
{
    static hook_slot slot;
    int (*real)(gid_t);

    if (is_for_this_thread_only())
        return change(SYS_setresgid, SAME, id, SAME);
    *(void **)&real = hook_next(&slot, "setegid");
    return real(id);
}

PPROF_API OWN_WRAPPER int setgroups(size_t n, const gid_t *groups)
{
    static hook_slot slot;
    int (*real)(size_t, const gid_t *);

    if (is_for_this_thread_only())
        return change(SYS_setgroups, (long)n, (long)groups, 0);
    *(void **)&real = hook_next(&slot, "setgroups");
    return real(n, groups);
}

PPROF_API OWN_WRAPPER int initgroups(const char *user, gid_t group)
{
    static hook_slot slot;
    int (*real)(const char *, gid_t);
    int n = MAX_GROUPS, rc = -1;
    gid_t *groups;

    if (!is_for_this_thread_only()) {
        *(void **)&real = hook_next(&slot, "initgroups");
        return real(user, group);
    }
    groups = malloc(MAX_GROUPS * sizeof(*groups));
    if (groups && getgrouplist(user, group, groups, &n) >= 0)
        rc = change(SYS_setgroups, n, (long)groups, 0);
    free(groups);
    return rc;
}

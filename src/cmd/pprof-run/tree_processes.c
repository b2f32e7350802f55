/*
 * The directory is the list: a process is in it from the moment at which it
 * listens, and nothing has to be registered or kept up to date.
 */
#include "cmd/pprof-run/tree_processes.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define MAX_COMMAND 4096
#define MAX_DIR     64 /* the path of a socket has 107 bytes */

bool tree_place_make(struct tree_place *place, struct error *err)
{
    const char *directory = getenv("TMPDIR");
    uint64_t secret;

    if (!directory || directory[0] != '/' || strlen(directory) > MAX_DIR)
        directory = "/tmp";
    if (getrandom(&secret, sizeof(secret), 0) != sizeof(secret))
        return error_set_os(err, "read", "random bytes", errno);
    snprintf(place->outer, sizeof(place->outer), "%s/pprof-run.XXXXXX",
             directory);
    if (!mkdtemp(place->outer))
        return error_set_os(err, "mkdir", place->outer, errno);
    snprintf(place->inner, sizeof(place->inner), "%s/%016llx", place->outer,
             (unsigned long long)secret);
    if (mkdir(place->inner, 0700) == 0 && chmod(place->inner, 0733) == 0 &&
        chmod(place->outer, 0711) == 0)
        return true;
    error_set_os(err, "mkdir", place->inner, errno);
    tree_place_remove(place);
    return false;
}

/* Calls `each` for every socket; stops when it says so. */
static void each_socket(const struct tree_place *place,
                        bool (*each)(void *arg, int pid), void *arg)
{
    DIR *d = opendir(place->inner);
    struct dirent *e;
    uint64_t pid;
    bool goes_on = true;

    while (d && goes_on && (e = readdir(d)) != NULL) {
        if (!str_to_u64(str_from(e->d_name), 10, &pid) || pid > INT32_MAX)
            continue;
        if (kill((pid_t)pid, 0) != 0 && errno == ESRCH)
            unlinkat(dirfd(d), e->d_name, 0);
        else
            goes_on = each(arg, (int)pid);
    }
    if (d)
        closedir(d);
}

static bool forget(void *arg, int pid)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%d",
             ((const struct tree_place *)arg)->inner, pid);
    unlink(path);
    return true;
}

void tree_place_remove(const struct tree_place *place)
{
    each_socket(place, forget, (void *)place);
    rmdir(place->inner);
    rmdir(place->outer);
}

static struct str read_proc(struct arena *a, int pid, const char *name)
{
    struct buf text = BUF_INIT(MAX_COMMAND);
    struct error err;
    struct str out;
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
    file_read(path, &text, &err); /* what did not fit is not needed */
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.data[i] < ' ')
            text.data[i] = ' ';
    out = arena_str(a, str_trim(buf_str(&text)));
    buf_release(&text);
    return out;
}

struct listing {
    struct arena *arena;
    struct tree_processes *out;
};

static bool add(void *arg, int pid)
{
    struct listing *l = arg;

    *vec_push(l->arena, &l->out->list) = (struct tree_process){
        .pid = pid,
        .name = read_proc(l->arena, pid, "comm"),
        .command = read_proc(l->arena, pid, "cmdline"),
    };
    return true;
}

static int by_pid(const void *a, const void *b)
{
    const struct tree_process *x = a, *y = b;

    return (x->pid > y->pid) - (x->pid < y->pid);
}

void tree_processes_list(const struct tree_place *place, struct arena *a,
                         struct tree_processes *out)
{
    struct listing l = {a, out};

    *out = (struct tree_processes){0};
    each_socket(place, add, &l);
    if (out->list.n)
        qsort(out->list.v, out->list.n, sizeof(out->list.v[0]), by_pid);
}

static bool note(void *arg, int pid)
{
    (void)pid;
    *(bool *)arg = true;
    return false;
}

bool tree_processes_any(const struct tree_place *place)
{
    bool any = false;

    each_socket(place, note, &any);
    return any;
}

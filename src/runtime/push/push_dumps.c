/*
 * A file belongs to this service if its name says so, and to the past if it is
 * older than this process and its own process is gone.  (In a container the
 * process id is the same every time, so the id alone says nothing.)
 */
#include "runtime/push/push_dumps.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "runtime/push/push_state.h"

#define MAX_DUMPS 16

static char directory[256];

void push_dumps_read_environment(void)
{
    const char *value = secure_getenv("PPROF_HEAP_DUMP_DIR");

    snprintf(directory, sizeof(directory), "%s", value ? value : "");
}

void push_dumps_prefix(const char *service, char *out, size_t size)
{
    snprintf(out, size, "heap.%s.", service);
    for (char *c = out; *c; c++)
        *c = *c == '/' ? '_' : *c;
}

/* "heap.SERVICE.PID.PERCENT.pb.gz"; the service may have dots, too. */
static bool parse_name(struct str name, int *pid, struct str *percent)
{
    char prefix[PUSH_DUMP_PREFIX_MAX];
    struct str rest, word;
    uint64_t n;

    push_dumps_prefix(push.options.target.service, prefix, sizeof(prefix));
    if (!str_has_prefix(name, str_from(prefix)))
        return false;
    rest = str_skip(name, strlen(prefix));
    if (!str_split(&rest, '.', &word) || !str_to_u64(word, 10, &n) || n == 0 ||
        n > INT32_MAX || !str_split(&rest, '.', percent))
        return false;
    *pid = (int)n;
    return str_eq(rest, STR("pb.gz"));
}

static bool is_of_the_past(const char *path, int pid)
{
    struct stat st;

    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
        return false;
    if ((int64_t)st.st_mtim.tv_sec * SECOND + st.st_mtim.tv_nsec >=
        push.started_ns)
        return false;
    return pid == getpid() || (kill(pid, 0) != 0 && errno == ESRCH);
}

/* True: it is in the queue. */
static bool enqueue(const char *path, struct str percent)
{
    struct push_profile p = {.type = "heap"};
    struct buf bytes = BUF_INIT(push.options.max_bytes);
    struct error err;
    bool ok = file_read(path, &bytes, &err) && bytes.len > 0;

    snprintf(p.path, sizeof(p.path), "%s", path);
    snprintf(p.note, sizeof(p.note), "memory limit %" STR_FMT "%%",
             STR_ARG(percent));
    p.bytes = buf_str(&bytes);
    if (ok)
        push_enqueue(&p);
    buf_release(&bytes);
    return ok;
}

void push_dumps_find(void)
{
    DIR *d = directory[0] ? opendir(directory) : NULL;
    struct str percent;
    struct dirent *e;
    char path[sizeof(directory) + sizeof(e->d_name) + 1];
    int found = 0, pid;

    while (d && found < MAX_DUMPS && (e = readdir(d)) != NULL) {
        if (!parse_name(str_from(e->d_name), &pid, &percent))
            continue;
        snprintf(path, sizeof(path), "%s/%s", directory, e->d_name);
        if (is_of_the_past(path, pid))
            found += enqueue(path, percent);
    }
    if (d)
        closedir(d);
}

void push_dumps_mark_sent(const char *path)
{
    char to[1024];

    snprintf(to, sizeof(to), "%s.sent", path);
    rename(path, to); /* if that fails it is pushed once more */
}

/*
 * Finding out how near the memory limit is, and writing the profile.  The
 * limits are read again at every look: a container's can change while it runs.
 * Nothing here allocates from the program's heap except for the profile itself,
 * which is written while there is still some memory left.
 */
#include "runtime/heap/heap_limit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "runtime/heap/heap_profile.h"
#include "runtime/push/push_dumps.h"
#include "runtime/push/push_labels.h"
#include "runtime/push/push_target.h"
#include "runtime/say.h"
#include "runtime/write/snapshot.h"

#define LOOK_NS      ((int64_t)500000000)
#define LOOK_NEAR_NS ((int64_t)50000000) /* within 10 % of a threshold */
#define MAX_DUMPS    8
#define MAX_BYTES    (64u << 20)
#define PUSH_NS      (10 * SECOND)

static struct {
    bool has_environment;
    unsigned at[MAX_DUMPS]; /* percent, rising */
    bool done[MAX_DUMPS];
    size_t n;
    char directory[256], service[128];
    bool has_collector, is_shared; /* with all that is pushed */
    struct push_target target;
    struct error error; /* why there is no target; "": there is one */
} limit;

static bool read_text(const char *path, char *out, size_t size)
{
    struct buf text = BUF_INIT(size - 1);
    struct error err;
    bool ok = file_read(path, &text, &err);

    if (ok) {
        memcpy(out, text.data ? text.data : "", text.len);
        out[text.len] = '\0';
    }
    buf_release(&text);
    return ok;
}

/* A file with one number; false also for "max". */
static bool read_number(const char *directory, const char *name, uint64_t *out)
{
    char path[768], text[64];

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    if (!read_text(path, text, sizeof(text)))
        return false;
    return str_to_u64(str_of(text, strcspn(text, "\n")), 10, out);
}

/* The line "KEY N" of a memory.stat; 0 when there is none. */
static uint64_t read_stat(const char *directory, const char *key)
{
    char path[768], text[8192];
    struct str rest, line, word;
    uint64_t n;

    snprintf(path, sizeof(path), "%s/memory.stat", directory);
    if (!read_text(path, text, sizeof(text)))
        return 0;
    rest = str_from(text);
    while (str_next_line(&rest, &line))
        if (str_split(&line, ' ', &word) && str_eq(word, str_from(key)) &&
            str_to_u64(line, 10, &n))
            return n;
    return 0;
}

/* Takes over a limit that is nearer. */
static void consider(struct memory_use *best, uint64_t used, uint64_t limit_at)
{
    if (limit_at == 0 || limit_at > (uint64_t)1 << 60)
        return; /* version 1 says "none" with a huge number */
    if (best->limit == 0 || (double)used / (double)limit_at >
                                (double)best->used / (double)best->limit)
        *best = (struct memory_use){used, limit_at};
}

struct cgroup_names {
    const char *limit, *used, *cache;
};

/* The group and all above it, as far as they can be seen. */
static void consider_groups(struct memory_use *best, const char *root,
                            struct str path, const struct cgroup_names *names)
{
    char directory[640];
    uint64_t used, at, cache;

    for (;;) {
        snprintf(directory, sizeof(directory), "%s%" STR_FMT, root,
                 STR_ARG(path));
        if (read_number(directory, names->limit, &at) &&
            read_number(directory, names->used, &used)) {
            cache = read_stat(directory, names->cache);
            consider(best, used > cache ? used - cache : 0, at);
        }
        if (path.n == 0)
            return;
        do
            path.n--;
        while (path.n && path.s[path.n] != '/');
    }
}

/* Lines "0::/path" (version 2) and "5:memory:/path" (version 1). */
static void consider_cgroups(struct memory_use *best, const char *root,
                             const char *file)
{
    static const struct cgroup_names v2 = {"memory.max", "memory.current",
                                           "inactive_file"};
    static const struct cgroup_names v1 = {"memory.limit_in_bytes",
                                           "memory.usage_in_bytes",
                                           "total_inactive_file"};
    char text[4096], root_v1[300];
    struct str rest, line, number, controllers;

    if (!read_text(file, text, sizeof(text)))
        return;
    snprintf(root_v1, sizeof(root_v1), "%s/memory", root);
    rest = str_from(text);
    while (str_next_line(&rest, &line)) {
        if (!str_split(&line, ':', &number) ||
            !str_split(&line, ':', &controllers))
            continue;
        if (str_eq(line, STR("/")))
            line = STR("");
        if (str_eq(number, STR("0")) && controllers.n == 0)
            consider_groups(best, root, line, &v2);
        else if (str_eq(controllers, STR("memory")))
            consider_groups(best, root_v1, line, &v1);
    }
}

static void consider_address_space(struct memory_use *best)
{
    struct rlimit as;
    char text[128];
    uint64_t pages;

    if (getrlimit(RLIMIT_AS, &as) != 0 || as.rlim_cur == RLIM_INFINITY ||
        !read_text("/proc/self/statm", text, sizeof(text)) ||
        !str_to_u64(str_of(text, strcspn(text, " ")), 10, &pages))
        return;
    consider(best, pages * (uint64_t)sysconf(_SC_PAGESIZE), as.rlim_cur);
}

bool heap_limit_read(const char *cgroup_root, const char *cgroup_file,
                     struct memory_use *out)
{
    struct memory_use best = {0, 0};

    consider_cgroups(&best, cgroup_root, cgroup_file);
    consider_address_space(&best);
    if (best.limit == 0)
        return false;
    *out = best;
    return true;
}

static void read_thresholds(struct str text)
{
    struct str word;
    uint64_t percent;

    while (limit.n < MAX_DUMPS && str_split(&text, ',', &word)) {
        size_t at = limit.n;

        if (str_has_suffix(word, STR("%")))
            word = str_first(word, word.n - 1);
        if (!str_to_u64(word, 10, &percent) || percent == 0 || percent > 100)
            continue;
        for (; at > 0 && limit.at[at - 1] > percent; at--)
            limit.at[at] = limit.at[at - 1];
        limit.at[at] = (unsigned)percent;
        limit.n++;
    }
}

static void copy(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text ? text : "");
}

static void read_target(void)
{
    const char *own = secure_getenv("PPROF_HEAP_DUMP_URL");
    const char *shared = secure_getenv("PPROF_COLLECTOR");

    limit.is_shared = !(own && *own);
    limit.has_collector = !limit.is_shared || (shared && *shared);
    if (limit.has_collector)
        push_target_read(&(struct push_target_options){.collector = own},
                         &limit.target, &limit.error);
}

bool heap_limit_is_set(void)
{
    if (!limit.has_environment) {
        limit.has_environment = true;
        read_thresholds(str_from(getenv("PPROF_HEAP_DUMP_AT")));
        copy(limit.directory, sizeof(limit.directory),
             getenv("PPROF_HEAP_DUMP_DIR"));
        push_service_read(NULL, secure_getenv, limit.service,
                          sizeof(limit.service));
        if (limit.n)
            read_target();
    }
    return limit.n && (limit.directory[0] || limit.has_collector);
}

static bool write_heap(struct buf *out, struct error *err)
{
    struct snapshot s;
    bool ok = heap_take(&s, false, err) && snapshot_write(&s, out, err);

    snapshot_release(&s);
    return ok;
}

static bool push(unsigned percent, struct str profile, struct error *err)
{
    char note[32];
    int64_t ignored;

    if (limit.error.text[0]) {
        *err = limit.error;
        return false;
    }
    snprintf(note, sizeof(note), "memory limit %u%%", percent);
    return push_send(&limit.target,
                     &(struct push_request){.type = "heap",
                                            .note = note,
                                            .profile = profile,
                                            .deadline_ns =
                                                clock_monotonic_ns() + PUSH_NS},
                     &ignored, err) == PUSH_STORED ||
           error_wrap(err, "%s", limit.target.shown);
}

/* The file first: there may be no time for more. */
static bool dump(unsigned percent, struct error *err)
{
    struct buf out = BUF_INIT(MAX_BYTES);
    char prefix[PUSH_DUMP_PREFIX_MAX], path[768] = "";
    bool ok = write_heap(&out, err);

    if (ok && limit.directory[0]) {
        push_dumps_prefix(limit.service, prefix, sizeof(prefix));
        snprintf(path, sizeof(path), "%s/%s%d.%u.pb.gz", limit.directory,
                 prefix, (int)getpid(), percent);
        ok = file_write_private(path, buf_str(&out), err);
    }
    if (ok && limit.has_collector) {
        ok = push(percent, buf_str(&out), err);
        if (ok && limit.is_shared && path[0])
            push_dumps_mark_sent(path);
    }
    buf_release(&out);
    return ok;
}

/* Who cannot write once will not at the next look either: once is all. */
static void dump_and_say(unsigned percent)
{
    struct error err;

    if (!dump(percent, &err))
        say_note("no heap profile at %u%% of the memory: %s", percent,
                 err.text);
}

int64_t heap_limit_look(void)
{
    struct memory_use use;
    double percent;
    unsigned due = 0;
    int64_t next = LOOK_NS;

    if (!heap_limit_read("/sys/fs/cgroup", "/proc/self/cgroup", &use))
        return LOOK_NS;
    percent = 100 * (double)use.used / (double)use.limit;
    for (size_t i = 0; i < limit.n; i++) {
        if (limit.done[i])
            continue;
        if (percent >= limit.at[i]) {
            limit.done[i] = true;
            due = limit.at[i];
        } else if (percent >= limit.at[i] - 10) {
            next = LOOK_NEAR_NS;
        }
    }
    if (due)
        dump_and_say(due);
    return next;
}

/*
 * A process is looked for one after another: few processes of a recording
 * generate code, and only these are looked up.
 */
#include "perf/jit.h"

#include <limits.h>
#include <unistd.h>

/* Recordings of a whole machine have thousands of processes. */
#define MAX_PROCESSES 4096

void perf_jit_init(struct perf_jit *j, struct arena *a, struct str hostname)
{
    char own[HOST_NAME_MAX + 1] = "";

    *j = (struct perf_jit){.arena = a};
    if (hostname.n && gethostname(own, sizeof(own) - 1) == 0)
        j->is_foreign = !str_eq(hostname, str_from(own));
}

void perf_jit_release(struct perf_jit *j)
{
    for (size_t i = 0; i < j->processes.n; i++)
        jit_map_release(&j->processes.v[i].map);
}

/* NULL: there are too many. */
static struct perf_jit_process *process_of(struct perf_jit *j, uint32_t pid)
{
    struct perf_jit_process *p;

    for (size_t i = 0; i < j->processes.n; i++)
        if (j->processes.v[i].pid == pid)
            return &j->processes.v[i];
    if (j->processes.n == MAX_PROCESSES)
        return NULL;
    p = vec_push(j->arena, &j->processes);
    *p = (struct perf_jit_process){.pid = pid};
    jit_map_init(&p->map);
    return p;
}

void perf_jit_note_file(struct perf_jit *j, uint32_t pid, struct str path)
{
    struct perf_jit_process *p =
        jit_is_dump_path(path, pid) ? process_of(j, pid) : NULL;

    if (!p || p->dump_path)
        return;
    p->dump_path = arena_cstr(j->arena, path);
    jit_map_release(&p->map); /* what was read without it */
    jit_map_init(&p->map);
    p->was_read = false;
}

/* Anonymous memory, and memory that is mapped twice through a file without a
 * name; a dump is mapped only to be noticed. */
bool perf_jit_may_hold(struct str path)
{
    static const char *const starts[] = {
        "//anon", "[", "/memfd:", "anon_inode", "/dev/zero", "/SYSV"};

    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
        if (str_has_prefix(path, str_from(starts[i])))
            return true;
    return path.n == 0;
}

bool perf_jit_find(struct perf_jit *j, uint32_t pid, uint64_t address,
                   struct jit_code *out)
{
    struct perf_jit_process *p = j->is_foreign ? NULL : process_of(j, pid);

    if (!p)
        return false;
    if (!p->was_read) {
        jit_map_read(&p->map, JIT_DIRECTORY, pid, p->dump_path);
        jit_map_finish(&p->map);
        p->was_read = true;
    }
    return jit_map_find(&p->map, address, out);
}

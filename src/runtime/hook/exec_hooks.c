/*
 * exec, wrapped: a process that becomes another program has its profiles
 * written first, and the program that follows is profiled, too.  libc's own
 * exec functions do not call each other by name, so each one is here.
 *
 * Only for the process that is profiled.  A child after vfork, or after a
 * fork that nobody profiles, goes straight on.  Async-signal-safe, as exec
 * must be.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/pages.h"
#include "elf/preload_check.h"
#include "pprof/pprof.h"
#include "runtime/say.h"
#include "runtime/hook/env.h"
#include "runtime/hook/exec_environment.h"
#include "runtime/hook/hook_next.h"
#include "runtime/hook/run_writer.h"
#include "runtime/own_code.h"

extern char **environ;

/* Where libc looks without PATH. */
#define DEFAULT_PATH "/bin:/usr/bin"

struct exec_call {
    const char *file;
    char *const *argv;
    char *const *envp;
    int fd, flags; /* of fexecve and execveat */
    bool in_path;  /* look the file up as a shell does */
    bool is_at;    /* execveat */
    bool is_by_fd; /* fexecve */
};

static hook_slot execve_slot, execvpe_slot, fexecve_slot, execveat_slot;

/* Now, because a handler or a child after vfork must not call dlsym. */
__attribute__((constructor(101))) static void find_all(void)
{
    hook_find(&execve_slot, "execve");
    hook_find(&execvpe_slot, "execvpe");
    hook_find(&fexecve_slot, "fexecve");
    hook_find(&execveat_slot, "execveat");
}

static int call_next(const struct exec_call *c, char *const *envp)
{
    int (*by_name)(const char *, char *const *, char *const *);
    int (*by_fd)(int, char *const *, char *const *);
    int (*at)(int, const char *, char *const *, char *const *, int);

    if (c->is_by_fd) {
        *(void **)&by_fd = hook_next(&fexecve_slot, "fexecve");
        return by_fd(c->fd, c->argv, envp);
    }
    if (c->is_at) {
        *(void **)&at = hook_next(&execveat_slot, "execveat");
        return at(c->fd, c->file, c->argv, envp, c->flags);
    }
    *(void **)&by_name = c->in_path ? hook_next(&execvpe_slot, "execvpe")
                                    : hook_next(&execve_slot, "execve");
    return by_name(c->file, c->argv, envp);
}

/* The file that exec will find; false: it will find none. */
static bool find_in_path(const char *name, char out[PATH_MAX])
{
    const char *path = getenv("PATH");
    struct str rest = str_from(path ? path : DEFAULT_PATH), directory;

    while (str_split(&rest, ':', &directory)) {
        snprintf(out, PATH_MAX, "%" STR_FMT "%s%s", STR_ARG(directory),
                 directory.n ? "/" : "", name);
        if (access(out, X_OK) == 0)
            return true;
    }
    return false;
}

static bool find_file(const struct exec_call *c, char out[PATH_MAX])
{
    if (c->is_by_fd || (c->is_at && c->file[0] == '\0'))
        snprintf(out, PATH_MAX, "/proc/self/fd/%d", c->fd);
    else if (c->is_at && c->file[0] != '/' && c->fd >= 0)
        snprintf(out, PATH_MAX, "/proc/self/fd/%d/%s", c->fd, c->file);
    else if (c->in_path && !strchr(c->file, '/'))
        return find_in_path(c->file, out);
    else
        snprintf(out, PATH_MAX, "%s", c->file);
    return access(out, X_OK) == 0;
}

static int run_exec(const struct exec_call *c)
{
    char path[PATH_MAX];
    const char *obstacle;
    bool was_finished = false;
    char **envp;
    int rc, saved;

    if (!env_is_profiled() || !find_file(c, path))
        return call_next(c, c->envp);
    obstacle = preload_obstacle(path);
    if (obstacle)
        say_note("becomes %s, which cannot be profiled: %s", c->file, obstacle);
    envp = obstacle == preload_other_libc
               ? NULL
               : exec_environment_make(c->envp, run_files_execs() + 1);
    if (run_writer_is_up())
        was_finished = run_writer_finish(RUN_EXECS, path, RUN_PATIENCE_NS);
    rc = call_next(c, envp ? envp : c->envp);
    saved = errno;
    if (was_finished)
        run_writer_resume();
    exec_environment_release(envp);
    errno = saved;
    return rc;
}

PPROF_API OWN_WRAPPER int execve(const char *path, char *const argv[],
                                 char *const envp[])
{
    return run_exec(
        &(struct exec_call){.file = path, .argv = argv, .envp = envp});
}

PPROF_API OWN_WRAPPER int execv(const char *path, char *const argv[])
{
    return run_exec(
        &(struct exec_call){.file = path, .argv = argv, .envp = environ});
}

PPROF_API OWN_WRAPPER int execvpe(const char *file, char *const argv[],
                                  char *const envp[])
{
    return run_exec(&(struct exec_call){
        .file = file, .argv = argv, .envp = envp, .in_path = true});
}

PPROF_API OWN_WRAPPER int execvp(const char *file, char *const argv[])
{
    return run_exec(&(struct exec_call){
        .file = file, .argv = argv, .envp = environ, .in_path = true});
}

PPROF_API OWN_WRAPPER int fexecve(int fd, char *const argv[],
                                  char *const envp[])
{
    return run_exec(&(struct exec_call){
        .fd = fd, .argv = argv, .envp = envp, .is_by_fd = true});
}

PPROF_API OWN_WRAPPER int execveat(int fd, const char *path, char *const argv[],
                                   char *const envp[], int flags)
{
    return run_exec(&(struct exec_call){.file = path,
                                        .argv = argv,
                                        .envp = envp,
                                        .fd = fd,
                                        .flags = flags,
                                        .is_at = true});
}

/* The arguments of execl as an array, and what follows their NULL.  A child
 * after vfork shares our memory, so what is allocated here would stay: only
 * very long lists are. */
struct arguments {
    char *few[64];
    char **v;
    size_t bytes; /* of v, if it is not `few` */
    char *const *envp;
};

static bool take_arguments(struct arguments *a, const char *first, va_list ap,
                           bool has_envp)
{
    size_t n = first ? 1 : 0;
    va_list again;

    va_copy(again, ap);
    while (first && va_arg(again, const char *))
        n++;
    va_end(again);
    a->envp = environ;
    a->v = a->few;
    a->bytes = 0;
    if (n >= sizeof(a->few) / sizeof(a->few[0])) {
        a->bytes = (n + 1) * sizeof(char *);
        a->v = pages_alloc(a->bytes);
    }
    if (!a->v) {
        errno = ENOMEM;
        return false;
    }
    a->v[0] = (char *)first;
    for (size_t i = 1; i <= n && first; i++)
        a->v[i] = va_arg(ap, char *);
    if (has_envp)
        a->envp = va_arg(ap, char *const *);
    return true;
}

static int run_listed(const char *file, const char *first, va_list ap,
                      bool has_envp, bool in_path)
{
    struct arguments a;
    int rc, saved;

    if (!take_arguments(&a, first, ap, has_envp))
        return -1;
    rc = run_exec(&(struct exec_call){
        .file = file, .argv = a.v, .envp = a.envp, .in_path = in_path});
    saved = errno;
    if (a.bytes)
        pages_free(a.v, a.bytes);
    errno = saved;
    return rc;
}

PPROF_API OWN_WRAPPER int execl(const char *path, const char *arg, ...)
{
    va_list ap;
    int rc;

    va_start(ap, arg);
    rc = run_listed(path, arg, ap, false, false);
    va_end(ap);
    return rc;
}

PPROF_API OWN_WRAPPER int execle(const char *path, const char *arg, ...)
{
    va_list ap;
    int rc;

    va_start(ap, arg);
    rc = run_listed(path, arg, ap, true, false);
    va_end(ap);
    return rc;
}

PPROF_API OWN_WRAPPER int execlp(const char *file, const char *arg, ...)
{
    va_list ap;
    int rc;

    va_start(ap, arg);
    rc = run_listed(file, arg, ap, false, true);
    va_end(ap);
    return rc;
}

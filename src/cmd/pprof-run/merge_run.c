/*
 * pprof-run is the reaper of all descendants (PR_SET_CHILD_SUBREAPER), so that
 * a daemon's end is seen as well.  Signals are not handled but waited for: the
 * loop below takes a child's end and a signal to pass on in the same place.
 */
#include "cmd/pprof-run/merge_run.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "cmd/pprof-run/options.h"
#include "cmd/pprof-run/tree_merge.h"
#include "cmd/pprof-run/tree_processes.h"

#define MAX_KINDS    8
#define MAX_FILE     ((size_t)256 << 20)
#define NOT_FOUND    127
#define NOT_EXECUTED 126

struct merge_run {
    struct tree_place place;
    char *names[MAX_KINDS]; /* what the user wants, NULL: nothing */
};

/* Passed on to the program if somebody sends them to pprof-run; those that a
 * terminal sends reach the program by themselves. */
static const int forwarded[] = {SIGINT,  SIGTERM, SIGHUP,
                                SIGQUIT, SIGUSR1, SIGUSR2};

struct merge_run *merge_run_new(struct error *err)
{
    struct merge_run *m = calloc(1, sizeof(*m));
    char path[PATH_MAX];

    if (!m || !tree_place_make(&m->place, err)) {
        free(m);
        return NULL;
    }
    for (size_t i = 0; run_options_files[i]; i++) {
        const char *name = getenv(run_options_files[i]);

        if (!name || !*name)
            continue;
        m->names[i] = strdup(name);
        snprintf(path, sizeof(path), "%s/%zu.%%p", m->place.inner, i);
        setenv(run_options_files[i], path, 1);
    }
    return m;
}

void merge_run_free(struct merge_run *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < MAX_KINDS; i++)
        free(m->names[i]);
    tree_place_remove(&m->place);
    free(m);
}

static pid_t start(char **argv, const sigset_t *mask)
{
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(argv[0], argv);
    fprintf(stderr, "pprof-run: %s: %s\n", argv[0], strerror(errno));
    _exit(errno == ENOENT ? NOT_FOUND : NOT_EXECUTED);
}

/* Takes all that have ended; false: no process is left. */
static bool reap(pid_t program, int *status)
{
    int ended;
    pid_t pid;

    while ((pid = waitpid(-1, &ended, WNOHANG)) > 0) {
        if (WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL)
            fprintf(stderr,
                    "pprof-run: process %d was killed by SIGKILL: its "
                    "profiles are lost\n",
                    (int)pid);
        if (pid == program)
            *status = ended;
    }
    return pid == 0 || errno != ECHILD;
}

static int wait_for_all(pid_t program, const sigset_t *wanted)
{
    int status = 0;
    siginfo_t info;

    while (reap(program, &status)) {
        if (sigwaitinfo(wanted, &info) > 0 && info.si_signo != SIGCHLD &&
            info.si_code != SI_KERNEL)
            kill(program, info.si_signo);
    }
    return status;
}

/* "0.4711" and "0.4711.exec1" are files of kind 0 and process 4711. */
static bool parse_name(const char *name, size_t kind, int *pid)
{
    struct str rest = str_from(name), number;
    uint64_t n;

    if (!str_split(&rest, '.', &number) || !str_to_u64(number, 10, &n) ||
        n != kind || !str_split(&rest, '.', &number) ||
        !str_to_u64(number, 10, &n) || n > INT_MAX)
        return false;
    *pid = (int)n;
    return true;
}

static void add_file(struct process_profiles *all, const char *path, int pid)
{
    struct buf bytes = BUF_INIT(MAX_FILE);
    struct error err;

    if (!file_read(path, &bytes, &err) ||
        !process_profiles_add(all, buf_str(&bytes), pid, STR(""), &err))
        fprintf(stderr, "pprof-run: process %d: %s\n", pid, err.text);
    buf_release(&bytes);
}

static void collect(const struct merge_run *m, size_t kind,
                    struct process_profiles *all)
{
    DIR *d = opendir(m->place.inner);
    struct dirent *e;
    char path[PATH_MAX];
    int pid;

    while (d && (e = readdir(d)) != NULL) {
        if (!parse_name(e->d_name, kind, &pid))
            continue;
        snprintf(path, sizeof(path), "%s/%s", m->place.inner, e->d_name);
        add_file(all, path, pid);
        unlink(path);
    }
    if (d)
        closedir(d);
}

static void merge_kind(const struct merge_run *m, size_t kind)
{
    struct process_profiles all = {0};
    struct buf out = BUF_INIT(MAX_FILE);
    struct error err;

    collect(m, kind, &all);
    if (!process_profiles_write(&all, 0, &out, &err) ||
        !file_write(m->names[kind], buf_str(&out), &err))
        fprintf(stderr, "pprof-run: no %s: %s\n", m->names[kind], err.text);
    buf_release(&out);
    process_profiles_release(&all);
}

int merge_run_wait(struct merge_run *m, char **argv)
{
    sigset_t wanted, before;
    int status = NOT_EXECUTED << 8;
    pid_t program;

    sigemptyset(&wanted);
    sigaddset(&wanted, SIGCHLD);
    for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
        sigaddset(&wanted, forwarded[i]);
    sigprocmask(SIG_BLOCK, &wanted, &before);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    program = start(argv, &before);
    if (program < 0)
        fprintf(stderr, "pprof-run: fork: %s\n", strerror(errno));
    else
        status = wait_for_all(program, &wanted);
    for (size_t i = 0; i < MAX_KINDS; i++)
        if (m->names[i])
            merge_kind(m, i);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

_Noreturn void merge_run_end_like(int status)
{
    static const struct rlimit no_core;

    assert(WIFEXITED(status) || WIFSIGNALED(status));

    if (WIFSIGNALED(status)) {
        setrlimit(RLIMIT_CORE, &no_core); /* the program has left one */
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

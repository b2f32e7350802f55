#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

extern char **environ;

/* Starts argv with these as stdin and stdout (-1: as ours). */
static bool start(char *const *argv, int in, int out, pid_t *pid,
                  struct error *err)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;

    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGINT);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_init(&actions);
    if (in >= 0)
        posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    if (out >= 0)
        posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    int failure =
        posix_spawnp(pid, argv[0], &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (failure == 0)
        return true;
    if (failure == ENOENT && !strchr(argv[0], '/'))
        return error_set(
            err, "exec: \"%s\": executable file not found in $PATH", argv[0]);
    return error_set_os(err, "fork/exec", argv[0], failure);
}

bool process_wait(pid_t pid, struct error *err)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return error_set_os(err, "wait", "process", errno);
    if (WIFSIGNALED(status))
        return error_set(err, "signal: %s", strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
        return error_set(err, "exit status %d", WEXITSTATUS(status));
    return true;
}

bool process_start(char *const *argv, pid_t *out, struct error *err)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    bool ok = start(argv, nothing, -1, out, err);

    if (nothing >= 0)
        close(nothing);
    return ok;
}

/* A file in memory that holds the bytes: unlike a pipe it can be filled
 * before anybody reads it. */
static int memory_file(struct str bytes, struct error *err)
{
    int fd = memfd_create("pprof", MFD_CLOEXEC);

    if (fd < 0) {
        error_set_os(err, "create", "memory file", errno);
        return -1;
    }
    if (file_write_fd(fd, "memory file", bytes, err) &&
        lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    close(fd);
    return -1;
}

bool process_filter(char *const *argv, struct str input, struct buf *out,
                    struct error *err)
{
    struct error read_error;
    int ends[2], in = memory_file(input, err);
    pid_t pid;

    if (in < 0)
        return false;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        close(in);
        return error_set_os(err, "pipe", argv[0], errno);
    }
    bool ok = start(argv, in, ends[1], &pid, err);
    close(in);
    close(ends[1]);
    bool whole = ok && file_read_fd(ends[0], argv[0], out, &read_error);
    close(ends[0]); /* before waiting: it may want to write more */
    ok = ok && process_wait(pid, err);
    if (ok && !whole)
        *err = read_error;
    return ok && whole;
}

#include "runtime/say.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_LINE 1024

static struct {
    _Atomic bool is_known;
    _Atomic dev_t device;
    _Atomic ino_t inode;
    char path[256]; /* of a terminal or a file; "" for anything else */
} beginning;

/* Kept from the first moment on: programs that set their process title write
 * over the text that program_invocation_short_name points to. */
static char program[64];

__attribute__((constructor(101))) static void keep_program_name(void)
{
    snprintf(program, sizeof(program), "%s", program_invocation_short_name);
}

const char *say_program(void)
{
    return program;
}

void say_begin(void)
{
    struct stat st = {0};
    ssize_t n = 0;

    fstat(STDERR_FILENO, &st); /* not there: nothing will be the same */
    if (S_ISREG(st.st_mode) || S_ISCHR(st.st_mode))
        n = readlink("/proc/self/fd/2", beginning.path,
                     sizeof(beginning.path) - 1);
    beginning.path[n > 0 ? n : 0] = '\0';
    beginning.device = st.st_dev;
    beginning.inode = st.st_ino;
    beginning.is_known = true;
}

static bool is_same_file(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && st.st_dev == beginning.device &&
           st.st_ino == beginning.inode;
}

/* The file or terminal that stderr was, opened again; -1 if it cannot be. */
static int reopen(void)
{
    int fd;

    if (beginning.path[0] != '/')
        return -1;
    fd = open(beginning.path, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK |
                                  O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && is_same_file(fd))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Where a line goes; what is not STDERR_FILENO is to be closed.  -1: nowhere.
 */
static int find_stderr(void)
{
    struct stat st;

    if (!beginning.is_known || is_same_file(STDERR_FILENO))
        return STDERR_FILENO;
    if (fstat(STDERR_FILENO, &st) == 0)
        return S_ISREG(st.st_mode) &&
                       (fcntl(STDERR_FILENO, F_GETFL) & O_APPEND) != 0
                   ? STDERR_FILENO
                   : -1;
    return reopen();
}

void say_line(struct str line)
{
    static const struct timespec at_once;
    sigset_t pipe, old, pending;
    bool was_pending;
    int fd = find_stderr();

    if (fd < 0)
        return;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe, &old);
    if (write(fd, line.s, line.n) < 0 && !was_pending)
        sigtimedwait(&pipe, NULL, &at_once); /* it was ours: take it away */
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (fd != STDERR_FILENO)
        close(fd);
}

void say_note(const char *fmt, ...)
{
    char line[MAX_LINE];
    va_list ap;
    int n = snprintf(line, sizeof(line), "pprof: %s (pid %d): ", program,
                     (int)getpid());

    va_start(ap, fmt);
    n += vsnprintf(line + n, sizeof(line) - (size_t)n, fmt, ap);
    va_end(ap);
    if (n > MAX_LINE - 2)
        n = MAX_LINE - 2;
    line[n] = '\n';
    say_line(str_of(line, (size_t)n + 1));
}

/*
 * fork and exec instead of posix_spawn, because of one call in between:
 * PR_SET_PDEATHSIG lets the kernel end kubectl when we are gone, however that
 * happened.  Between fork and exec only async-signal-safe functions run.
 *
 * kubectl stays in our process group: a credential plugin may ask for a
 * password on the terminal, and Ctrl-C reaches it, too.
 */
#include "kube/kubectl_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define STDERR_MAX  ((size_t)256 << 10)
#define POLL_MS     200
#define EXEC_FAILED 127

static bool is_stopped(const struct kubectl *k)
{
    return k->stop && *k->stop;
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || strchr("-_./:=,@%+", c);
}

/* As a shell would need it. */
static void add_word(struct buf *b, const char *word)
{
    bool plain = word[0] != '\0';

    for (const char *c = word; *c; c++)
        plain = plain && is_plain(*c);
    if (plain) {
        buf_add(b, str_from(word));
        return;
    }
    buf_add_char(b, '\'');
    for (const char *c = word; *c; c++) {
        if (*c == '\'')
            buf_add(b, STR("'\\''"));
        else
            buf_add_char(b, *c);
    }
    buf_add_char(b, '\'');
}

static void show(const struct kubectl *k, const char *const *argv)
{
    struct buf line = BUF_INIT((size_t)64 << 10);

    if (!k->show)
        return;
    for (size_t i = 0; argv[i]; i++) {
        if (i)
            buf_add_char(&line, ' ');
        add_word(&line, argv[i]);
    }
    k->show(k->show_arg, buf_cstr(&line));
    buf_release(&line);
}

static bool build(const struct kubectl *k, const char *const *arguments,
                  const char **argv, struct kubectl_failure *why)
{
    size_t n = 0;

    argv[n++] = k->program;
    for (size_t i = 0; i < k->n_flags && n < KUBECTL_MAX_ARGUMENTS; i++)
        argv[n++] = k->flags[i];
    for (size_t i = 0; arguments[i] && n < KUBECTL_MAX_ARGUMENTS; i++)
        argv[n++] = arguments[i];
    if (n == KUBECTL_MAX_ARGUMENTS) {
        kubectl_failure_set(why, KUBECTL_OTHER,
                            "too many arguments for kubectl");
        return false;
    }
    argv[n] = NULL;
    return true;
}

/* A file in memory with the input, or /dev/null. */
static int input_file(struct str input)
{
    int fd;

    if (input.n == 0)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    fd = memfd_create("kubectl-input", MFD_CLOEXEC);
    if (fd >= 0 && (write(fd, input.s, input.n) != (ssize_t)input.n ||
                    lseek(fd, 0, SEEK_SET) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

static void become(const char **argv, int in, int out, int err, pid_t parent)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) /* it ended before the line above */
        _exit(EXEC_FAILED);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    execvp(argv[0], (char *const *)argv);
    dprintf(STDERR_FILENO, "error: cannot run %s: %s\n", argv[0],
            strerror(errno));
    _exit(EXEC_FAILED);
}

static bool out_of_files(struct kubectl_failure *why)
{
    kubectl_failure_set(why, KUBECTL_OTHER, "cannot start kubectl: %s",
                        strerror(errno));
    return false;
}

bool kubectl_start(const struct kubectl *k, const char *const *arguments,
                   struct str input, struct kubectl_process *out,
                   struct kubectl_failure *why)
{
    const char *argv[KUBECTL_MAX_ARGUMENTS + 1];
    int in, outs[2], errs[2];
    pid_t parent = getpid();

    if (!build(k, arguments, argv, why))
        return false;
    show(k, argv);
    in = input_file(input);
    if (in < 0 || pipe2(outs, O_CLOEXEC) != 0)
        return out_of_files(why);
    if (pipe2(errs, O_CLOEXEC) != 0) {
        close(outs[0]), close(outs[1]), close(in);
        return out_of_files(why);
    }
    out->pid = fork();
    if (out->pid == 0)
        become(argv, in, outs[1], errs[1], parent);
    close(in), close(outs[1]), close(errs[1]);
    out->out = outs[0], out->err = errs[0];
    if (out->pid < 0) {
        close(outs[0]), close(errs[0]);
        return out_of_files(why);
    }
    return true;
}

/* One read of an end that is ready; closes it at its end. */
static int take(int *fd, struct buf *to)
{
    char piece[32768];
    ssize_t n = read(*fd, piece, sizeof(piece));

    if (n > 0) {
        buf_add_bytes(to, piece, (size_t)n);
        return (int)n;
    }
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    close(*fd);
    *fd = -1;
    return 0;
}

int kubectl_read(struct kubectl_process *p, int timeout_ms, struct buf *out,
                 struct buf *err)
{
    struct pollfd fds[2] = {{p->out, POLLIN, 0}, {p->err, POLLIN, 0}};
    int got = 0;

    if (p->out < 0 && p->err < 0)
        return -1;
    if (poll(fds, 2, timeout_ms) <= 0)
        return 0;
    if (fds[0].revents)
        got += take(&p->out, out);
    if (fds[1].revents)
        got += take(&p->err, err);
    return p->out < 0 && p->err < 0 && got == 0 ? -1 : got;
}

static int wait_for(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int kubectl_end(struct kubectl_process *p)
{
    int code = 0;

    if (p->pid > 0) {
        kill(p->pid, SIGTERM);
        code = wait_for(p->pid);
    }
    if (p->out >= 0)
        close(p->out);
    if (p->err >= 0)
        close(p->err);
    *p = (struct kubectl_process){0, -1, -1};
    return code;
}

static bool finish(const struct kubectl *k, struct kubectl_process *p,
                   struct buf *out, const struct buf *said,
                   struct kubectl_failure *why)
{
    bool stopped = is_stopped(k), ended = p->out < 0 && p->err < 0;
    int code;

    if (ended) {
        code = wait_for(p->pid);
        p->pid = 0;
    } else {
        code = -1;
    }
    kubectl_end(p);
    if (stopped)
        kubectl_failure_set(why, KUBECTL_STOPPED, "interrupted");
    else if (!buf_ok(out))
        kubectl_failure_set(why, KUBECTL_OTHER,
                            "the reply is larger than %zu bytes", out->max);
    else if (code != 0)
        kubectl_failure_read(buf_str(said), why);
    return !stopped && buf_ok(out) && code == 0;
}

bool kubectl_run(const struct kubectl *k, const char *const *arguments,
                 struct str input, struct buf *out, struct kubectl_failure *why)
{
    struct buf said = BUF_INIT(STDERR_MAX);
    struct kubectl_process p;

    if (!kubectl_start(k, arguments, input, &p, why))
        return false;
    while (!is_stopped(k) && buf_ok(out) &&
           kubectl_read(&p, POLL_MS, out, &said) >= 0)
        ;
    bool ok = finish(k, &p, out, &said, why);
    buf_release(&said);
    return ok;
}

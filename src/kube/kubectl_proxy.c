/*
 * base/process.h starts programs for a moment; this one has to die with us,
 * which posix_spawn cannot arrange, and its words are wanted when it fails.
 * Its stderr is a file in our private directory: a pipe would have to be
 * read all the time, and nothing waits if it fills.
 */
#include "kube/kubectl_proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"

#define LOOK_AGAIN_NS  (SECOND / 20)
#define FIRST_PAUSE_NS SECOND
#define LAST_PAUSE_NS  (60 * SECOND)

struct kubectl_proxy {
    char *program, *kubeconfig, *context; /* NULL: the default */
    char dir[64], socket[96], words[96];
    pid_t pid; /* 0: none */
    bool is_ready;
    int64_t due_ns, pause_ns;
    struct error failure;
};

static char *copy(const char *text)
{
    return text && *text ? strdup(text) : NULL;
}

struct kubectl_proxy *kubectl_proxy_new(const char *program,
                                        const char *kubeconfig,
                                        const char *context, struct error *err)
{
    struct kubectl_proxy *p = calloc(1, sizeof(*p));

    if (!p) {
        error_set(err, "out of memory");
        return NULL;
    }
    snprintf(p->dir, sizeof(p->dir), "/tmp/pprof-kubectl-XXXXXX");
    if (!mkdtemp(p->dir)) { /* mode 0700 */
        error_set_os(err, "mkdir", p->dir, errno);
        free(p);
        return NULL;
    }
    snprintf(p->socket, sizeof(p->socket), "%s/socket", p->dir);
    snprintf(p->words, sizeof(p->words), "%s/stderr", p->dir);
    p->program = copy(program);
    p->kubeconfig = copy(kubeconfig);
    p->context = copy(context);
    p->pause_ns = FIRST_PAUSE_NS;
    return p;
}

static void stop(struct kubectl_proxy *p)
{
    if (p->pid) {
        kill(p->pid, SIGKILL); /* it has nothing to save */
        while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    p->pid = 0;
    p->is_ready = false;
    unlink(p->socket);
}

void kubectl_proxy_free(struct kubectl_proxy *p)
{
    if (!p)
        return;
    stop(p);
    unlink(p->words);
    rmdir(p->dir);
    free(p->program);
    free(p->kubeconfig);
    free(p->context);
    free(p);
}

const char *kubectl_proxy_socket(const struct kubectl_proxy *p)
{
    return p->socket;
}

struct command {
    const char *argv[12];
    char socket[128], kubeconfig[4200], context[512];
};

static void make_command(const struct kubectl_proxy *p, struct command *c)
{
    int n = 0;

    *c = (struct command){0};
    snprintf(c->socket, sizeof(c->socket), "--unix-socket=%s", p->socket);
    c->argv[n++] = p->program ? p->program : "kubectl";
    c->argv[n++] = "proxy";
    c->argv[n++] = c->socket;
    c->argv[n++] = "--accept-paths=^/api/v1/(namespaces/[^/]+/)?"
                   "(pods|secrets/[^/]+)$";
    c->argv[n++] = "--reject-methods=^(POST|PUT|PATCH|DELETE)$";
    if (p->kubeconfig) {
        snprintf(c->kubeconfig, sizeof(c->kubeconfig), "--kubeconfig=%s",
                 p->kubeconfig);
        c->argv[n++] = c->kubeconfig;
    }
    if (p->context) {
        snprintf(c->context, sizeof(c->context), "--context=%s", p->context);
        c->argv[n++] = c->context;
    }
}

/* In the child: only what is safe after fork in a program with threads. */
static void become(const struct command *c, int nothing, int words,
                   pid_t parent)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    setpgid(0, 0); /* Ctrl-C is ours to handle */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    dup2(words, STDERR_FILENO);
    execvp(c->argv[0], (char *const *)c->argv);
    dprintf(STDERR_FILENO, "cannot run %s: %s", c->argv[0], strerror(errno));
    _exit(127);
}

static bool start(struct kubectl_proxy *p, struct error *err)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    int words = open(p->words, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct command command;
    pid_t parent = getpid();

    make_command(p, &command);
    unlink(p->socket);
    p->pid = nothing < 0 || words < 0 ? -1 : fork();
    if (p->pid == 0)
        become(&command, nothing, words, parent);
    if (nothing >= 0)
        close(nothing);
    if (words >= 0)
        close(words);
    if (p->pid > 0)
        return true;
    p->pid = 0;
    return error_set_os(err, "start", command.argv[0], errno);
}

static bool listens(const struct kubectl_proxy *p)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool ok;

    memcpy(address.sun_path, p->socket, strlen(p->socket) + 1);
    ok = fd >= 0 &&
         connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
    if (fd >= 0)
        close(fd);
    return ok;
}

/* It has ended: what it said last, and a pause. */
static void note_end(struct kubectl_proxy *p, int64_t now_ns)
{
    struct buf text = BUF_INIT((size_t)64 << 10);
    struct error ignored;
    struct str rest, line, last = STR("it ended without a message");

    file_read(p->words, &text, &ignored);
    rest = buf_str(&text);
    while (str_next_line(&rest, &line))
        if (str_trim(line).n)
            last = str_trim(line);
    error_set(&p->failure, "kubectl proxy: %" STR_FMT, STR_ARG(last));
    buf_release(&text);
    p->pid = 0;
    p->is_ready = false;
    p->due_ns = now_ns + p->pause_ns;
    if (p->pause_ns < LAST_PAUSE_NS)
        p->pause_ns *= 2;
}

bool kubectl_proxy_is_ready(struct kubectl_proxy *p, int64_t now_ns,
                            int64_t *again_ns, struct error *err)
{
    if (p->pid && waitpid(p->pid, NULL, WNOHANG) == p->pid)
        note_end(p, now_ns);
    if (!p->pid && now_ns >= p->due_ns && !start(p, &p->failure))
        p->due_ns = now_ns + p->pause_ns;
    if (p->pid && !p->is_ready && listens(p)) {
        p->is_ready = true;
        p->pause_ns = FIRST_PAUSE_NS;
    }
    if (p->is_ready)
        return true;
    *again_ns = p->pid ? now_ns + LOOK_AGAIN_NS : p->due_ns;
    *err = p->failure;
    return false;
}

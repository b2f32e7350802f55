/*
 * Life of the server process: it leaves the program's process group and closes
 * what it has inherited, tells pprof-run through a pipe whether it listens, and
 * then waits for the end of the program and of every process that serves.
 */
#include "cmd/pprof-run/tree_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "cmd/pprof-run/tree_handler.h"
#include "cmd/pprof-run/tree_processes.h"
#include "http/access/guard.h"
#include "http/server/server.h"
#include "runtime/endpoint/audit.h"
#include "runtime/endpoint/serve_options.h"

/* A daemon may take so long to serve after the process that started it has
 * ended. */
#define GRACE_MS 1000
#define LOOK_MS  500
#define WORKERS  8

struct tree {
    struct serve_options options;
    struct tree_place place;
    struct tree_handler handler;
    struct guard *guard;
    struct http_server *server;
    const char *program;
    pid_t main_pid;
};

static enum http_admission admit(struct http_exchange *x, bool may_wait,
                                 void *arg)
{
    struct tree *t = arg;

    return guard_admit(t->guard, x, may_wait);
}

static void handle(struct http_exchange *x, void *arg)
{
    struct tree *t = arg;
    int64_t start = clock_monotonic_ns();

    tree_handle(&t->handler, x);
    if (x->status == 200)
        audit_write(&t->options, x, clock_monotonic_ns() - start);
}

static bool answer_probe(struct http_exchange *x, void *arg)
{
    struct str path = x->request->path;

    (void)arg;
    if (!str_eq(path, STR("/healthz")) && !str_eq(path, STR("/readyz")))
        return false;
    http_exchange_header(x, "Content-Type", STR("text/plain; charset=utf-8"));
    buf_add(&x->body, STR("ok"));
    return true;
}

static void say(void *arg, const char *words)
{
    (void)arg;
    fprintf(stderr, "pprof-run: %s\n", words);
}

static bool listen_at(struct tree *t, struct error *err)
{
    const struct serve_options *o = &t->options;
    struct http_limits limits = serve_options_limits(o, WORKERS);
    struct tls_files tls = {o->tls_cert, o->tls_key, o->client_ca};

    t->handler = (struct tree_handler){.place = &t->place,
                                       .main_pid = t->main_pid,
                                       .max_reply = o->max_reply_bytes,
                                       .max_seconds = o->max_seconds};
    t->guard = serve_options_new_guard(o, say, err);
    if (t->guard)
        t->server = http_server_new(
            &(struct http_server_options){.address = o->address,
                                          .unix_mode = o->unix_mode,
                                          .tls = o->tls_cert ? &tls : NULL,
                                          .limits = &limits,
                                          .handler = handle,
                                          .admit = admit,
                                          .at_once = answer_probe,
                                          .arg = t,
                                          .say = say},
            err);
    return t->server != NULL;
}

static void announce(const struct tree *t)
{
    const char *address = http_server_address(t->server);
    bool is_unix = strncmp(address, "unix:", 5) == 0;

    fprintf(stderr,
            "Starting profiling endpoint at %s%s/debug/pprof/ for %s (pid %d) "
            "and its child processes\n",
            is_unix               ? "unix://"
            : t->options.tls_cert ? "https://"
                                  : "http://",
            is_unix ? address + 5 : address, t->program, (int)t->main_pid);
}

static void close_to_null(int fd)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null >= 0) {
        dup2(null, fd);
        close(null);
    }
}

/* Closes everything inherited that others may wait for: pipes, the terminal,
 * locks.  Leaves the process group, so that it does not get the program's
 * signals. */
static void detach(int keep)
{
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};

    setsid();
    prctl(PR_SET_NAME, "pprof-tree", 0, 0, 0);
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        signal(ignored[i], SIG_IGN);
    close_to_null(STDIN_FILENO);
    close_to_null(STDOUT_FILENO);
    dup2(keep, 3);
    fcntl(3, F_SETFD, FD_CLOEXEC);
#ifdef SYS_close_range
    syscall(SYS_close_range, 4, ~0u, 0);
#endif
    if (chdir("/") != 0)
        return; /* a file system that cannot be unmounted, then */
}

/* Until the program has ended, or for ms. */
static void wait_for_program(int pidfd, pid_t pid, int ms)
{
    struct pollfd p = {.fd = pidfd, .events = POLLIN};

    if (pidfd >= 0)
        poll(&p, 1, -1);
    else
        while (kill(pid, 0) == 0 || errno != ESRCH)
            poll(NULL, 0, ms);
}

static void serve_until_the_end(struct tree *t)
{
    int pidfd = (int)syscall(SYS_pidfd_open, t->main_pid, 0);
    int quiet_ms = 0;

    wait_for_program(pidfd, t->main_pid, LOOK_MS);
    close_to_null(STDERR_FILENO);
    while (quiet_ms < GRACE_MS) {
        quiet_ms = tree_processes_any(&t->place) ? 0 : quiet_ms + LOOK_MS;
        poll(NULL, 0, LOOK_MS);
    }
    http_server_free(t->server);
    tree_place_remove(&t->place);
}

/* The pipe gets the words of an error, or is closed without any. */
static _Noreturn void run_server(struct tree *t, int result)
{
    struct error err;

    detach(result);
    if (!listen_at(t, &err)) {
        file_write_fd(3, "the result", str_from(err.text), &err);
        tree_place_remove(&t->place);
        _exit(1);
    }
    announce(t);
    close(3);
    serve_until_the_end(t);
    _exit(0);
}

/* Twice, so that the server is nobody's child. */
static bool start_process(struct tree *t, struct error *err)
{
    struct buf said = BUF_INIT(sizeof(err->text) - 1);
    int result[2];
    pid_t pid;
    bool ok;

    if (pipe2(result, O_CLOEXEC) != 0)
        return error_set_os(err, "make", "a pipe", errno);
    pid = fork();
    if (pid == 0) {
        close(result[0]);
        if (fork() == 0)
            run_server(t, result[1]);
        _exit(0);
    }
    close(result[1]);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    file_read_fd(result[0], "the result", &said, err);
    close(result[0]);
    ok = pid > 0 && said.len == 0;
    if (pid < 0)
        error_set_os(err, "fork", "the endpoint", errno);
    else if (said.len)
        error_set(err, "%s", buf_cstr(&said));
    buf_release(&said);
    return ok;
}

/* What the endpoint does for all processes, they need not do. */
static bool set_environment(const struct tree *t)
{
    static const char *const ours[] = {
        "PPROF_TLS_CERT",   "PPROF_TLS_KEY",   "PPROF_CLIENT_CA",
        "PPROF_TOKEN_FILE", "PPROF_HOSTS",     "PPROF_CLIENT_ALLOW",
        "PPROF_INSECURE",   "PPROF_UNIX_MODE", "PPROF_KUBERNETES"};
    char address[256];

    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        unsetenv(ours[i]);
    snprintf(address, sizeof(address), "unix:%s/%%p", t->place.inner);
    return setenv("PPROF_ADDR", address, 1) == 0 &&
           setenv("PPROF_MAX_REQUESTS", "0", 1) == 0 &&
           setenv("PPROF_AUDIT", "off", 1) == 0 &&
           setenv("PPROF_QUIET", "1", 1) == 0;
}

bool tree_server_start(const char *program, struct error *err)
{
    static struct tree t;
    bool ok;

    t.program = program;
    t.main_pid = getpid();
    if (!serve_options_read(NULL, &t.options, err) ||
        !tree_place_make(&t.place, err))
        return false;
    ok = start_process(&t, err);
    if (!ok)
        return false;
    return set_environment(&t) || error_set(err, "out of memory");
}

/*
 * The child of fork(2) sees the shell's profile without copying it: pages are
 * copied only where the report changes them.
 */
#include "cmd/pprof/job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/pprof/interrupt.h"
#include "cmd/pprof/output.h"
#include "cmd/pprof/ui.h"

/* The child: one report, then the end. */
static _Noreturn void make(const struct profile *p,
                           const struct shell_command *c, struct str tools,
                           const char *viewed, int out)
{
    struct output_request request = {
        .command = c->command,
        .argument = c->argument,
        .config = &c->config,
        .tools = tools,
        .in_shell = true,
        .piped = c->pipe.n > 0,
        .viewed = viewed,
    };
    struct error err;

    signal(SIGINT, SIG_DFL);
    if (out >= 0)
        dup2(out, STDOUT_FILENO);
    /* The profile is ours now: the parent sees none of our changes. */
    if (!output_report((struct profile *)p, &request, &err)) {
        ui_complain("%s", err.text);
        _exit(EXIT_FAILURE);
    }
    _exit(EXIT_SUCCESS);
}

static pid_t start_pager(struct str program, int in)
{
    struct arena *a = arena_new();
    const char *text = arena_cstr(a, program);
    pid_t pid = fork();

    if (pid == 0) {
        signal(SIGINT, SIG_DFL);
        dup2(in, STDIN_FILENO);
        execl("/bin/sh", "sh", "-c", text, (char *)NULL);
        _exit(127);
    }
    arena_free(a);
    return pid;
}

static int wait_for(pid_t pid)
{
    int status = 0;

    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

static void tell_end(int status)
{
    if (!WIFSIGNALED(status) || WTERMSIG(status) == SIGPIPE)
        return;
    if (WTERMSIG(status) == SIGINT)
        ui_write(STR("\n"));
    else
        ui_complain("the report ended by signal: %s",
                    strsignal(WTERMSIG(status)));
}

void job_run(const struct profile *p, const struct shell_command *command,
             struct str tools, const char *viewed)
{
    int ends[2] = {-1, -1};
    pid_t pager = 0;

    if (command->pipe.n && pipe2(ends, O_CLOEXEC) != 0) {
        ui_complain("pipe: %s", strerror(errno));
        return;
    }
    pid_t maker = fork();
    if (maker == 0)
        make(p, command, tools, viewed, ends[1]);
    if (maker < 0)
        ui_complain("fork: %s", strerror(errno));
    if (command->pipe.n) {
        pager = start_pager(command->pipe, ends[0]);
        close(ends[0]);
        close(ends[1]);
    }
    tell_end(wait_for(maker));
    wait_for(pager);
    interrupt_take(); /* it was meant for the report */
}

/*
 * Computes for 100 ms and ends with 7, in one of many ways: `endings exit`,
 * quick_exit, _exit, _Exit, or `handler`, _exit in a signal handler.  Links
 * nothing of ours; run it under pprof-run.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void on_signal(int sig)
{
    (void)sig;
    _exit(7);
}

/* Children that end must not write the parent's profile. */
static void make_children(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
    pid = vfork();
    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    struct timespec t = {0, 0};

    make_children();
    while (t.tv_sec == 0 && t.tv_nsec < 100000000)
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    if (strcmp(way, "exit") == 0)
        exit(7);
    if (strcmp(way, "quick_exit") == 0)
        quick_exit(7);
    if (strcmp(way, "_exit") == 0)
        _exit(7);
    if (strcmp(way, "_Exit") == 0)
        _Exit(7);
    signal(SIGTERM, on_signal);
    raise(SIGTERM);
    return 1;
}

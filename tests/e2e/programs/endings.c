/*
 * Computes for 100 ms and ends in one of many ways, most of them with exit
 * code 7.  Links nothing of ours; run it under pprof-run.
 *
 *     endings exit | quick_exit | _exit | _Exit
 *     endings handler            _exit in a handler that the program has set
 *     endings signal N           sends itself signal N
 *     endings segv | abort       crashes
 *     endings overflow           crashes without a stack for a handler
 *     endings exec | execl       becomes "endings after"
 *     endings badexec            tries to become a file that is no program
 *     endings fork | daemon      goes on in a child, which ends with exit
 *     endings actions            prints what it sees of its signal handlers
 */
#include <signal.h>
#include <stdio.h>
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

__attribute__((noinline)) static void compute(void)
{
    struct timespec start, t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    while ((t.tv_sec - start.tv_sec) * 1000000000 + t.tv_nsec - start.tv_nsec <
           100000000);
}

__attribute__((noinline)) static void after_exec(void)
{
    compute();
}

__attribute__((noinline)) static void in_child(void)
{
    compute();
}

static int overflow(volatile char *above)
{
    volatile char here[4096];

    here[0] = above[0];
    return here[0] ? 0 : overflow(here) + here[0];
}

static void print_action(const char *when, int sig)
{
    struct sigaction now;

    sigaction(sig, NULL, &now);
    printf("%s: %s\n", when,
           now.sa_handler == SIG_DFL   ? "default"
           : now.sa_handler == SIG_IGN ? "ignored"
                                       : "handler");
}

/* A program that looks before it sets, as many do. */
static void print_actions(void)
{
    struct sigaction mine = {.sa_handler = on_signal}, was;

    print_action("at first", SIGTERM);
    print_action("SIGHUP", SIGHUP);
    sigaction(SIGTERM, &mine, &was);
    print_action("with its own", SIGTERM);
    sigaction(SIGTERM, &was, NULL);
    print_action("with the old one again", SIGTERM);
    printf("signal() says %s\n",
           signal(SIGTERM, on_signal) == SIG_DFL ? "default" : "handler");
    printf("signal() says %s\n",
           signal(SIGTERM, SIG_DFL) == on_signal ? "handler" : "another");
    fflush(stdout);
    raise(SIGTERM);
}

static void crash(const char *way)
{
    static int *volatile nowhere;
    char here = 0;

    if (strcmp(way, "segv") == 0)
        *nowhere = 1;
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "overflow") == 0)
        exit(overflow(&here));
}

static void go_on_elsewhere(char **argv)
{
    char word[] = "after", *const after[] = {argv[0], word, NULL};

    if (strcmp(argv[1], "exec") == 0)
        execv("/proc/self/exe", after);
    if (strcmp(argv[1], "execl") == 0)
        execlp(argv[0], argv[0], "after", (char *)NULL);
    if (strcmp(argv[1], "badexec") == 0) {
        execv(argv[2], after);
        after_exec();
        exit(7);
    }
    if (strcmp(argv[1], "fork") == 0) {
        if (fork() == 0) {
            in_child();
            exit(7);
        }
        wait(NULL);
        exit(7);
    }
    if (strcmp(argv[1], "daemon") == 0 && daemon(1, 1) == 0) {
        in_child();
        exit(7);
    }
}

static void end(const char *way)
{
    if (strcmp(way, "exit") == 0)
        exit(7);
    if (strcmp(way, "quick_exit") == 0)
        quick_exit(7);
    if (strcmp(way, "_exit") == 0)
        _exit(7);
    if (strcmp(way, "_Exit") == 0)
        _Exit(7);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";

    if (strcmp(way, "after") == 0) {
        after_exec();
        return 7;
    }
    make_children();
    compute();
    end(way);
    crash(way);
    if (argc > 1)
        go_on_elsewhere(argv);
    if (strcmp(way, "actions") == 0)
        print_actions();
    if (strcmp(way, "signal") == 0) {
        raise((int)strtol(argv[2], NULL, 10));
        return 1;
    }
    signal(SIGTERM, on_signal);
    raise(SIGTERM);
    return 1;
}

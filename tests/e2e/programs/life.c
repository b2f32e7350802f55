/*
 * What programs do with what belongs to the process, and a profiler in it
 * must live with.  Links nothing of ours; run it under pprof-run.  Computes
 * for 300 ms of CPU time in work(), and for as long in a thread in
 * work_in_thread(); "ok" and status 0 mean that it was not disturbed.
 *
 *     life fds HOW [SECONDS]   closes all file descriptors from 3 on, in
 *                    one of the ways below, takes new ones and works
 *     life masks     blocks all signals in all threads
 *     life words     blocks SIGPROF alone, because it waits for it
 *     life cancel    threads that are cancelled and return all the same
 *     life last      ends the first thread and goes on in another
 *     life once      raises SIGTERM in a handler that is reset when called
 *     life iso       the same with the signal() of strict ISO C
 *     life realtime  ends by SIGRTMIN
 *     life crash     writes to address 0
 *     life nopath    becomes "life after" without PATH
 */

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORK_NS 300000000L
#define MAX_FD  1024
#define NEW_FDS 40
#define LAPS    300

static long cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000 + t.tv_nsec;
}

static void burn(long ns)
{
    long end = cpu_ns() + ns;

    while (cpu_ns() < end)
        ;
}

__attribute__((noinline)) static void work(void)
{
    burn(WORK_NS);
}

__attribute__((noinline)) static void *work_in_thread(void *arg)
{
    burn(WORK_NS);
    return arg;
}

static void work_in_both(void)
{
    pthread_t t;

    if (pthread_create(&t, NULL, work_in_thread, NULL) != 0)
        exit(1);
    work();
    pthread_join(t, NULL);
}

static int done(bool ok)
{
    puts(ok ? "ok" : "disturbed");
    return !ok;
}

/* --- file descriptors ------------------------------------------------------
 */

static void close_all(const char *how)
{
    if (strcmp(how, "closefrom") == 0)
        closefrom(3);
    if (strcmp(how, "close_range") == 0)
        close_range(3, ~0u, 0);
    for (int fd = 3; fd < MAX_FD; fd++) {
        if (strcmp(how, "close") == 0)
            close(fd);
        if (strcmp(how, "syscall") == 0)
            syscall(SYS_close, fd);
        if (strcmp(how, "dup2") == 0 && fd < 32)
            dup2(1, fd);
    }
}

static bool is_whole(const int *fds)
{
    for (int i = 0; i < NEW_FDS; i++)
        if (fcntl(fds[i], F_GETFD) < 0)
            return false;
    return true;
}

/* A forked child closes what it has inherited of ours, and nothing else. */
static bool child_is_whole(const int *fds)
{
    pid_t pid = fork();
    int status = 1;

    if (pid == 0)
        _exit(!is_whole(fds));
    waitpid(pid, &status, 0);
    return status == 0;
}

static bool epoll_works(int epoll, int fd)
{
    struct epoll_event e = {.events = EPOLLIN, .data.fd = 4711};
    int ends[2];
    bool ok;

    if (pipe(ends) != 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &e) != 0)
        return false;
    (void)!write(ends[1], "x", 1);
    ok = epoll_wait(epoll, &e, 1, 1000) == 1 && e.data.fd == 4711;
    close(ends[0]);
    close(ends[1]);
    return ok && fcntl(fd, F_GETFD) >= 0;
}

static int with_fds(const char *how, unsigned seconds)
{
    int fds[NEW_FDS];
    bool ok = true;

    close_all(how);
    for (int i = 0; i < NEW_FDS; i++)
        fds[i] = i % 2 ? open("/dev/null", O_RDWR) : epoll_create1(0);
    work_in_both();
    fflush(stdout);
    ok = child_is_whole(fds) && is_whole(fds) && epoll_works(fds[0], fds[1]);
    sleep(seconds);
    return done(ok && is_whole(fds));
}

/* --- signals ---------------------------------------------------------------
 */

static int with_masks(void)
{
    sigset_t all, crashes;

    /* As many programs do, all but those of crashes. */
    sigfillset(&all);
    sigemptyset(&crashes);
    sigaddset(&crashes, SIGSEGV);
    sigaddset(&crashes, SIGBUS);
    sigaddset(&crashes, SIGFPE);
    sigaddset(&crashes, SIGILL);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    pthread_sigmask(SIG_UNBLOCK, &crashes, NULL);
    work_in_both();
    return done(true);
}

static int with_words(void)
{
    sigset_t set, was;
    int sig = 0;

    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    sigprocmask(SIG_BLOCK, &set, NULL);
    sigprocmask(SIG_BLOCK, NULL, &was);
    kill(getpid(), SIGPROF);
    return done(sigismember(&was, SIGPROF) && sigwait(&set, &sig) == 0 &&
                sig == SIGPROF);
}

/* Cancelled before it starts to work, and with nowhere to end. */
static void *outlive_cancellation(void *arg)
{
    burn(1000000);
    return arg;
}

static int with_cancelled_threads(void)
{
    for (int i = 0; i < LAPS; i++) {
        pthread_t t;

        if (pthread_create(&t, NULL, outlive_cancellation, NULL) != 0)
            return 1;
        pthread_cancel(t);
        pthread_join(t, NULL);
    }
    work_in_both();
    return done(true);
}

/* libc ends the process with status 0 after the last thread. */
static int in_another_thread(void)
{
    pthread_t t;

    if (pthread_create(&t, NULL, work_in_thread, NULL) != 0)
        return 1;
    pthread_detach(t);
    done(true);
    pthread_exit(NULL);
}

static volatile sig_atomic_t calls;

static void raise_again(int sig)
{
    calls++;
    raise(sig);
}

void (*__sysv_signal(int sig, void (*handler)(int)))(int);

static int with_handler_for_once(bool strict_iso)
{
    struct sigaction once = {.sa_handler = raise_again,
                             .sa_flags = (int)SA_RESETHAND};
    struct sigaction now;

    work();
    if (strict_iso)
        __sysv_signal(SIGTERM, raise_again);
    else
        sigaction(SIGTERM, &once, NULL);
    sigaction(SIGTERM, NULL, &now);
    done(now.sa_handler == raise_again && (now.sa_flags & SA_RESETHAND) &&
         !(now.sa_flags & SA_SIGINFO));
    fflush(stdout);
    raise(SIGTERM);
    return 1;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    static int *volatile nowhere;

    if (strcmp(way, "fds") == 0 && argc > 2)
        return with_fds(argv[2],
                        argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0);
    if (strcmp(way, "masks") == 0)
        return with_masks();
    if (strcmp(way, "words") == 0)
        return with_words();
    if (strcmp(way, "cancel") == 0)
        return with_cancelled_threads();
    if (strcmp(way, "last") == 0)
        return in_another_thread();
    if (strcmp(way, "once") == 0 || strcmp(way, "iso") == 0)
        return with_handler_for_once(way[0] == 'i');
    work();
    if (strcmp(way, "realtime") == 0)
        raise(SIGRTMIN);
    if (strcmp(way, "crash") == 0)
        *nowhere = 1;
    if (strcmp(way, "nopath") == 0) {
        unsetenv("PATH");
        execlp("env", "env", argv[0], "after", (char *)NULL);
        return 1;
    }
    return 0;
}

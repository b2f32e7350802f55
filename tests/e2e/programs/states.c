/*
 * Threads in known states, and a wall profile of them.
 *
 * usage: states SECONDS HZ FILE [IDLE [hidden]]
 *
 * One thread runs, others sleep, read a pipe, wait for a mutex and for a
 * condition, one wakes up every 5 ms for half a millisecond, one blocks all
 * signals, one waits as for a disk; IDLE more wait for the end.  "hidden":
 * the process is not dumpable.  Prints
 * seconds, the CPU time in nanoseconds of the thread that looks at the others,
 * and how often epoll_wait was interrupted.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <pprof/pprof.h>

static _Atomic int over;
static _Atomic unsigned interrupted;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t end;
static int pipe_fds[2];

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t = {0};

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static __attribute__((noinline)) void spin_for(int64_t ns)
{
    int64_t until = clock_ns(CLOCK_MONOTONIC) + ns;

    while (!over && clock_ns(CLOCK_MONOTONIC) < until)
        ;
}

static _Atomic int runner; /* its thread id */

static void *runs(void *arg)
{
    PPROF_LABEL("job", "spin");
    runner = gettid();
    spin_for(INT64_C(1) << 60);
    return arg;
}

/* The CPU clock of any thread. */
static int64_t cpu_ns(int tid)
{
    return clock_ns((clockid_t)(~(unsigned)tid << 3 | 6));
}

static void *sleeps(void *arg)
{
    struct timespec t = {0, 200000000};

    while (!over)
        nanosleep(&t, NULL);
    return arg;
}

static void *reads(void *arg)
{
    char c;

    while (read(pipe_fds[0], &c, 1) < 0 && errno == EINTR)
        ;
    return arg;
}

static void *waits_for_mutex(void *arg)
{
    PPROF_LABEL("job", "lock");
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
    return arg;
}

static void *waits_for_cond(void *arg)
{
    pthread_mutex_lock(&mutex);
    while (!over)
        pthread_cond_wait(&cond, &mutex);
    pthread_mutex_unlock(&mutex);
    return arg;
}

static void *polls(void *arg)
{
    struct epoll_event event;
    int fd = epoll_create1(0);

    while (!over)
        if (epoll_wait(fd, &event, 1, 100) < 0 && errno == EINTR)
            interrupted++;
    close(fd);
    return arg;
}

static void *wakes_up(void *arg)
{
    struct timespec t = {0, 4500000};

    while (!over) {
        nanosleep(&t, NULL);
        spin_for(500000);
    }
    return arg;
}

static void *is_deaf(void *arg)
{
    sigset_t all;
    char c;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pthread_setname_np(pthread_self(), "deaf");
    return read(pipe_fds[0], &c, 1) < 0 ? NULL : arg;
}

/* The parent of a vfork waits in a sleep that no signal ends, as for a
 * disk. */
static void *waits_for_disk(void *arg)
{
    while (!over) {
        pid_t child = vfork();

        if (child == 0) {
            struct timespec t = {0, 200000000};

            syscall(SYS_nanosleep, &t, NULL);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    return arg;
}

static void *idles(void *arg)
{
    while (sem_wait(&end) != 0)
        ;
    return arg;
}

static void *(*const all[])(void *) = {
    runs,  sleeps,   reads,   waits_for_mutex, waits_for_cond,
    polls, wakes_up, is_deaf, waits_for_disk};
#define N_ALL (sizeof(all) / sizeof(all[0]))

/* CPU time of the thread that has this name. */
static int64_t cpu_of(const char *name)
{
    DIR *dir = opendir("/proc/self/task");
    struct dirent *e;
    int64_t ns = 0;

    while (dir && (e = readdir(dir)) != NULL) {
        char path[320], text[64] = "";
        FILE *f;

        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", e->d_name);
        f = fopen(path, "r");
        if (!f)
            continue;
        if (fgets(text, sizeof(text), f) &&
            strncmp(text, name, strlen(name)) == 0)
            ns = cpu_ns((int)strtol(e->d_name, NULL, 10));
        fclose(f);
    }
    if (dir)
        closedir(dir);
    return ns;
}

static void sleep_for(double seconds)
{
    int64_t until = clock_ns(CLOCK_MONOTONIC) + (int64_t)(seconds * 1e9);
    struct timespec t = {until / 1000000000, until % 1000000000};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

static void profile(double seconds, int hz, const char *path)
{
    struct pprof_wall_options options = {sizeof(options), hz, 1};
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    int64_t start = clock_ns(CLOCK_MONOTONIC), cpu, ran = cpu_ns(runner);

    if (fd < 0 || pprof_start_wall_profile(fd, &options) != 0) {
        fprintf(stderr, "%s\n", pprof_last_error());
        exit(1);
    }
    sleep_for(seconds);
    cpu = cpu_of("pprof-wall");
    ran = cpu_ns(runner) - ran;
    if (pprof_stop_wall_profile() != 0) {
        fprintf(stderr, "%s\n", pprof_last_error());
        exit(1);
    }
    printf("%.3f %lld %u %lld\n",
           (double)(clock_ns(CLOCK_MONOTONIC) - start) / 1e9, (long long)cpu,
           interrupted, (long long)ran);
    close(fd);
}

int main(int argc, char **argv)
{
    pthread_t threads[N_ALL], *idle;
    long n_idle = argc > 4 ? strtol(argv[4], NULL, 10) : 0;
    pthread_attr_t small;
    char c = 0;

    if (argc < 4 || pipe(pipe_fds) != 0)
        return 2;
    if (argc > 5)
        prctl(PR_SET_DUMPABLE, 0);
    pthread_mutex_lock(&held);
    sem_init(&end, 0, 0);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    idle = calloc((size_t)n_idle + 1, sizeof(*idle));
    for (size_t i = 0; i < N_ALL; i++)
        if (pthread_create(&threads[i], NULL, all[i], NULL) != 0)
            return 1;
    for (long i = 0; i < n_idle; i++)
        if (pthread_create(&idle[i], &small, idles, NULL) != 0)
            return 1;
    profile(strtod(argv[1], NULL), (int)strtol(argv[2], NULL, 10), argv[3]);
    over = 1;
    pthread_mutex_unlock(&held);
    pthread_cond_broadcast(&cond);
    for (int i = 0; i < 2; i++)
        if (write(pipe_fds[1], &c, 1) != 1)
            return 1;
    for (long i = 0; i < n_idle; i++)
        sem_post(&end);
    for (size_t i = 0; i < N_ALL; i++)
        pthread_join(threads[i], NULL);
    for (long i = 0; i < n_idle; i++)
        pthread_join(idle[i], NULL);
    free(idle);
    return 0;
}

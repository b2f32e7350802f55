/*
 * What programs do to a profiler that lives in them.  Each case runs for
 * SECONDS, in four laps, while CPU profiles at 1000 Hz are taken one after
 * another.  It prints "ok" and exits with 0 if the program did its own work
 * unharmed, and has as many fds and threads and as much memory after the
 * last lap as after the second.
 *
 * usage: hostile CASE SECONDS
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pprof/pprof.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Sanitizers keep freed memory for long, and their own locks are not given
 * back in a forked child, where whoever allocates may wait for ever. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif

extern char **environ;
static atomic_bool stop;
static int null_fd;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void die(const char *what)
{
    fprintf(stderr, "%s: %s %s\n", what, strerror(errno), pprof_last_error());
    exit(1);
}

static __attribute__((noinline)) unsigned spin(unsigned n)
{
    unsigned x = 1;

    for (volatile unsigned i = 0; i < n; i++)
        x = x * 1664525u + i;
    return x;
}

/* Profiles and dumps, one after another. */
static void *profiler(void *arg)
{
    struct pprof_cpu_options o = {.size = sizeof(o), .rate_hz = 1000};

    while (!stop) {
        if (pprof_start_cpu_profile_opts(null_fd, &o) != 0)
            die("start");
        usleep(150000);
        if (pprof_write_profile("threads", null_fd, 2) != 0)
            die("threads");
        if (pprof_stop_cpu_profile() != 0)
            die("stop");
    }
    return arg;
}

/* Threads end in every way there is. */
enum { RETURNS, EXITS, IS_CANCELLED, IS_DETACHED, WAYS };
static atomic_int n_detached;

static void *short_life(void *way)
{
    switch ((int)(intptr_t)way) {
    case EXITS:
        spin(20000);
        pthread_exit(NULL);
    case IS_CANCELLED:
        for (;;) {
            spin(1000);
            pthread_testcancel();
        }
    case IS_DETACHED:
        spin(20000);
        n_detached--;
        return NULL;
    default:
        spin(20000);
        return NULL;
    }
}

static void *churn(void *arg)
{
    while (!stop) {
        pthread_t t[8];

        for (int i = 0; i < 8; i++) {
            int way = i % WAYS;

            n_detached += way == IS_DETACHED;
            if (pthread_create(&t[i], NULL, short_life,
                               (void *)(intptr_t)way) != 0)
                die("pthread_create");
            if (way == IS_DETACHED)
                pthread_detach(t[i]);
        }
        for (int i = 0; i < 8; i++) {
            if (i % WAYS == IS_CANCELLED)
                pthread_cancel(t[i]);
            if (i % WAYS != IS_DETACHED)
                pthread_join(t[i], NULL);
        }
    }
    return arg;
}

/* 64 of them at a time. */
static void case_threads(double end)
{
    pthread_t t[8];

    for (int i = 0; i < 8; i++)
        if (pthread_create(&t[i], NULL, churn, NULL) != 0)
            die("pthread_create");
    while (now() < end)
        spin(100000);
    stop = true;
    for (int i = 0; i < 8; i++)
        pthread_join(t[i], NULL);
    while (n_detached)
        usleep(1000);
}

static void case_dlopen(double end)
{
    const char *name = getenv("HOSTILE_LIBRARY");

    while (now() < end) {
        void *lib = dlopen(name, RTLD_NOW);
        void (*call)(void (*)(int64_t), int64_t);

        if (!lib)
            die(dlerror());
        *(void **)&call = dlsym(lib, "truth_library_30");
        for (int i = 0; i < 20; i++)
            call((void (*)(int64_t))(void *)spin, 20000);
        dlclose(lib);
    }
}

static void check_child(pid_t pid, int want)
{
    int status;

    if (pid < 0)
        die("fork");
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            die("waitpid");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != want) {
        fprintf(stderr, "child: status %x\n", (unsigned)status);
        exit(1);
    }
}

/* A child may start a profile of its own. */
static void child_profiles(void)
{
    if (pprof_start_cpu_profile(null_fd) != 0)
        _exit(11);
    spin(2000000);
    if (pprof_write_profile("threads", null_fd, 0) != 0)
        _exit(12);
    if (pprof_stop_cpu_profile() != 0)
        _exit(13);
    _exit(7);
}

static void *fork_now_and_then(void *arg)
{
    while (!stop) {
        pid_t pid = fork();

        if (pid == 0)
            _exit(7);
        check_child(pid, 7);
    }
    return arg;
}

static void case_fork(double end)
{
    pthread_t forker, churner;
    char name[] = "true";
    char *const args[] = {name, NULL};
    static int i; /* not in a register that vfork may clobber */

    if (pthread_create(&forker, NULL, fork_now_and_then, NULL) != 0 ||
        pthread_create(&churner, NULL, churn, NULL) != 0)
        die("pthread_create");
    for (; now() < end; i++) {
        pid_t pid = fork();

        if (pid == 0) {
            if (i % 4 == 0 && !IS_SANITIZED)
                child_profiles();
            spin(50000);
            _exit(7);
        }
        check_child(pid, 7);
        pid = vfork();
        if (pid == 0) {
            execv("/bin/true", args);
            _exit(1);
        }
        check_child(pid, 0);
        if (posix_spawn(&pid, "/bin/true", NULL, NULL, args, environ) != 0)
            die("posix_spawn");
        check_child(pid, 0);
    }
    stop = true;
    pthread_join(forker, NULL);
    pthread_join(churner, NULL);
    while (n_detached)
        usleep(1000);
}

static volatile sig_atomic_t own_prof, own_trap;

static void on_prof(int sig)
{
    (void)sig;
    own_prof++;
}

static void on_trap(int sig)
{
    (void)sig;
    own_trap++;
}

/* The program's own handlers for our signals get their own signals. */
static void case_signals(double end)
{
    static int sent;

    while (now() < end) {
        spin(100000);
        raise(SIGPROF);
        raise(SIGTRAP);
        sent++;
    }
    if (own_prof != sent || own_trap != sent) {
        fprintf(stderr, "%d sent, %d and %d came\n", sent, own_prof, own_trap);
        exit(1);
    }
}

/* Blocking calls, small stacks, alternate stacks. */
static void *small_stack(void *arg)
{
    while (!stop)
        spin(1000);
    return arg;
}

static void case_stacks(double end)
{
    pthread_attr_t attr;
    pthread_t t[4];

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 16384 + 8192);
    for (int i = 0; i < 4; i++)
        if (pthread_create(&t[i], &attr, small_stack, NULL) != 0)
            die("pthread_create");
    while (now() < end) {
        struct timespec nap = {0, 1000000};

        nanosleep(&nap, NULL);
    }
    stop = true;
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
}

/* What must not grow. */
struct holdings {
    int fds, threads;
    long memory_kb;
};

static struct holdings look(void)
{
    struct holdings h = {0};
    char line[256];
    FILE *f;

    malloc_trim(0);
    for (int fd = 0; fd < 1024; fd++)
        h.fds += fcntl(fd, F_GETFD) >= 0;
    f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof(line), f)) {
        sscanf(line, "Threads: %d", &h.threads);
        sscanf(line, "VmRSS: %ld", &h.memory_kb);
    }
    if (f)
        fclose(f);
    return h;
}

/* A thread that was joined or has counted itself off may be there for a
 * moment yet. */
static struct holdings look_in_peace(int threads)
{
    struct holdings h = look();

    for (int i = 0; i < 500 && h.threads > threads; i++) {
        usleep(10000);
        h = look();
    }
    return h;
}

static void lap(void (*run)(double end), double seconds)
{
    pthread_t thread;

    stop = false;
    if (pthread_create(&thread, NULL, profiler, NULL) != 0)
        die("pthread_create");
    run(now() + seconds);
    stop = true;
    pthread_join(thread, NULL);
}

static bool has_grown(struct holdings a, struct holdings b)
{
    fprintf(stderr,
            "after two laps %d fds, %d threads, %ld kB; after four %d, %d, "
            "%ld\n",
            a.fds, a.threads, a.memory_kb, b.fds, b.threads, b.memory_kb);
    return b.fds != a.fds || b.threads != a.threads ||
           (b.memory_kb - a.memory_kb > 1024 && !IS_SANITIZED);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(double end);
    } cases[] = {{"threads", case_threads},
                 {"dlopen", case_dlopen},
                 {"fork", case_fork},
                 {"signals", case_signals},
                 {"stacks", case_stacks}};
    struct holdings start, middle, end;
    size_t i = 0;
    double seconds;

    if (argc != 3)
        return 2;
    while (i < sizeof(cases) / sizeof(cases[0]) &&
           strcmp(cases[i].name, argv[1]) != 0)
        i++;
    if (i == sizeof(cases) / sizeof(cases[0]))
        return 2;
    null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    signal(SIGPROF, on_prof);
    signal(SIGTRAP, on_trap);
    start = look();
    seconds = strtod(argv[2], NULL) / 4;
    lap(cases[i].run, seconds);
    lap(cases[i].run, seconds);
    middle = look_in_peace(start.threads);
    lap(cases[i].run, seconds);
    lap(cases[i].run, seconds);
    end = look_in_peace(start.threads);
    if (has_grown(middle, end))
        return 1;
    puts("ok");
    return 0;
}

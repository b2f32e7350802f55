/*
 * What programs do to a profiler that lives in them.  Each case runs for
 * SECONDS while CPU profiles at 1000 Hz are taken one after another; it
 * prints "ok" and exits with 0 if the program did its own work unharmed.
 *
 * usage: hostile CASE SECONDS
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pprof/pprof.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static volatile int stop;
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

static void *short_life(void *arg)
{
    spin(20000);
    return arg;
}

static void *churn(void *arg)
{
    while (!stop) {
        pthread_t t[8];

        for (int i = 0; i < 8; i++)
            if (pthread_create(&t[i], NULL, short_life, NULL) != 0)
                die("pthread_create");
        for (int i = 0; i < 8; i++)
            pthread_join(t[i], NULL);
    }
    return arg;
}

static void case_threads(double end)
{
    pthread_t t[8];

    for (int i = 0; i < 8; i++)
        pthread_create(&t[i], NULL, churn, NULL);
    while (now() < end)
        spin(100000);
    stop = 1;
    for (int i = 0; i < 8; i++)
        pthread_join(t[i], NULL);
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

static void case_fork(double end)
{
    char name[] = "true";
    char *const args[] = {name, NULL};
    static int i; /* not in a register that vfork may clobber */

    for (; now() < end; i++) {
        pid_t pid = fork();

        if (pid == 0) {
            if (i % 4 == 0)
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
    int sent = 0;

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
    stop = 1;
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
}

static int open_fds(void)
{
    int n = 0;

    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static long resident_kb(void)
{
    char text[256] = "";
    FILE *f = fopen("/proc/self/statm", "r");
    long size = 0, resident = 0;

    if (f && fgets(text, sizeof(text), f))
        sscanf(text, "%ld %ld", &size, &resident);
    if (f)
        fclose(f);
    return resident * 4;
}

static void warm_up(void)
{
    pprof_start_cpu_profile(null_fd);
    spin(10000000);
    pprof_write_profile("threads", null_fd, 2);
    pprof_stop_cpu_profile();
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
    pthread_t thread;
    int fds;
    long memory;

    if (argc != 3)
        return 2;
    null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    signal(SIGPROF, on_prof);
    signal(SIGTRAP, on_trap);
    warm_up();
    fds = open_fds();
    memory = resident_kb();
    pthread_create(&thread, NULL, profiler, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (strcmp(cases[i].name, argv[1]) == 0)
            cases[i].run(now() + strtod(argv[2], NULL));
    stop = 1;
    pthread_join(thread, NULL);
    if (open_fds() != fds) {
        fprintf(stderr, "fds: %d before, %d after\n", fds, open_fds());
        return 1;
    }
    if (resident_kb() - memory > 16384) {
        fprintf(stderr, "memory: %ld kB before, %ld after\n", memory,
                resident_kb());
        return 1;
    }
    puts("ok");
    return 0;
}

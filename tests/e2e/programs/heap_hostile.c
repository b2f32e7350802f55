/*
 * Allocates in unexpected places.  Run under the preload library at any rate;
 * every block of the sites that are named freed_* is freed again, and those
 * that are named kept_* stay: one for each line that is printed.
 *
 * usage: heap_hostile signals|destructors|exit|fork|threads|plugin [N]
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* A function of its own, even if another one does the same. */
#define SITE(name)                                                             \
    __attribute__((noinline)) static void *name(size_t size)                   \
    {                                                                          \
        __asm__ volatile("# " #name);                                          \
        return seen(malloc(size));                                             \
    }

static int n = 1000;

static void *seen(void *p)
{
    __asm__ volatile("" : "+r"(p) : : "memory");
    if (!p)
        abort();
    memset(p, 1, malloc_usable_size(p));
    return p;
}

SITE(freed_in_handler)
SITE(freed_outside)
SITE(freed_in_destructor)
SITE(freed_in_child)
SITE(freed_in_thread)
SITE(kept_at_exit)

/* libc's own malloc may be interrupted by the handler: what a program must
 * not do.  So this one interrupts only where it does no harm, but ours is
 * entered at any point of the sampler all the same: the handler comes while
 * blocks of the main thread are being freed and taken elsewhere. */
static volatile sig_atomic_t may_allocate;
static void *volatile from_handler[64];

static void on_alarm(int sig)
{
    int saved = errno;

    (void)sig;
    for (int i = 0; may_allocate && i < 64; i++) {
        free(from_handler[i]);
        from_handler[i] = freed_in_handler((size_t)(i * 100 + 1));
    }
    errno = saved;
}

static void run_signals(void)
{
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};

    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < n; i++) {
        void *blocks[100];

        for (int k = 0; k < 100; k++)
            blocks[k] = freed_outside((size_t)(k * 37 + 1));
        for (int k = 0; k < 100; k++)
            free(blocks[k]);
        may_allocate = 1;
        for (volatile int k = 0; k < 20000; k++)
            ;
        may_allocate = 0;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    for (int i = 0; i < 64; i++)
        free(from_handler[i]);
}

static pthread_key_t key;

static void destroy(void *p)
{
    static __thread int rounds;

    free(p);
    if (rounds++ < 3)
        pthread_setspecific(key, freed_in_destructor(3000));
}

static void *thread_with_key(void *arg)
{
    pthread_setspecific(key, freed_in_destructor(3000));
    return arg;
}

static void run_threads_of(void *(*run)(void *), int at_once)
{
    pthread_t threads[64];

    for (int i = 0; i < n; i += at_once) {
        for (int k = 0; k < at_once; k++)
            if (pthread_create(&threads[k], NULL, run, NULL) != 0)
                abort();
        for (int k = 0; k < at_once; k++)
            pthread_join(threads[k], NULL);
    }
}

static void *short_thread(void *arg)
{
    void *p = freed_in_thread(5000);

    p = realloc(p, 100);
    p = realloc(p, 20000);
    free(p);
    return arg;
}

static volatile int stop;

static void *busy_thread(void *arg)
{
    while (!stop) {
        void *p = freed_in_thread(700);

        free(realloc(p, 9000));
    }
    return arg;
}

static void run_fork(void)
{
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, busy_thread, NULL);
    for (int i = 0; i < n; i++) {
        void *inherited = freed_in_child(1500);
        pid_t pid = fork();
        int status;

        if (pid == 0) {
            pthread_t thread;

            for (int k = 0; k < 200; k++)
                free(freed_in_child((size_t)k * 50));
            free(inherited);
            if (pthread_create(&thread, NULL, short_thread, NULL) != 0)
                _exit(4);
            pthread_join(thread, NULL);
            _exit(0);
        }
        if (waitpid(pid, &status, 0) != pid || status != 0)
            exit(3);
        free(inherited);
    }
    stop = 1;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

static void at_exit(void)
{
    for (int i = 0; i < n; i++)
        kept_at_exit(1000);
    printf("kept_at_exit %d\n", n);
    fflush(stdout);
}

static void run_plugin(const char *path)
{
    for (int i = 0; i < n; i++) {
        void *plugin = dlopen(path, RTLD_NOW);
        void *(*take)(size_t), *p;

        if (!plugin)
            exit(5);
        *(void **)&take = dlsym(plugin, "kept_by_plugin");
        p = take(4000);
        memset(p, 0, 4000);
        usleep(i < 3 ? 100000 : 0); /* time to look at what is loaded */
        dlclose(plugin);
    }
    printf("kept_by_plugin %d\n", n);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    if (argc > 2)
        n = (int)strtol(argv[2], NULL, 10);
    if (strcmp(argv[1], "signals") == 0) {
        run_signals();
    } else if (strcmp(argv[1], "destructors") == 0) {
        pthread_key_create(&key, destroy);
        run_threads_of(thread_with_key, 8);
    } else if (strcmp(argv[1], "threads") == 0) {
        run_threads_of(short_thread, 32);
    } else if (strcmp(argv[1], "fork") == 0) {
        run_fork();
    } else if (strcmp(argv[1], "exit") == 0) {
        atexit(at_exit);
    } else if (argc > 3 && strcmp(argv[1], "plugin") == 0) {
        run_plugin(argv[3]);
    } else {
        return 2;
    }
    return 0;
}

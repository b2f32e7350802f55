/*
 * What an uncontended use of a lock costs.
 *
 * usage: lock_load [CASE [ROUNDS]]
 *
 * Prints "CASE nanoseconds" for each: the best of many short slices of CPU
 * time, so that a busy machine does not matter.  With ROUNDS it only does so
 * many, for counting instructions.  A second thread exists, because libc does
 * less in a process that has one; it sleeps.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define SLICE  20000
#define SLICES 400

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t sem;
static mtx_t mtx;

static void use_mutex(long n)
{
    for (long i = 0; i < n; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

static void use_recursive(long n)
{
    for (long i = 0; i < n; i++) {
        pthread_mutex_lock(&recursive);
        pthread_mutex_unlock(&recursive);
    }
}

static void use_mtx(long n)
{
    for (long i = 0; i < n; i++) {
        mtx_lock(&mtx);
        mtx_unlock(&mtx);
    }
}

static void use_rdlock(long n)
{
    for (long i = 0; i < n; i++) {
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
    }
}

static void use_wrlock(long n)
{
    for (long i = 0; i < n; i++) {
        pthread_rwlock_wrlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
    }
}

static void use_spin(long n)
{
    for (long i = 0; i < n; i++) {
        pthread_spin_lock(&spin);
        pthread_spin_unlock(&spin);
    }
}

static void use_cond(long n)
{
    for (long i = 0; i < n; i++)
        pthread_cond_signal(&cond);
}

static void use_sem(long n)
{
    for (long i = 0; i < n; i++) {
        sem_post(&sem);
        sem_wait(&sem);
    }
}

static const struct {
    const char *name;
    void (*use)(long);
} cases[] = {
    {"mutex", use_mutex},   {"recursive mutex", use_recursive},
    {"mtx", use_mtx},       {"rdlock", use_rdlock},
    {"wrlock", use_wrlock}, {"spinlock", use_spin},
    {"signal", use_cond},   {"semaphore", use_sem},
};

static int64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static double best_ns(void (*use)(long))
{
    double best = 1e9;

    use(SLICE);
    for (int i = 0; i < SLICES; i++) {
        int64_t start = cpu_ns();
        double ns;

        use(SLICE);
        ns = (double)(cpu_ns() - start) / SLICE;
        best = ns < best ? ns : best;
    }
    return best;
}

static void *sleeper(void *arg)
{
    pause();
    return arg;
}

int main(int argc, char **argv)
{
    pthread_mutexattr_t a;
    pthread_t thread;

    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &a);
    pthread_spin_init(&spin, 0);
    sem_init(&sem, 0, 0);
    mtx_init(&mtx, mtx_plain);
    if (pthread_create(&thread, NULL, sleeper, NULL) != 0)
        return 1;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (argc > 1 && strcmp(argv[1], cases[i].name) != 0)
            continue;
        if (argc > 2)
            cases[i].use(strtol(argv[2], NULL, 10));
        else
            printf("%s %.2f\n", cases[i].name, best_ns(cases[i].use));
    }
    fflush(stdout);
    _exit(0);
}

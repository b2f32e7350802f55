/*
 * Waits whose number and length are known.
 *
 * usage: waits KIND ROUNDS HOLD_MS BLOCK_FILE MUTEX_FILE [DEBUG]
 *
 * Two threads meet ROUNDS times; one holds what the other wants for HOLD_MS.
 * Prints "count waited_ns caused_ns": what the clock says of the waits, from
 * their begin to their end, and to the moment of the release.  With linked
 * hooks; everything is recorded.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <pprof/pprof.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t sem;
static mtx_t mtx;
static cnd_t cnd;
static int is_set;

static sem_t may_wait, done;
static int64_t started_ns, waited_ns, caused_ns;
static int rounds, hold_ms;

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void sleep_ms(int ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

struct kind {
    const char *name;
    void (*take)(void); /* by the holder */
    void (*give)(void);
    void (*wait)(void); /* by the waiter, and back */
};

static __attribute__((noinline)) void mutex_hold(void)
{
    pthread_mutex_lock(&mutex);
}

static __attribute__((noinline)) void mutex_release(void)
{
    pthread_mutex_unlock(&mutex);
    __asm__ volatile("");
}

static __attribute__((noinline)) void mutex_wait(void)
{
    pthread_mutex_lock(&mutex);
    waited_ns += now_ns() - started_ns;
    pthread_mutex_unlock(&mutex);
    __asm__ volatile("");
}

static void timed_wait(void)
{
    struct timespec t = {time(NULL) + 60, 0};

    pthread_mutex_timedlock(&mutex, &t);
    waited_ns += now_ns() - started_ns;
    pthread_mutex_unlock(&mutex);
}

static void mtx_hold(void)
{
    mtx_lock(&mtx);
}

static void mtx_release(void)
{
    mtx_unlock(&mtx);
    __asm__ volatile("");
}

static void mtx_wait(void)
{
    mtx_lock(&mtx);
    waited_ns += now_ns() - started_ns;
    mtx_unlock(&mtx);
}

static void write_hold(void)
{
    pthread_rwlock_wrlock(&rwlock);
}

static void read_hold(void)
{
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_rdlock(&rwlock);
}

static void rwlock_release(void)
{
    pthread_rwlock_unlock(&rwlock);
    __asm__ volatile("");
}

static void read_release(void)
{
    pthread_rwlock_unlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    __asm__ volatile("");
}

static void read_wait(void)
{
    pthread_rwlock_rdlock(&rwlock);
    waited_ns += now_ns() - started_ns;
    pthread_rwlock_unlock(&rwlock);
}

static void write_wait(void)
{
    pthread_rwlock_wrlock(&rwlock);
    waited_ns += now_ns() - started_ns;
    pthread_rwlock_unlock(&rwlock);
}

static void spin_hold(void)
{
    pthread_spin_lock(&spin);
}

static void spin_release(void)
{
    pthread_spin_unlock(&spin);
    __asm__ volatile("");
}

static void spin_wait(void)
{
    pthread_spin_lock(&spin);
    waited_ns += now_ns() - started_ns;
    pthread_spin_unlock(&spin);
}

static void nothing(void)
{
}

static void cond_release(void)
{
    pthread_mutex_lock(&mutex);
    is_set = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
}

static void cond_wait(void)
{
    pthread_mutex_lock(&mutex);
    while (!is_set)
        pthread_cond_wait(&cond, &mutex);
    is_set = 0;
    waited_ns += now_ns() - started_ns;
    pthread_mutex_unlock(&mutex);
}

static void cnd_release(void)
{
    mtx_lock(&mtx);
    is_set = 1;
    cnd_signal(&cnd);
    mtx_unlock(&mtx);
}

static void cnd_wait_for_it(void)
{
    mtx_lock(&mtx);
    while (!is_set)
        cnd_wait(&cnd, &mtx);
    is_set = 0;
    waited_ns += now_ns() - started_ns;
    mtx_unlock(&mtx);
}

static void sem_release(void)
{
    sem_post(&sem);
}

static void sem_wait_for_it(void)
{
    sem_wait(&sem);
    waited_ns += now_ns() - started_ns;
}

static void barrier_release(void)
{
    pthread_barrier_wait(&barrier);
}

static void barrier_wait_for_it(void)
{
    pthread_barrier_wait(&barrier);
    waited_ns += now_ns() - started_ns;
}

static void *sleeper(void *arg)
{
    sleep_ms(hold_ms);
    return arg;
}

static void join_wait(void)
{
    pthread_t t;

    if (pthread_create(&t, NULL, sleeper, NULL) != 0)
        abort();
    started_ns = now_ns();
    pthread_join(t, NULL);
    waited_ns += now_ns() - started_ns;
}

/* A mutex of the program's own: 0 free, 1 held, 2 held and waited for. */
static uint32_t futex_word;

static void futex_hold(void)
{
    __atomic_exchange_n(&futex_word, 1, __ATOMIC_SEQ_CST);
}

static __attribute__((noinline)) void futex_release(void)
{
    if (__atomic_exchange_n(&futex_word, 0, __ATOMIC_SEQ_CST) == 2)
        syscall(SYS_futex, &futex_word, FUTEX_WAKE_PRIVATE, 1);
    __asm__ volatile("");
}

static __attribute__((noinline)) void futex_wait(void)
{
    while (__atomic_exchange_n(&futex_word, 2, __ATOMIC_SEQ_CST) != 0)
        syscall(SYS_futex, &futex_word, FUTEX_WAIT_PRIVATE, 2, NULL);
    waited_ns += now_ns() - started_ns;
    __atomic_store_n(&futex_word, 0, __ATOMIC_SEQ_CST);
}

/* A counter of events, which nobody holds.  It passes all small numbers. */
static void event_release(void)
{
    __atomic_fetch_add(&futex_word, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &futex_word, FUTEX_WAKE_PRIVATE, 1);
}

static __attribute__((noinline)) void event_wait(void)
{
    static uint32_t seen;

    while (__atomic_load_n(&futex_word, __ATOMIC_SEQ_CST) == seen)
        syscall(SYS_futex, &futex_word, FUTEX_WAIT_PRIVATE, seen, NULL);
    seen++;
    waited_ns += now_ns() - started_ns;
}

static const struct kind kinds[] = {
    {"mutex", mutex_hold, mutex_release, mutex_wait},
    {"timed", mutex_hold, mutex_release, timed_wait},
    {"recursive", mutex_hold, mutex_release, mutex_wait},
    {"errorcheck", mutex_hold, mutex_release, mutex_wait},
    {"robust", mutex_hold, mutex_release, mutex_wait},
    {"inherit", mutex_hold, mutex_release, mutex_wait},
    {"mtx", mtx_hold, mtx_release, mtx_wait},
    {"read", write_hold, rwlock_release, read_wait},
    {"write", read_hold, read_release, write_wait},
    {"spin", spin_hold, spin_release, spin_wait},
    {"cond", nothing, cond_release, cond_wait},
    {"cnd", nothing, cnd_release, cnd_wait_for_it},
    {"sem", nothing, sem_release, sem_wait_for_it},
    {"barrier", nothing, barrier_release, barrier_wait_for_it},
    {"join", nothing, nothing, join_wait},
    {"futex", futex_hold, futex_release, futex_wait},
    {"event", nothing, event_release, event_wait},
};

static void make_mutex(const char *kind)
{
    pthread_mutexattr_t a;

    pthread_mutexattr_init(&a);
    if (strcmp(kind, "recursive") == 0)
        pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    if (strcmp(kind, "errorcheck") == 0)
        pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
    if (strcmp(kind, "robust") == 0)
        pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    if (strcmp(kind, "inherit") == 0)
        pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&mutex, &a);
}

/* The semaphores of the play itself are polled, so that only the waits that
 * are meant are in the profile. */
static void await(sem_t *s)
{
    while (sem_trywait(s) != 0)
        sleep_ms(1);
}

static void *waiter(void *arg)
{
    const struct kind *k = arg;

    for (int i = 0; i < rounds; i++) {
        await(&may_wait);
        started_ns = now_ns();
        k->wait();
        sem_post(&done);
    }
    return NULL;
}

static void play(const struct kind *k)
{
    pthread_t t;

    if (pthread_create(&t, NULL, waiter, (void *)k) != 0)
        abort();
    for (int i = 0; i < rounds; i++) {
        int64_t released;

        started_ns = 0;
        k->take();
        sem_post(&may_wait);
        while (__atomic_load_n(&started_ns, __ATOMIC_ACQUIRE) == 0)
            sleep_ms(1);
        sleep_ms(hold_ms);
        released = now_ns();
        caused_ns += released - started_ns;
        k->give();
        await(&done);
    }
    while (pthread_tryjoin_np(t, NULL) != 0)
        sleep_ms(1);
}

static void save(const char *name, const char *path, int debug)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);

    if (fd < 0 || pprof_write_profile(name, fd, debug) != 0) {
        fprintf(stderr, "%s: %s\n", name, pprof_last_error());
        exit(1);
    }
    close(fd);
}

int main(int argc, char **argv)
{
    const struct kind *k = NULL;
    int debug = argc > 6;

    if (argc < 6)
        return 2;
    rounds = (int)strtol(argv[2], NULL, 10);
    hold_ms = (int)strtol(argv[3], NULL, 10);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, argv[1]) == 0)
            k = &kinds[i];
    if (!k)
        return 2;
    sem_init(&may_wait, 0, 0);
    sem_init(&done, 0, 0);
    sem_init(&sem, 0, 0);
    mtx_init(&mtx, mtx_plain);
    cnd_init(&cnd);
    pthread_spin_init(&spin, 0);
    pthread_barrier_init(&barrier, NULL, 2);
    make_mutex(argv[1]);
    if (pprof_set_block_profile_rate(1) != 0 ||
        pprof_set_mutex_profile_fraction(1) != 0) {
        fprintf(stderr, "%s\n", pprof_last_error());
        return 1;
    }
    play(k);
    save("block", argv[4], debug);
    save("mutex", argv[5], debug);
    printf("%d %lld %lld\n", rounds, (long long)waited_ns,
           (long long)caused_ns);
    return 0;
}

/*
 * Everything that a program may do with locks beyond locking them: each case
 * prints "ok NAME", with and without a profiler around it.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t early = PTHREAD_MUTEX_INITIALIZER;
static int early_rc = -1;

/* Before any library's constructor ran. */
static void lock_early(void)
{
    early_rc = pthread_mutex_lock(&early);
    if (early_rc == 0)
        early_rc = pthread_mutex_unlock(&early);
}

__attribute__((section(".preinit_array"),
               used)) static void (*const first)(void) = lock_early;

static const char *current;

static void check(int ok, int line)
{
    if (ok)
        return;
    printf("not ok %s: line %d, errno %d\n", current, line, errno);
    fflush(stdout);
    _exit(1);
}
#define CHECK(what) check(what, __LINE__)

static struct timespec from_now(clockid_t clock, long ms)
{
    struct timespec t;

    clock_gettime(clock, &t);
    t.tv_nsec += ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void sleep_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    while (nanosleep(&t, &t) != 0)
        ;
}

static void before_constructors(void)
{
    CHECK(early_rc == 0);
}

/* --- kinds ------------------------------------------------------------------
 */

static pthread_mutex_t mutex_of(int type, int robust, int protocol)
{
    pthread_mutexattr_t a;
    pthread_mutex_t m;

    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, type);
    pthread_mutexattr_setrobust(&a, robust);
    pthread_mutexattr_setprotocol(&a, protocol);
    CHECK(pthread_mutex_init(&m, &a) == 0);
    return m;
}

static pthread_mutex_t target;

static void *unlock_foreign(void *arg)
{
    *(int *)arg = pthread_mutex_unlock(&target);
    return NULL;
}

static void errors_are_passed_on(void)
{
    struct timespec t = from_now(CLOCK_REALTIME, 50);
    pthread_t thread;
    int rc = 0;

    target = mutex_of(PTHREAD_MUTEX_ERRORCHECK, 0, 0);
    CHECK(pthread_mutex_lock(&target) == 0);
    CHECK(pthread_mutex_lock(&target) == EDEADLK);
    CHECK(pthread_mutex_timedlock(&target, &t) == EDEADLK);
    CHECK(pthread_create(&thread, NULL, unlock_foreign, &rc) == 0);
    CHECK(pthread_join(thread, NULL) == 0 && rc == EPERM);
    CHECK(pthread_mutex_unlock(&target) == 0);
    CHECK(pthread_mutex_unlock(&target) == EPERM);
    CHECK(pthread_join(pthread_self(), NULL) == EDEADLK);
}

static void recursion_counts(void)
{
    target = mutex_of(PTHREAD_MUTEX_RECURSIVE, 0, PTHREAD_PRIO_INHERIT);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_mutex_lock(&target) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_mutex_unlock(&target) == 0);
    CHECK(pthread_mutex_unlock(&target) == EPERM);
}

static _Atomic int is_locked;

static void *lock_and_die(void *arg)
{
    pthread_mutex_lock(&target);
    is_locked = 1;
    sleep_ms(*(int *)arg);
    return NULL;
}

static void owners_may_die(void)
{
    pthread_t thread;
    int ms = 30;

    target = mutex_of(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, 0);
    /* While we wait, and before we come. */
    CHECK(pthread_create(&thread, NULL, lock_and_die, &ms) == 0);
    while (!is_locked)
        sleep_ms(1);
    CHECK(pthread_mutex_lock(&target) == EOWNERDEAD);
    CHECK(pthread_mutex_consistent(&target) == 0);
    CHECK(pthread_mutex_unlock(&target) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    ms = 0;
    CHECK(pthread_create(&thread, NULL, lock_and_die, &ms) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_mutex_lock(&target) == EOWNERDEAD);
    CHECK(pthread_mutex_unlock(&target) == 0); /* not made consistent */
    CHECK(pthread_mutex_lock(&target) == ENOTRECOVERABLE);
}

/* --- deadlines ---------------------------------------------------------------
 */

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t held_rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void *wait_in_vain(void *arg)
{
    struct timespec t = from_now(CLOCK_REALTIME, 300);
    struct timespec m = from_now(CLOCK_MONOTONIC, 300), bad = {0, -1};
    sem_t s;

    CHECK(pthread_mutex_timedlock(&held, &t) == ETIMEDOUT);
    CHECK(pthread_mutex_clocklock(&held, CLOCK_MONOTONIC, &m) == ETIMEDOUT);
    CHECK(pthread_mutex_clocklock(&held, 12345, &m) == EINVAL);
    CHECK(pthread_mutex_timedlock(&held, &bad) == EINVAL);
    CHECK(pthread_mutex_trylock(&held) == EBUSY);
    CHECK(pthread_rwlock_timedrdlock(&held_rwlock, &t) == ETIMEDOUT);
    CHECK(pthread_rwlock_timedwrlock(&held_rwlock, &t) == ETIMEDOUT);
    CHECK(pthread_rwlock_clockrdlock(&held_rwlock, CLOCK_MONOTONIC, &m) ==
          ETIMEDOUT);
    sem_init(&s, 0, 0);
    errno = 0;
    CHECK(sem_timedwait(&s, &t) == -1 && errno == ETIMEDOUT);
    errno = 0;
    CHECK(sem_clockwait(&s, CLOCK_MONOTONIC, &m) == -1 && errno == ETIMEDOUT);
    errno = 0;
    CHECK(sem_timedwait(&s, &bad) == -1 && errno == EINVAL);
    return arg;
}

/* Also when there is nothing to wait for. */
static void bad_deadlines_are_refused(void)
{
    struct timespec bad = {0, -1}, t = from_now(CLOCK_REALTIME, 10);
    pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;

    CHECK(pthread_rwlock_timedrdlock(&l, &bad) == EINVAL);
    CHECK(pthread_rwlock_timedwrlock(&l, &bad) == EINVAL);
    CHECK(pthread_rwlock_clockwrlock(&l, 12345, &t) == EINVAL);
    CHECK(pthread_rwlock_clockrdlock(&l, CLOCK_REALTIME, &t) == 0);
    CHECK(pthread_rwlock_unlock(&l) == 0);
}

static void deadlines_pass(void)
{
    struct timespec t = from_now(CLOCK_REALTIME, 10);
    pthread_t thread;
    mtx_t m;

    CHECK(pthread_mutex_lock(&held) == 0);
    CHECK(pthread_rwlock_wrlock(&held_rwlock) == 0);
    CHECK(pthread_rwlock_wrlock(&held_rwlock) == EDEADLK);
    CHECK(pthread_create(&thread, NULL, wait_in_vain, NULL) == 0);
    CHECK(pthread_timedjoin_np(thread, NULL, &t) == ETIMEDOUT);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_rwlock_unlock(&held_rwlock) == 0);
    CHECK(pthread_mutex_unlock(&held) == 0);
    CHECK(mtx_init(&m, mtx_timed) == thrd_success);
    CHECK(mtx_timedlock(&m, &t) == thrd_success);
    CHECK(mtx_timedlock(&m, &t) == thrd_timedout);
    CHECK(mtx_unlock(&m) == thrd_success);
}

static void on_alarm(int sig)
{
    (void)sig;
}

static void signals_interrupt_semaphores(void)
{
    struct sigaction a = {.sa_handler = on_alarm}, old;
    struct timespec t = from_now(CLOCK_REALTIME, 10000);
    timer_t timer;
    struct itimerspec in = {.it_value = {0, 20000000}};
    sem_t s;

    sem_init(&s, 0, 0);
    sigaction(SIGALRM, &a, &old);
    CHECK(timer_create(CLOCK_MONOTONIC, NULL, &timer) == 0);
    CHECK(timer_settime(timer, 0, &in, NULL) == 0);
    CHECK(sem_timedwait(&s, &t) == -1 && errno == EINTR);
    timer_delete(timer);
    sigaction(SIGALRM, &old, NULL);
}

/* --- cancellation
 * -------------------------------------------------------------- */

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t cond_mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t never;
static _Atomic int begun, cleaned;

static void clean(void *mutex)
{
    cleaned++;
    if (mutex)
        pthread_mutex_unlock(mutex); /* the wait has locked it again */
}

static void *cancelled_in_cond(void *arg)
{
    pthread_mutex_lock(&cond_mutex);
    pthread_cleanup_push(clean, &cond_mutex);
    begun++;
    for (;;)
        pthread_cond_wait(&cond, &cond_mutex);
    pthread_cleanup_pop(0);
    return arg;
}

static void *cancelled_in_sem(void *arg)
{
    pthread_cleanup_push(clean, NULL);
    begun++;
    for (;;)
        sem_wait(&never);
    pthread_cleanup_pop(0);
    return arg;
}

static void *cancelled_in_join(void *arg)
{
    pthread_cleanup_push(clean, NULL);
    begun++;
    pthread_join(*(pthread_t *)arg, NULL);
    pthread_cleanup_pop(0);
    return NULL;
}

/* A semaphore that could be had is a cancellation point all the same. */
static void *cancelled_before_sem(void *arg)
{
    sem_t s;

    sem_init(&s, 0, 1);
    pthread_cleanup_push(clean, NULL);
    begun++;
    pthread_cancel(pthread_self());
    sem_wait(&s);
    cleaned += 100;
    pthread_cleanup_pop(0);
    return arg;
}

static void cancellation_cleans_up(void)
{
    void *(*const runs[])(void *) = {cancelled_in_cond, cancelled_in_sem,
                                     cancelled_in_join, cancelled_before_sem};
    pthread_t threads[4], other;
    void *result;

    sem_init(&never, 0, 0);
    CHECK(pthread_create(&other, NULL, cancelled_in_sem, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, runs[i], &other) == 0);
    while (begun < 5)
        sleep_ms(1);
    sleep_ms(20);
    for (int i = 0; i < 4; i++) {
        pthread_cancel(threads[i]);
        CHECK(pthread_join(threads[i], &result) == 0);
        CHECK(result == PTHREAD_CANCELED);
    }
    CHECK(cleaned == 4);
    CHECK(pthread_mutex_lock(&cond_mutex) == 0); /* was given back */
    CHECK(pthread_mutex_unlock(&cond_mutex) == 0);
    pthread_cancel(other);
    CHECK(pthread_join(other, NULL) == 0);
}

/* --- fork
 * ---------------------------------------------------------------------- */

static pthread_mutex_t crowded[4] = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static _Atomic int over;
static long counters[4];

static void *crowd(void *arg)
{
    unsigned seed = (unsigned)(uintptr_t)arg;

    while (!over) {
        int i = rand_r(&seed) % 4;

        pthread_mutex_lock(&crowded[i]);
        counters[i]++;
        pthread_mutex_unlock(&crowded[i]);
    }
    return NULL;
}

static void *noop(void *arg)
{
    pthread_mutex_lock(arg);
    pthread_mutex_unlock(arg);
    return NULL;
}

/* Locks of its own; those of the crowd may be held for ever. */
static void live_in_child(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_t threads[8];

    pthread_mutex_lock(&m);
    for (int i = 0; i < 8; i++)
        CHECK(pthread_create(&threads[i], NULL, noop, &m) == 0);
    sleep_ms(1);
    pthread_mutex_unlock(&m);
    for (int i = 0; i < 8; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    _exit(0);
}

static void forks_with_held_locks(void)
{
    pthread_t threads[6];

    over = 0;
    for (uintptr_t i = 0; i < 6; i++)
        CHECK(pthread_create(&threads[i], NULL, crowd, (void *)(i + 1)) == 0);
    for (int i = 0; i < 20; i++) {
        int status = -1;
        pid_t child = fork();

        if (child == 0)
            live_in_child();
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    over = 1;
    for (int i = 0; i < 6; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

/* --- many
 * ----------------------------------------------------------------------- */

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static long total, value;

static void *add_some(void *arg)
{
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&one);
        total++;
        pthread_mutex_unlock(&one);
        if (i % 10 == 0) {
            pthread_rwlock_wrlock(&table);
            value++;
            pthread_rwlock_unlock(&table);
        } else {
            pthread_rwlock_rdlock(&table);
            CHECK(value >= 0);
            pthread_rwlock_unlock(&table);
        }
    }
    return arg;
}

static void thousands_of_threads(void)
{
    pthread_t threads[100];
    pthread_attr_t small;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (int lap = 0; lap < 30; lap++) {
        for (int i = 0; i < 100; i++)
            CHECK(pthread_create(&threads[i], &small, add_some, NULL) == 0);
        for (int i = 0; i < 100; i++)
            CHECK(pthread_join(threads[i], NULL) == 0);
    }
    CHECK(total == 30L * 100 * 50 && value == 30L * 100 * 5);
}

/* A mutex that is given up by another thread, as a semaphore would be. */
static void *release_it(void *arg)
{
    sleep_ms(10);
    pthread_mutex_unlock(arg);
    return NULL;
}

static void mutexes_as_semaphores(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread;

    for (int i = 0; i < 5; i++) {
        CHECK(pthread_mutex_lock(&m) == 0);
        CHECK(pthread_create(&thread, NULL, release_it, &m) == 0);
        CHECK(pthread_mutex_lock(&m) == 0);
        CHECK(pthread_mutex_unlock(&m) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    CHECK(pthread_mutex_destroy(&m) == 0);
}

static void errno_stays(void)
{
    pthread_t threads[4];

    over = 0;
    for (uintptr_t i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, crowd, (void *)(i + 1)) == 0);
    for (int i = 0; i < 20000; i++) {
        errno = 4711;
        pthread_mutex_lock(&crowded[i % 4]);
        pthread_mutex_unlock(&crowded[i % 4]);
        CHECK(errno == 4711);
    }
    over = 1;
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static void at_exit(void)
{
    pthread_mutex_lock(&one);
    pthread_mutex_unlock(&one);
    puts("ok at_exit");
}

/* For as long as it is let: one thread waits, 10 ms at once. */
static void wait_for_ever(void)
{
    sem_t s;

    sem_init(&s, 0, 0);
    for (;;) {
        struct timespec t = from_now(CLOCK_REALTIME, 10);

        sem_timedwait(&s, &t);
    }
}

int main(void)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"before_constructors", before_constructors},
        {"errors_are_passed_on", errors_are_passed_on},
        {"recursion_counts", recursion_counts},
        {"owners_may_die", owners_may_die},
        {"bad_deadlines_are_refused", bad_deadlines_are_refused},
        {"deadlines_pass", deadlines_pass},
        {"signals_interrupt_semaphores", signals_interrupt_semaphores},
        {"cancellation_cleans_up", cancellation_cleans_up},
        {"forks_with_held_locks", forks_with_held_locks},
        {"thousands_of_threads", thousands_of_threads},
        {"mutexes_as_semaphores", mutexes_as_semaphores},
        {"errno_stays", errno_stays},
    };

    if (getenv("LOCK_LIFE_WAITS"))
        wait_for_ever();
    atexit(at_exit);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        current = cases[i].name;
        cases[i].run();
        printf("ok %s\n", current);
        fflush(stdout);
    }
    return 0;
}

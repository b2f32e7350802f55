#ifndef RUNTIME_LIBC_GAPS_H
#define RUNTIME_LIBC_GAPS_H

/*
 * What libpprof takes from glibc and other C libraries (musl) do not have.
 * There the build includes this before each file of the runtime.
 */
#include <semaphore.h>
#include <time.h>

#if !defined(__GLIBC__)

/* Waits until a moment of CLOCK_MONOTONIC, the only clock it is called with.
 * If the time of day is set meanwhile, it may end too early or too late by as
 * much. */
static inline int sem_clockwait(sem_t *sem, clockid_t clock,
                                const struct timespec *until)
{
    struct timespec now, day, at;

    if (clock_gettime(clock, &now) != 0 ||
        clock_gettime(CLOCK_REALTIME, &day) != 0)
        return -1;
    at.tv_sec = day.tv_sec + until->tv_sec - now.tv_sec;
    at.tv_nsec = day.tv_nsec + until->tv_nsec - now.tv_nsec;
    while (at.tv_nsec < 0)
        at.tv_sec--, at.tv_nsec += 1000000000;
    while (at.tv_nsec >= 1000000000)
        at.tv_sec++, at.tv_nsec -= 1000000000;
    return sem_timedwait(sem, &at);
}

int execveat(int fd, const char *path, char *const argv[], char *const envp[],
             int flags);

#endif

#endif

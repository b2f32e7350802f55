#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * What the programs that send or serve profiles as a load have in common.
 */
static inline int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Ends the program with the words of errno. */
static inline void fail(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
            strerror(errno));
    exit(1);
}

/* A profile in memory, for as long as the program runs. */
struct body {
    char *bytes;
    size_t n;
};

static inline struct body body_load(const char *path)
{
    int fd = open(path, O_RDONLY);
    struct body b = {0};
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0)
        fail(path);
    b.n = (size_t)st.st_size;
    b.bytes = malloc(b.n);
    if (!b.bytes || read(fd, b.bytes, b.n) != (ssize_t)b.n)
        fail(path);
    close(fd);
    return b;
}

#endif

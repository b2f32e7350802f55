/*
 * Runs a program and writes what it cost to a file, as one line of JSON:
 *
 *     measure RESULT PROGRAM [ARGUMENT ...]
 *
 * The kernel carries a process's peak memory over fork and exec, so a program
 * started from Python seems to need at least as much as Python.  This one is
 * small enough not to matter.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    double start = now();
    struct rusage used;
    int status;
    pid_t child;
    FILE *result;

    if (argc < 3) {
        fprintf(stderr, "usage: measure RESULT PROGRAM [ARGUMENT ...]\n");
        return 2;
    }
    child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &used) < 0) {
        perror("measure");
        return 2;
    }
    result = fopen(argv[1], "w");
    if (!result) {
        perror(argv[1]);
        return 2;
    }
    fprintf(result,
            "{\"cpu_s\": %.6f, \"wall_s\": %.6f, \"peak_kb\": %ld, "
            "\"exit\": %d}\n",
            seconds(used.ru_utime) + seconds(used.ru_stime), now() - start,
            used.ru_maxrss, WIFEXITED(status) ? WEXITSTATUS(status) : 128);
    return fclose(result) == 0 ? 0 : 2;
}

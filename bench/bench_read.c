/*
 * What reading a small profile costs, as a collector or a page with many
 * sources does it all day:
 *
 *     bench-read FILE...
 *     bench-read -once FILE...     read each file once, for callgrind
 *
 * One JSON line a file: nanoseconds of CPU time for the whole reading and for
 * gunzip alone, the best of several rounds.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/gzip.h"
#include "profile/read.h"

enum {
    ROUNDS = 20,
    READS = 200, /* in a round */
    MAX_BYTES = 64 << 20,
};

static double cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static bool read_once(struct str bytes)
{
    struct error err = {0};
    struct profile *p = profile_read_memory(bytes, NULL, &err);

    profile_free(p);
    return p;
}

static bool inflate_once(struct str bytes)
{
    struct buf out = BUF_INIT(MAX_BYTES);
    struct error err = {0};
    bool ok = gzip_inflate(bytes, &out, &err);

    buf_release(&out);
    return ok;
}

/* Nanoseconds of one call, in the best round. */
static double best_ns(bool (*call)(struct str), struct str bytes)
{
    double best = 0;

    for (int round = 0; round < ROUNDS; round++) {
        double start = cpu_ns(), took;

        for (int i = 0; i < READS; i++)
            if (!call(bytes))
                return 0;
        took = (cpu_ns() - start) / READS;
        best = round == 0 || took < best ? took : best;
    }
    return best;
}

static void measure(const char *path, struct str bytes)
{
    printf("{\"bench\": \"read\", \"file\": \"%s\", \"bytes\": %zu, "
           "\"read_ns\": %.0f, \"gunzip_ns\": %.0f}\n",
           path, bytes.n, best_ns(read_once, bytes),
           best_ns(inflate_once, bytes));
}

int main(int argc, char **argv)
{
    bool once = argc > 1 && strcmp(argv[1], "-once") == 0;

    for (int i = 1 + once; i < argc; i++) {
        struct buf bytes = BUF_INIT(MAX_BYTES);
        struct error err = {0};

        if (!file_read(argv[i], &bytes, &err)) {
            fprintf(stderr, "bench-read: %s\n", err.text);
            return 1;
        }
        if (once)
            read_once(buf_str(&bytes));
        else
            measure(argv[i], buf_str(&bytes));
        buf_release(&bytes);
    }
    return 0;
}

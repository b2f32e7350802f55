#include "runtime/unwind/grace.h"

#include <time.h>

static bool drained(struct grace *g, unsigned e, int64_t *left_ns)
{
    const struct timespec pause = {.tv_nsec = 100000};

    while (atomic_load(&g->readers[e]) != 0) {
        if (*left_ns <= 0)
            return false;
        nanosleep(&pause, NULL);
        *left_ns -= pause.tv_nsec;
    }
    return true;
}

bool grace_wait(struct grace *g, int64_t timeout_ns)
{
    for (int turn = 0; turn < 2; turn++) {
        unsigned old = atomic_fetch_add(&g->epoch, 1) & 1;

        if (!drained(g, old, &timeout_ns))
            return false;
    }
    return true;
}

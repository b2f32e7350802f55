/*
 * The text of the last failure of <pprof/pprof.h>, for each thread.
 */
#include "runtime/api.h"

#include <pthread.h>
#include <stdio.h>

#include "pprof/pprof.h"

/* Kept outside of thread-local storage, which is scarce: only the last
 * failures of a few threads matter to anybody. */
static struct {
    pthread_t thread;
    char text[512];
} failures[16];

int api_fail(int code, const struct error *err)
{
    pthread_t self = pthread_self();
    size_t slot = ((size_t)self >> 12) % 16;

    failures[slot].thread = self;
    snprintf(failures[slot].text, sizeof(failures[slot].text), "%.511s",
             err->text);
    return -code;
}

const char *pprof_last_error(void)
{
    pthread_t self = pthread_self();
    size_t slot = ((size_t)self >> 12) % 16;

    return pthread_equal(failures[slot].thread, self) ? failures[slot].text
                                                      : "";
}

#ifndef CMD_PPROFD_IMPORT_SINK_H
#define CMD_PPROFD_IMPORT_SINK_H

#include <pthread.h>

#include "store/store.h"

/*
 * Where imported profiles go, wherever they come from.  Puts are asynchronous;
 * this waits for each, since order and errors matter more than speed here.
 */
struct import {
    struct store *store;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_done;
    enum store_status status;
    struct error why;
    uint64_t taken, known, refused;
};

#define IMPORT_INIT                                                            \
    {                                                                          \
        .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER \
    }

/* Says on stderr which profile was refused, and goes on. */
void import_put(struct import *m, const struct store_put *put,
                const char *name);

/* On a terminal, now and then: "exported 2000 profiles". */
void import_say_progress(uint64_t n, const char *verb);

#endif

/*
 * The store calls back from its own thread; the caller waits for it.
 */
#include "cmd/pprofd/import_sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define SAY_EVERY 1000

void import_say_progress(uint64_t n, const char *verb)
{
    if (n % SAY_EVERY == 0 && isatty(STDERR_FILENO))
        fprintf(stderr, "\r%s %" PRIu64 " profiles", verb, n);
}

static void done(void *arg, enum store_status status,
                 const struct store_receipt *receipt, const struct error *err)
{
    struct import *m = arg;

    pthread_mutex_lock(&m->lock);
    m->is_done = true;
    m->status = status;
    if (status == STORE_OK)
        m->known += receipt->was_there;
    else
        m->why = *err;
    pthread_cond_signal(&m->changed);
    pthread_mutex_unlock(&m->lock);
}

void import_put(struct import *m, const struct store_put *put, const char *name)
{
    enum store_status status;

    m->is_done = false;
    status = store_put(m->store, put, done, m, &m->why);
    if (status == STORE_OK) {
        pthread_mutex_lock(&m->lock);
        while (!m->is_done)
            pthread_cond_wait(&m->changed, &m->lock);
        pthread_mutex_unlock(&m->lock);
        status = m->status;
    }
    if (status == STORE_OK) {
        import_say_progress(++m->taken, "imported");
    } else {
        m->refused++;
        fprintf(stderr, "pprofd: %s: %s\n", name, m->why.text);
    }
}

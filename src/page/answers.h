#ifndef PAGE_ANSWERS_H
#define PAGE_ANSWERS_H

#include <pthread.h>

#include "base/buf.h"
#include "base/error.h"

/*
 * A cache of answers.
 *
 * A cached answer may depend only on its key.  Threads that need the same
 * answer at the same time wait for the one that makes it.  The least recently
 * used answers are dropped when their number or size exceeds the limit.
 */
#define ANSWERS_BYTES_MAX ((size_t)64 << 20)
#define ANSWERS_MAX       256

struct answers {
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t done;  /* a thread has made an answer, or failed */
    struct answer *list;
    size_t n;
    size_t bytes, max_bytes;
    uint64_t turn; /* counts questions */
};

void answers_init(struct answers *a, size_t max_bytes);
void answers_release(struct answers *a); /* while nobody asks */

/* Appends the answer to `out`.  False: see err. */
typedef bool answer_maker(void *arg, struct buf *out, struct error *err);

/* Appends the cached answer for the key.  If there is none, calls `make` and
 * caches its answer.  Only the calling thread gets an error of `make`. */
bool answers_get(struct answers *a, struct str key, answer_maker *make,
                 void *arg, struct buf *out, struct error *err);

#endif

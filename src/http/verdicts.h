#ifndef HTTP_VERDICTS_H
#define HTTP_VERDICTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/*
 * Answers that are remembered for a while.  A fixed number of them: the one
 * that would be forgotten first makes room.  Questions are kept whole, not as
 * a hash, because they hold secrets that somebody might want to forge.  Any
 * thread.
 */
#define VERDICTS_MAX     64
#define VERDICTS_WHO_MAX 256

struct verdict {
    int answer;
    char who[VERDICTS_WHO_MAX];
};

struct verdicts {
    pthread_mutex_t lock;
    struct {
        char *question; /* NULL: free */
        size_t n;
        int64_t until_ns;
        struct verdict verdict;
    } kept[VERDICTS_MAX];
};

void verdicts_init(struct verdicts *v);
void verdicts_release(struct verdicts *v);

bool verdicts_get(struct verdicts *v, struct str question, int64_t now_ns,
                  struct verdict *out);
void verdicts_put(struct verdicts *v, struct str question, int64_t until_ns,
                  const struct verdict *verdict);

#endif

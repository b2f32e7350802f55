#ifndef HTTP_ACCESS_REVIEW_CACHE_H
#define HTTP_ACCESS_REVIEW_CACHE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/*
 * A cache of answers with an expiry time and a fixed size; the entry that
 * expires first makes room.  Questions are stored as a whole, not as a hash,
 * because they contain secrets that somebody might try to forge.  Any thread.
 */
#define REVIEW_CACHE_MAX     64
#define REVIEW_CACHE_WHO_MAX 256

struct review_answer {
    int answer;
    char who[REVIEW_CACHE_WHO_MAX];
};

struct review_cache {
    pthread_mutex_t lock;
    uint64_t seed; /* of the hashes, so that nobody can aim at a slot */
    struct {
        uint64_t hash;
        char *question; /* NULL: free */
        size_t n;
        int64_t until_ns;
        struct review_answer verdict;
    } kept[REVIEW_CACHE_MAX];
};

void review_cache_init(struct review_cache *v);
void review_cache_release(struct review_cache *v);

bool review_cache_get(struct review_cache *v, struct str question,
                      int64_t now_ns, struct review_answer *out);
void review_cache_put(struct review_cache *v, struct str question,
                      int64_t until_ns, const struct review_answer *verdict);

#endif

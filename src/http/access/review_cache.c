/*
 * A table that is searched from the start: it is small, and the hash makes
 * all but one comparison short.
 */
#include "http/access/review_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "http/access/credentials.h"

void review_cache_init(struct review_cache *v)
{
    memset(v, 0, sizeof(*v));
    v->seed = (uint64_t)clock_monotonic_ns();
    pthread_mutex_init(&v->lock, NULL);
}

static void forget(struct review_cache *v, size_t i)
{
    if (v->kept[i].question)
        explicit_bzero(v->kept[i].question, v->kept[i].n);
    free(v->kept[i].question);
    memset(&v->kept[i], 0, sizeof(v->kept[i]));
}

void review_cache_release(struct review_cache *v)
{
    for (size_t i = 0; i < REVIEW_CACHE_MAX; i++)
        forget(v, i);
    pthread_mutex_destroy(&v->lock);
}

/* The place of a question, or the one to be forgotten first. */
static size_t place_of(const struct review_cache *v, struct str question,
                       bool *found)
{
    uint64_t hash = str_hash_seeded(question, v->seed);
    size_t oldest = 0;

    *found = false;
    for (size_t i = 0; i < REVIEW_CACHE_MAX; i++) {
        if (v->kept[i].question && v->kept[i].hash == hash &&
            credentials_equal(question,
                              str_of(v->kept[i].question, v->kept[i].n))) {
            *found = true;
            return i;
        }
        if (v->kept[i].until_ns < v->kept[oldest].until_ns)
            oldest = i;
    }
    return oldest;
}

bool review_cache_get(struct review_cache *v, struct str question,
                      int64_t now_ns, struct review_answer *out)
{
    bool found;
    size_t i;

    pthread_mutex_lock(&v->lock);
    i = place_of(v, question, &found);
    if (found && now_ns < v->kept[i].until_ns)
        *out = v->kept[i].verdict;
    else
        found = false;
    pthread_mutex_unlock(&v->lock);
    return found;
}

void review_cache_put(struct review_cache *v, struct str question,
                      int64_t until_ns, const struct review_answer *verdict)
{
    char *copy = malloc(question.n + 1);
    bool found;
    size_t i;

    if (!copy)
        return;
    memcpy(copy, question.s, question.n);
    pthread_mutex_lock(&v->lock);
    i = place_of(v, question, &found);
    forget(v, i);
    v->kept[i].hash = str_hash_seeded(question, v->seed);
    v->kept[i].question = copy;
    v->kept[i].n = question.n;
    v->kept[i].until_ns = until_ns;
    v->kept[i].verdict = *verdict;
    pthread_mutex_unlock(&v->lock);
}

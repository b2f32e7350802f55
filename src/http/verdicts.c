#include "http/verdicts.h"

#include <stdlib.h>
#include <string.h>

#include "http/credentials.h"

void verdicts_init(struct verdicts *v)
{
    memset(v, 0, sizeof(*v));
    pthread_mutex_init(&v->lock, NULL);
}

static void forget(struct verdicts *v, size_t i)
{
    if (v->kept[i].question)
        explicit_bzero(v->kept[i].question, v->kept[i].n);
    free(v->kept[i].question);
    memset(&v->kept[i], 0, sizeof(v->kept[i]));
}

void verdicts_release(struct verdicts *v)
{
    for (size_t i = 0; i < VERDICTS_MAX; i++)
        forget(v, i);
    pthread_mutex_destroy(&v->lock);
}

/* The place of a question, or the one to be forgotten first. */
static size_t place_of(const struct verdicts *v, struct str question,
                       bool *found)
{
    size_t oldest = 0;

    *found = false;
    for (size_t i = 0; i < VERDICTS_MAX; i++) {
        if (v->kept[i].question &&
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

bool verdicts_get(struct verdicts *v, struct str question, int64_t now_ns,
                  struct verdict *out)
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

void verdicts_put(struct verdicts *v, struct str question, int64_t until_ns,
                  const struct verdict *verdict)
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
    v->kept[i].question = copy;
    v->kept[i].n = question.n;
    v->kept[i].until_ns = until_ns;
    v->kept[i].verdict = *verdict;
    pthread_mutex_unlock(&v->lock);
}

/*
 * A short list, searched from end to end: there are at most a few hundred
 * answers, and comparing their keys costs nothing next to making one.  A place
 * is entered before its answer is made, so that a second thread with the same
 * question waits instead of working twice.
 */
#include "page/answers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory_scope.h"

struct answer {
    char *key;
    size_t key_bytes;
    struct buf bytes;
    bool is_made;  /* else somebody is at it */
    uint64_t turn; /* when it was last asked for */
};

void answers_init(struct answers *a, size_t max_bytes)
{
    *a = (struct answers){.max_bytes = max_bytes};
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->done, NULL);
}

/* --- with the lock held --------------------------------------------------- */

static void drop(struct answers *a, struct answer *gone)
{
    assert(gone >= a->list && gone < a->list + a->n);
    assert(a->bytes >= gone->bytes.len);
    a->bytes -= gone->bytes.len;
    free(gone->key);
    buf_release(&gone->bytes);
    *gone = a->list[--a->n];
}

static struct answer *find(struct answers *a, struct str key)
{
    for (size_t i = 0; i < a->n; i++)
        if (str_eq(str_of(a->list[i].key, a->list[i].key_bytes), key))
            return &a->list[i];
    return NULL;
}

/* A place for one that is going to be made; false: out of memory. */
static bool begin(struct answers *a, struct str key)
{
    struct answer *list = realloc(a->list, (a->n + 1) * sizeof(*list));
    char *copy = malloc(key.n + 1);

    if (list)
        a->list = list;
    if (!list || !copy) {
        free(copy);
        return false;
    }
    memcpy(copy, key.s, key.n);
    a->list[a->n++] =
        (struct answer){.key = copy, .key_bytes = key.n, .turn = ++a->turn};
    return true;
}

/* The one that has waited longest for a question; NULL: all are being made. */
static struct answer *oldest(struct answers *a)
{
    struct answer *found = NULL;

    for (size_t i = 0; i < a->n; i++)
        if (a->list[i].is_made && (!found || a->list[i].turn < found->turn))
            found = &a->list[i];
    return found;
}

static void make_room(struct answers *a)
{
    struct answer *gone;

    while ((a->bytes > a->max_bytes || a->n > ANSWERS_MAX) &&
           (gone = oldest(a)) != NULL)
        drop(a, gone);
}

/* Keeps a copy of what was made, or forgets that it was being made. */
static void end(struct answers *a, struct str key, struct str bytes, bool ok)
{
    struct answer *made = find(a, key);

    assert(made && !made->is_made); /* an answer that is being made is not
                                       dropped */
    made->bytes = BUF_INIT(a->max_bytes);
    if (ok)
        buf_add(&made->bytes, bytes);
    a->bytes += made->bytes.len;
    made->is_made = ok && buf_ok(&made->bytes);
    made->turn = ++a->turn;
    if (made->is_made)
        make_room(a);
    else
        drop(a, made);
    pthread_cond_broadcast(&a->done);
}

/* True: it was there.  False: it is the caller's to make, if *is_mine. */
static bool take(struct answers *a, struct str key, struct buf *out,
                 bool *is_mine)
{
    struct answer *found;

    while ((found = find(a, key)) != NULL && !found->is_made)
        pthread_cond_wait(&a->done, &a->lock);
    if (found) {
        found->turn = ++a->turn;
        buf_add(out, buf_str(&found->bytes));
        return true;
    }
    *is_mine = begin(a, key);
    return false;
}

/* --- without -------------------------------------------------------------- */

struct making {
    answer_maker *make;
    void *arg;
    struct buf *out;
    struct error *err;
    bool ok;
};

static void run_maker(void *arg)
{
    struct making *m = arg;

    m->ok = m->make(m->arg, m->out, m->err);
}

/* In a scope of its own: if the request runs out of memory, the threads that
 * wait for the answer must be woken. */
static bool run(answer_maker *make, void *arg, struct buf *out,
                struct error *err)
{
    struct making m = {.make = make, .arg = arg, .out = out, .err = err};

    return memory_scope_run(MEMORY_UNLIMITED, run_maker, &m, err) && m.ok;
}

bool answers_get(struct answers *a, struct str key, answer_maker *make,
                 void *arg, struct buf *out, struct error *err)
{
    size_t before = out->len;
    bool is_mine = false, ok;

    pthread_mutex_lock(&a->lock);
    ok = take(a, key, out, &is_mine);
    pthread_mutex_unlock(&a->lock);
    if (ok)
        return buf_ok(out) || error_set(err, "the answer is too large");
    ok = run(make, arg, out, err);
    if (is_mine) {
        pthread_mutex_lock(&a->lock);
        end(a, key, str_skip(buf_str(out), before), ok && buf_ok(out));
        pthread_mutex_unlock(&a->lock);
    }
    return ok;
}

void answers_release(struct answers *a)
{
    while (a->n > 0)
        drop(a, &a->list[0]);
    free(a->list);
    pthread_cond_destroy(&a->done);
    pthread_mutex_destroy(&a->lock);
}

/*
 * A thread for each process: nearly all of them only wait, for as long as the
 * profile takes.
 */
#include "cmd/pprof-run/tree_ask.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/thread.h"

#define STACK_BYTES ((size_t)256 << 10)
#define FIRST_WAIT  ((int64_t)1000000)
#define LAST_WAIT   ((int64_t)100000000)

struct asking {
    const struct tree_place *place;
    const struct tree_question *question;
    struct tree_reply *replies;
    size_t n;
    atomic_size_t next, done;
    atomic_bool is_cancelled;
};

static bool go_on(void *arg)
{
    return !atomic_load(&((struct asking *)arg)->is_cancelled);
}

static void ask_one(struct asking *a, struct tree_reply *r)
{
    struct http_options options = {.timeout_ns = a->question->timeout_ns,
                                   .max_reply = a->question->max_reply,
                                   .tick = go_on,
                                   .tick_arg = a};
    struct buf url = BUF_INIT(a->question->target.n + 512);

    buf_addf(&url, "unix://%s/%d/debug/pprof/%" STR_FMT, a->place->inner,
             r->process->pid, STR_ARG(a->question->target));
    r->is_answered =
        http_fetch(buf_str(&url), a->question->is_post, a->question->body,
                   &options, &r->reply, &r->error);
    buf_release(&url);
}

static void *run(void *arg)
{
    struct asking *a = arg;
    size_t i;

    while ((i = atomic_fetch_add(&a->next, 1)) < a->n) {
        ask_one(a, &a->replies[i]);
        atomic_fetch_add(&a->done, 1);
    }
    return NULL;
}

static void wait_for_all(struct asking *a, struct http_exchange *x)
{
    int64_t step = FIRST_WAIT;

    while (atomic_load(&a->done) < a->n) {
        if (!http_exchange_wait(x, step))
            atomic_store(&a->is_cancelled, true);
        if (atomic_load(&a->is_cancelled))
            return;
        step = step * 2 < LAST_WAIT ? step * 2 : LAST_WAIT;
    }
}

void tree_ask(const struct tree_place *place,
              const struct tree_process *processes, size_t n,
              const struct tree_question *question, struct http_exchange *x,
              struct tree_reply *out)
{
    struct asking a = {
        .place = place, .question = question, .replies = out, .n = n};
    pthread_t *threads = calloc(n ? n : 1, sizeof(*threads));
    size_t started = 0;

    for (size_t i = 0; i < n; i++)
        out[i] = (struct tree_reply){.process = &processes[i]};
    while (threads && started < n &&
           thread_start(&threads[started], "pprof-ask", STACK_BYTES, run, &a) ==
               0)
        started++;
    if (started == 0)
        run(&a); /* one after the other, in this thread */
    wait_for_all(&a, x);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
}

void tree_replies_release(struct tree_reply *replies, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (replies[i].is_answered)
            buf_release(&replies[i].reply.body);
}

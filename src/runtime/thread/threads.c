/*
 * Takes a dump.  All threads are looked at first (stack_look.h); those that
 * run are asked (ask.h), and looked at again now and then, because a thread
 * that has gone to sleep meanwhile does not answer.
 */
#include "runtime/thread/threads.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "runtime/cpu/sigprof.h"
#include "runtime/own_thread.h"
#include "runtime/rawcall.h"
#include "runtime/state.h"
#include "runtime/thread/ask.h"
#include "runtime/thread/stack_look.h"
#include "runtime/thread/thread_labels.h"
#include "runtime/thread/thread_list.h"
#include "runtime/unwind/table_builder.h"
#include "runtime/write/function_names.h"

static pthread_mutex_t one_dump = PTHREAD_MUTEX_INITIALIZER;

static bool list_thread(void *ctx, int tid)
{
    struct threads *t = ctx;
    struct thread_info *to;

    if (own_thread_is(tid))
        return true;
    if (t->v.n == THREADS_MAX) {
        t->left_out++;
        return true;
    }
    to = pages_vec_push(&t->v, 1);
    if (to)
        *to = (struct thread_info){.tid = tid, .state = '?'};
    return to != NULL;
}

static bool count_thread(void *ctx, int tid)
{
    *(size_t *)ctx += !own_thread_is(tid);
    return true;
}

size_t threads_count(void)
{
    size_t n = 0;

    threads_each(count_thread, &n);
    return n;
}

static size_t read_proc(int tid, const char *what, char *out, size_t size)
{
    char path[64];
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "/proc/self/task/%d/%s", tid, what);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? 0 : read(fd, out, size - 1);
    if (fd >= 0)
        close(fd);
    out[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

/* "TID (name) S …", where the name may hold anything. */
void threads_read_stat(int tid, char name[16], char *state)
{
    char text[512], *open_paren, *close_paren;

    read_proc(tid, "stat", text, sizeof(text));
    open_paren = strchr(text, '(');
    close_paren = strrchr(text, ')');
    if (open_paren && close_paren && close_paren[1] == ' ') {
        size_t n = (size_t)(close_paren - open_paren - 1);

        n = n < 16 ? n : 15;
        memcpy(name, open_paren + 1, n);
        name[n] = '\0';
        *state = close_paren[2];
    }
}

static void read_wchan(struct thread_info *t)
{
    char text[64];

    if (read_proc(t->tid, "wchan", text, sizeof(text)) &&
        strcmp(text, "0") != 0)
        snprintf(t->wchan, sizeof(t->wchan), "%.47s", text);
}

/* "RAN WAITED TIMES" */
bool threads_times(int tid, int64_t *ran_ns, int64_t *waited_ns)
{
    char text[96], *end = text;

    if (!read_proc(tid, "schedstat", text, sizeof(text)))
        return false;
    *ran_ns = (int64_t)strtoull(text, &end, 10);
    if (*end != ' ')
        return false;
    *waited_ns = (int64_t)strtoull(end, NULL, 10);
    return true;
}

/* --- the dump ------------------------------------------------------------- */

struct dump {
    struct threads *t;
    struct stack_looker looker;
    struct asks asks;
    struct pages_vec pending; /* of struct pending */
    struct stack_seen seen;
};

/* A thread that runs. */
struct pending {
    size_t index;
    int slot; /* of its question, or -1 */
    bool is_over;
};

static bool add_stack(struct threads *t, struct thread_info *info,
                      const uint64_t *pcs, uint32_t n, enum unwind_end end)
{
    uint64_t *to;

    assert(n <= UNWIND_MAX_FRAMES && !info->has_stack);
    info->first = t->frames.n;
    to = pages_vec_push(&t->frames, n);
    if (!to)
        return false;
    memcpy(to, pcs, n * sizeof(*to));
    info->n = n;
    info->end = end;
    info->has_stack = true;
    return true;
}

/* Of its registers only these are known: sp, and what it gave the kernel. */
static bool take_seen(struct dump *d, struct thread_info *info)
{
    const struct stack_seen *s = &d->seen;

    threads_read_stat(info->tid, info->name, &info->state);
    info->labels = s->labels;
    info->registers[0] = s->sp;
    memcpy(info->registers + 1, s->args, sizeof(s->args));
    info->was_blocked = true;
    info->stack_start = s->stack_start;
    info->cpu_ns = s->cpu_ns;
    return add_stack(d->t, info, s->pcs, s->n, s->end);
}

static bool take_answer(struct dump *d, struct thread_info *info,
                        const struct ask *a)
{
    memcpy(info->name, a->name, sizeof(info->name));
    memcpy(info->registers, a->registers, sizeof(info->registers));
    info->state = 'R';
    info->labels = a->labels;
    return add_stack(d->t, info, a->pcs, a->n, a->end);
}

static bool take_caller(struct threads *t, struct thread_info *info)
{
    uint64_t pcs[UNWIND_MAX_FRAMES];
    uint32_t n = stack_without_own(pcs, (uint32_t)sigprof_stack_here(pcs, 0),
                                   pprof_thread.own_caller);

    info->is_caller = true;
    info->state = 'R';
    pthread_getname_np(pthread_self(), info->name, sizeof(info->name));
    info->labels = pprof_thread.labels;
    return add_stack(t, info, pcs, n, UNWIND_COMPLETE);
}

/* False: out of memory. */
static bool look_at(struct dump *d, size_t index)
{
    struct thread_info *info = (struct thread_info *)d->t->v.p + index;
    struct pending *p;

    if (info->tid == raw_gettid())
        return take_caller(d->t, info);
    switch (stack_look(&d->looker, info->tid, &d->seen)) {
    case LOOK_BLOCKED:
        return take_seen(d, info);
    case LOOK_RUNS:
    case LOOK_REFUSED: /* who sleeps will not answer */
        p = pages_vec_push(&d->pending, 1);
        if (p)
            *p = (struct pending){.index = index, .slot = -1};
        return p != NULL;
    default:
        return true;
    }
}

/* The answer, or the thread waits by now; false: out of memory. */
static bool try_pending(struct dump *d, struct pending *p)
{
    struct thread_info *info = (struct thread_info *)d->t->v.p + p->index;
    struct ask *a = p->slot >= 0 ? asks_slot(&d->asks, p->slot) : NULL;
    enum look look;
    bool ok = true;

    if (a && ask_is_done(a)) {
        ok = take_answer(d, info, a);
        p->is_over = true;
    } else {
        look = stack_look(&d->looker, info->tid, &d->seen);
        if (look == LOOK_BLOCKED)
            ok = take_seen(d, info);
        else if (look == LOOK_REFUSED)
            threads_read_stat(info->tid, info->name, &info->state);
        p->is_over = look == LOOK_BLOCKED || look == LOOK_GONE ||
                     (look == LOOK_REFUSED && info->state != 'R');
    }
    if (p->is_over && a)
        asks_forget(&d->asks, p->slot);
    else if (!p->is_over && !a)
        p->slot = asks_send(&d->asks, info->tid);
    return ok;
}

/* Most answer within a millisecond. */
static bool wait_for_pending(struct dump *d)
{
    int64_t until = clock_monotonic_ns() + THREADS_DEADLINE_NS;
    struct pending *p = d->pending.p;
    bool ok = true;

    while (ok && d->pending.n > 0) {
        size_t kept = 0;

        for (size_t i = 0; ok && i < d->pending.n; i++) {
            ok = try_pending(d, &p[i]);
            if (!p[i].is_over)
                p[kept++] = p[i];
        }
        d->pending.n = ok ? kept : d->pending.n;
        if (clock_monotonic_ns() > until)
            break;
        if (d->pending.n)
            runtime_sleep_ns(300000);
    }
    return ok;
}

static bool look_at_all(struct dump *d)
{
    struct thread_info *v = d->t->v.p;
    bool ok = true;

    for (size_t i = 0; ok && i < d->t->v.n; i++)
        ok = look_at(d, i);
    ok = ok && wait_for_pending(d);
    for (size_t i = 0; ok && i < d->t->v.n; i++) {
        if (v[i].has_stack)
            continue;
        threads_read_stat(v[i].tid, v[i].name, &v[i].state);
        read_wchan(&v[i]);
    }
    return ok;
}

/* What a dump needs, beside its result.  Kept for the fork handler, which has
 * descriptors to close. */
static struct dump dump;

static bool dump_locked(struct threads *out, struct error *err)
{
    bool ok;

    if (!threads_each(list_thread, out))
        return error_set_os(err, "read", "/proc/self/task", errno);
    dump.t = out;
    dump.pending = (struct pages_vec){.size = sizeof(struct pending)};
    ok = stack_looker_init(&dump.looker) && asks_begin(&dump.asks, ASK_DUMP) &&
         look_at_all(&dump);
    asks_end(&dump.asks);
    stack_looker_release(&dump.looker);
    pages_vec_release(&dump.pending);
    return ok || error_set(err, "out of memory");
}

bool threads_dump(struct threads *out, struct error *err)
{
    bool ok;

    *out = (struct threads){.v = {.size = sizeof(struct thread_info)},
                            .frames = {.size = sizeof(uint64_t)}};
    if (!runtime_ready(err))
        return false;
    runtime_lock();
    modules_refresh(&runtime.modules);
    runtime_unlock();
    pthread_mutex_lock(&one_dump);
    ok = dump_locked(out, err);
    pthread_mutex_unlock(&one_dump);
    table_builder_refresh(); /* tables for the next one */
    if (!ok)
        threads_release(out);
    return ok;
}

void threads_release(struct threads *t)
{
    pages_vec_release(&t->v);
    pages_vec_release(&t->frames);
}

static uint64_t tag_of(const struct thread_info *t, bool tag_thread)
{
    struct label_tag tag = {.set = t->labels};

    if (tag_thread) {
        tag.set = labels_push_thread(tag.set, t->name);
        tag.tid = (uint32_t)t->tid;
    }
    return label_tag_pack(tag);
}

bool threads_aggregate(const struct threads *t, bool tag_threads,
                       struct stack_table *out)
{
    const struct thread_info *v = t->v.p;
    const uint64_t *frames = t->frames.p, none = FRAME_NO_STACK;

    for (size_t i = 0; i < t->v.n; i++) {
        bool has = v[i].has_stack && v[i].n > 0;
        struct stack_record *r =
            stack_table_add(out, has ? frames + v[i].first : &none,
                            has ? v[i].n : 1, tag_of(&v[i], tag_threads));

        if (!r)
            return false;
        stack_record_count(r, 0, 1);
    }
    return true;
}

void threads_after_fork(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

    one_dump = fresh;
    asks_after_fork(&dump.asks);
}

#include "runtime/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "runtime/builder.h"
#include "runtime/labels.h"
#include "runtime/names.h"
#include "runtime/rawcall.h"
#include "runtime/sigprof.h"
#include "runtime/source.h"
#include "runtime/state.h"

#define GRACE_NS 2000000000

static pthread_mutex_t one_dump = PTHREAD_MUTEX_INITIALIZER;
static uint32_t generation;

static bool list_thread(void *ctx, int tid)
{
    struct threads *t = ctx;
    struct thread_info *to;

    if (runtime_is_own_thread(tid))
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
    *(size_t *)ctx += !runtime_is_own_thread(tid);
    return true;
}

size_t threads_count(void)
{
    size_t n = 0;

    source_each_thread(count_thread, &n);
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

/* Name and state: "TID (name) S …", where the name may hold anything. */
void threads_describe(struct thread_info *t)
{
    char text[512], *open_paren, *close_paren;

    read_proc(t->tid, "stat", text, sizeof(text));
    open_paren = strchr(text, '(');
    close_paren = strrchr(text, ')');
    if (open_paren && close_paren && close_paren[1] == ' ') {
        size_t n = (size_t)(close_paren - open_paren - 1);

        n = n < sizeof(t->name) ? n : sizeof(t->name) - 1;
        memcpy(t->name, open_paren + 1, n);
        t->state = close_paren[2];
    }
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

bool threads_ask(int tid, uint64_t value)
{
    siginfo_t info = {0};

    info.si_signo = SIGURG;
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_ptr = (void *)value;
    return syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, SIGURG, &info) == 0;
}

/* Will it not answer, however long we wait: SIGURG blocked, or dead? */
bool threads_is_deaf(int tid)
{
    char text[4096], *blocked;

    if (!read_proc(tid, "status", text, sizeof(text)))
        return true;
    blocked = strstr(text, "SigBlk:");
    return blocked && (strtoull(blocked + 7, NULL, 16) >> (SIGURG - 1) & 1);
}

static uint64_t count_deaf(const struct threads *t, struct ask *asks)
{
    const struct thread_info *v = t->v.p;
    uint64_t n = 0;

    for (size_t i = 0; i < t->v.n; i++)
        if (v[i].tid != raw_gettid() &&
            atomic_load(&asks[i].state) ==
                ask_state(ask_value(generation, (uint32_t)i), ASK_SENT))
            n += threads_is_deaf(v[i].tid);
    return n;
}

/* Most answer within a millisecond; after five, look who never will. */
static void wait_for(const struct threads *t, struct ask *asks, uint64_t sent)
{
    int64_t start = clock_monotonic_ns(), now = start;
    uint64_t deaf = 0;
    bool looked = false;

    while (atomic_load(&sampler.asks_answered) + deaf < sent &&
           now < start + THREADS_DEADLINE_NS) {
        runtime_sleep_ns(200000);
        now = clock_monotonic_ns();
        if (!looked && now > start + 5000000) {
            deaf = count_deaf(t, asks);
            looked = true;
        }
    }
}

/* Takes what a slot holds; who has not begun to write is told not to. */
static bool collect(struct threads *t, struct thread_info *info,
                    struct ask *ask, uint64_t value)
{
    uint64_t sent = ask_state(value, ASK_SENT);
    uint64_t *to;

    if (atomic_compare_exchange_strong(&ask->state, &sent,
                                       ask_state(value, ASK_EXPIRED)))
        return true;
    if (sent != ask_state(value, ASK_DONE))
        return true;
    info->first = t->frames.n;
    to = pages_vec_push(&t->frames, ask->n);
    if (!to)
        return false;
    memcpy(to, ask->pcs, ask->n * sizeof(*to));
    memcpy(info->name, ask->name, sizeof(info->name));
    memcpy(info->registers, ask->registers, sizeof(info->registers));
    info->state = ask->was_blocked ? 'S' : 'R';
    info->n = ask->n;
    info->labels = ask->labels;
    info->end = ask->end;
    info->has_stack = true;
    return true;
}

static bool caller_stack(struct threads *t, struct thread_info *info)
{
    uint64_t *to;

    info->is_caller = info->has_stack = true;
    info->state = 'R';
    pthread_getname_np(pthread_self(), info->name, sizeof(info->name));
    info->labels = pprof_thread.labels;
    info->first = t->frames.n;
    to = pages_vec_push(&t->frames, UNWIND_MAX_FRAMES);
    if (!to)
        return false;
    info->n = (uint32_t)sigprof_stack_here(to, 0);
    t->frames.n = info->first + info->n;
    return true;
}

static bool ask_all(struct threads *t, struct ask *asks)
{
    struct thread_info *v = t->v.p;
    int self = raw_gettid();
    uint64_t sent = 0;
    bool ok = true;

    for (size_t i = 0; i < t->v.n; i++) {
        uint64_t value = ask_value(generation, (uint32_t)i);

        atomic_store(&asks[i].state, ask_state(value, ASK_SENT));
        if (v[i].tid != self && threads_ask(v[i].tid, value))
            sent++;
    }
    wait_for(t, asks, sent);
    for (size_t i = 0; i < t->v.n && ok; i++)
        ok = v[i].tid == self ? caller_stack(t, &v[i])
                              : collect(t, &v[i], &asks[i],
                                        ask_value(generation, (uint32_t)i));
    for (size_t i = 0; i < t->v.n; i++)
        if (!v[i].has_stack)
            threads_describe(&v[i]);
    return ok;
}

/* Who asks listens; the program's handler is back when nobody does. */
static pthread_mutex_t listener_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned n_listeners;

static void install(void)
{
    struct sigaction ours = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    struct sigaction now;

    ours.sa_sigaction = sigprof_on_ask;
    sigfillset(&ours.sa_mask);
    sampler.sigaction(SIGURG, NULL, &now);
    program_action_set(&sampler.old_urg, &now);
    sampler.sigaction(SIGURG, &ours, NULL);
}

/* Unless the program has set another one meanwhile. */
static void uninstall(void)
{
    struct sigaction now;

    sampler.sigaction(SIGURG, NULL, &now);
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == sigprof_on_ask)
        sampler.sigaction(SIGURG, &sampler.old_urg.full, NULL);
}

void threads_listen(bool on)
{
    pthread_mutex_lock(&listener_lock);
    if (on && n_listeners++ == 0)
        install();
    else if (!on && --n_listeners == 0)
        uninstall();
    pthread_mutex_unlock(&listener_lock);
}

static bool dump_locked(struct threads *out, struct error *err)
{
    size_t bytes;
    struct ask *asks;
    bool ok;

    if (!source_each_thread(list_thread, out))
        return error_set_os(err, "read", "/proc/self/task", errno);
    bytes = out->v.n * sizeof(*asks);
    asks = pages_alloc(bytes);
    if (!asks)
        return error_set(err, "out of memory");
    generation++;
    sampler.n_asks = (uint32_t)out->v.n;
    atomic_store(&sampler.asks_answered, 0);
    atomic_store(&sampler.asks, asks);
    threads_listen(true);
    ok = ask_all(out, asks);
    threads_listen(false);
    atomic_store(&sampler.asks, NULL);
    if (grace_wait(&runtime.modules.grace, GRACE_NS))
        pages_free(asks, bytes);
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
    builder_refresh(); /* tables for the next one */
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
    listener_lock = fresh;
    if (n_listeners) {
        n_listeners = 0;
        uninstall();
    }
    atomic_store(&sampler.asks, NULL);
}

static struct stack_table created;
static _Atomic uint64_t n_created;

bool threads_watch_creation(void)
{
    return created.arena || stack_table_init(&created, 4096, 4u << 20);
}

bool threads_watches_creation(void)
{
    return created.arena != NULL;
}

void threads_note_creation(void)
{
    uint64_t pcs[UNWIND_MAX_FRAMES];
    struct stack_record *r;
    size_t n;

    atomic_fetch_add(&n_created, 1);
    if (!created.arena || !runtime.is_ready)
        return;
    n = sigprof_stack_here(pcs, 2); /* without this and the hook */
    r = stack_table_add(&created, pcs, n, 0);
    if (r)
        stack_record_count(r, 0, 1);
}

uint64_t threads_n_created(void)
{
    return atomic_load(&n_created);
}

bool threads_copy_created(struct stack_table *out)
{
    const struct stack_record *r;
    uint32_t at = 0;

    while (created.arena && (r = stack_table_next(&created, &at)) != NULL) {
        struct stack_record *to = stack_table_add(out, r->pcs, r->n, r->tag);

        if (!to)
            return false;
        stack_record_count(to, 0, atomic_load(&r->values[0]));
    }
    return true;
}

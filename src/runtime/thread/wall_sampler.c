/*
 * One thread that looks at all others.
 *
 * Everything is decided by a thread's CPU clock.  As long as it stands still
 * the thread is where it was, and a look costs one system call.  When it has
 * moved, the thread is either blocked again, and its stack is copied, or it
 * runs, and is asked.  A thread that runs answers a little later; until then
 * its samples are owed, and they are counted where the answer says.  So no
 * time is lost, also not when the machine is too busy for looks at the wanted
 * rate: each look stands for the time since the last one.
 *
 * Only this thread changes `wall` between start and stop; whoever else wants
 * to change something holds the lock, which the thread has during a look.
 */
#include "runtime/thread/wall_sampler.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/pages.h"
#include "runtime/cpu/intervals.h"
#include "runtime/cpu/sigprof.h"
#include "runtime/own_thread.h"
#include "runtime/state.h"
#include "runtime/thread/ask.h"
#include "runtime/thread/run_share.h"
#include "runtime/thread/stack_look.h"
#include "runtime/thread/thread_labels.h"
#include "runtime/thread/thread_list.h"
#include "runtime/thread/threads.h"
#include "runtime/unwind/unwind.h"

/* A thread that has used so little CPU time since it was asked, and waits
 * now, was on its way into the call that it waits in. */
#define ON_ITS_WAY_NS 20000

/* A thread that has used so much without an answer will not answer: it blocks
 * the signal. */
#define DEAF_NS 50000000

/* A thread that is not waiting for a CPU has answered by then. */
#define PROMPT_NS 300000

enum { NO_ASK = -1 };

struct wall_thread {
    int tid;
    char name[16];
    bool seen;     /* at the last look into /proc */
    bool is_still; /* it waited: `record` counts as long as cpu_ns stays */
    struct run_share share;
    int ask; /* the slot of its event or timer, or NO_ASK */
    bool is_asked;
    int64_t asked_ns, asked_cpu_ns;
    int64_t cpu_ns;              /* when it was last looked at */
    struct stack_record *record; /* where it waits */
    int64_t owed, owed_ns;       /* samples whose stack is not known yet */
};

static struct {
    pthread_mutex_t lock; /* of a look */
    _Atomic bool stop;
    pthread_t thread;
    sem_t wake;
    struct pages_vec threads; /* of struct wall_thread, by tid */
    uint64_t change;          /* of threads */
    unsigned looks;
    struct stack_table *table;
    struct stack_looker looker;
    struct stack_seen last; /* of the thread that is being looked at */
    struct asks asks;
    _Atomic int64_t period_ns;
    bool tag_threads;
    struct wall_counts counts;
    uint64_t random;
} wall = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int by_tid(const void *a, const void *b)
{
    const struct wall_thread *x = a, *y = b;

    return (x->tid > y->tid) - (x->tid < y->tid);
}

static void count(struct stack_record *r, int64_t samples, int64_t ns)
{
    if (!r)
        return;
    stack_record_count(r, 0, samples);
    stack_record_count(r, 1, ns);
}

static struct stack_record *record_of(const struct wall_thread *t,
                                      unsigned state, uint32_t labels,
                                      const uint64_t *pcs, size_t n)
{
    struct label_tag tag = {labels, 0, state};

    if (wall.tag_threads) {
        tag.set = labels_push_thread(labels, t->name);
        tag.tid = (uint32_t)t->tid;
    }
    return stack_table_add(wall.table, pcs, n, label_tag_pack(tag));
}

static struct stack_record *record_without_stack(const struct wall_thread *t,
                                                 unsigned state)
{
    uint64_t none = FRAME_NO_STACK;

    return record_of(t, state, 0, &none, 1);
}

/* What was put off until the thread answers. */
static void settle_debts(struct wall_thread *t, struct stack_record *r)
{
    count(r, t->owed, t->owed_ns);
    t->owed = t->owed_ns = 0;
}

static void give_up_debts(struct wall_thread *t)
{
    wall.counts.no_stack += (uint64_t)t->owed;
    if (t->owed)
        settle_debts(t, record_without_stack(t, STATE_RUNNING));
}

/* --- who is there --------------------------------------------------------- */

struct listing {
    size_t n_known; /* sorted ones */
    bool failed;
};

static bool see(void *ctx, int tid)
{
    struct listing *l = ctx;
    struct wall_thread key = {.tid = tid}, *t = NULL;

    if (own_thread_is(tid))
        return true;
    if (l->n_known)
        t = bsearch(&key, wall.threads.p, l->n_known, sizeof(key), by_tid);
    if (!t) {
        t = pages_vec_push(&wall.threads, 1);
        if (!t)
            return false;
        *t = (struct wall_thread){.tid = tid, .ask = NO_ASK};
    }
    t->seen = true;
    return true;
}

static void drop_unseen(void)
{
    struct wall_thread *v = wall.threads.p;
    size_t kept = 0;

    for (size_t i = 0; i < wall.threads.n; i++) {
        if (!v[i].seen) {
            give_up_debts(&v[i]);
            if (v[i].ask != NO_ASK)
                asks_forget(&wall.asks, v[i].ask);
            continue;
        }
        v[i].seen = false;
        v[kept++] = v[i];
    }
    wall.threads.n = kept;
}

/* The same number as before: the same threads, most likely; every tenth time
 * it is made sure. */
static void list_threads(bool always)
{
    struct listing l = {wall.threads.n, false};
    uint64_t change = threads_change();

    if (change && change == wall.change && ++wall.looks % 10 != 0 && !always)
        return;
    wall.change = change;
    if (!threads_each(see, &l))
        return;
    drop_unseen();
    if (wall.threads.n)
        qsort(wall.threads.p, wall.threads.n, sizeof(struct wall_thread),
              by_tid);
}

/* --- a thread that waits -------------------------------------------------- */

/* Calls in which a thread sleeps so that a signal would wake it.  In others
 * it may be waiting for a disk, which its state in /proc tells. */
static bool is_plain_sleep(long call)
{
    static const int calls[] = {
#ifdef SYS_poll /* not on aarch64 */
        SYS_poll,          SYS_select,          SYS_epoll_wait,
        SYS_pause,
#endif
        SYS_ppoll,         SYS_pselect6,        SYS_epoll_pwait,
        SYS_nanosleep,     SYS_clock_nanosleep, SYS_accept,
        SYS_accept4,       SYS_recvfrom,        SYS_recvmsg,
        SYS_wait4,         SYS_waitid,          SYS_rt_sigtimedwait,
        SYS_rt_sigsuspend,
    };

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (calls[i] == call)
            return true;
    return false;
}

static unsigned state_of_letter(char letter)
{
    return letter == 'D'                    ? STATE_DISK
           : letter == 'T' || letter == 't' ? STATE_STOPPED
           : letter == 'R'                  ? STATE_RUNNING
                                            : STATE_SLEEPING;
}

static unsigned state_in_call(struct wall_thread *t, long call)
{
    bool is_sleep = is_plain_sleep(call);
    char letter = 'S';

    if (wall.tag_threads || (call != SYS_futex && !is_sleep))
        threads_read_stat(t->tid, t->name, &letter);
    if (letter == 'T' || letter == 't')
        return STATE_STOPPED;
    if (call == SYS_futex)
        return STATE_LOCK;
    return is_sleep || letter == 'R' ? STATE_SLEEPING : state_of_letter(letter);
}

/* It waits, and everything is known of it. */
static void take_seen(struct wall_thread *t, int64_t ns)
{
    struct stack_seen *s = &wall.last;
    unsigned state = state_in_call(t, s->call);
    size_t n = s->n;

    assert(n <= UNWIND_MAX_FRAMES);
    wall.counts.copies++;
    wall.counts.incomplete +=
        s->end != UNWIND_COMPLETE && s->end != UNWIND_TRUNCATED;
    if (s->end == UNWIND_TRUNCATED && n < UNWIND_MAX_FRAMES)
        s->pcs[n++] = FRAME_TRUNCATED;
    if (t->owed && s->cpu_ns - t->asked_cpu_ns < ON_ITS_WAY_NS &&
        ask_cancel(asks_slot(&wall.asks, t->ask))) {
        t->is_asked = false;
        settle_debts(t, record_of(t, STATE_RUNNING, s->labels, s->pcs, n));
    }
    t->record = record_of(t, state, s->labels, s->pcs, n);
    t->cpu_ns = s->cpu_ns;
    t->is_still = true;
    count(t->record, 1, ns);
}

/* --- a thread that runs --------------------------------------------------- */

/* Who answers at once was running.  Who does not, and has used no CPU time
 * since, has waited for one. */
static unsigned guess_of(const struct wall_thread *t, const struct ask *a)
{
    int64_t waited = a->time_ns - t->asked_ns;

    return waited > PROMPT_NS && a->cpu_ns - t->asked_cpu_ns < waited / 2
               ? STATE_RUNNABLE
               : STATE_RUNNING;
}

static void take_answer(struct wall_thread *t)
{
    struct ask *a = asks_slot(&wall.asks, t->ask);
    unsigned state = run_share_state(&t->share, t->tid, a->time_ns, a->cpu_ns,
                                     guess_of(t, a));
    size_t n = a->n;

    assert(t->is_asked && a->n <= UNWIND_MAX_FRAMES);
    memcpy(t->name, a->name, sizeof(t->name));
    if (a->end == UNWIND_TRUNCATED && n < UNWIND_MAX_FRAMES)
        a->pcs[n++] = FRAME_TRUNCATED;
    settle_debts(t, record_of(t, state, a->labels, a->pcs, n));
    t->is_asked = false;
}

/* A slot of a thread that has answered, when there is no free one. */
static void free_slot(void)
{
    struct wall_thread *v = wall.threads.p;

    for (size_t i = 0; i < wall.threads.n; i++) {
        if (v[i].ask == NO_ASK || v[i].is_asked)
            continue;
        asks_forget(&wall.asks, v[i].ask);
        v[i].ask = NO_ASK;
        return;
    }
}

/* Without a slot it is asked at the next look; its time is not lost. */
static void ask(struct wall_thread *t, int64_t now, int64_t cpu_ns)
{
    assert(!t->is_asked && t->owed > 0);
    if (t->ask != NO_ASK) {
        asks_send_again(&wall.asks, t->ask);
    } else {
        t->ask = asks_send(&wall.asks, t->tid);
        if (t->ask == NO_ASK) {
            free_slot();
            return;
        }
    }
    t->is_asked = true;
    t->asked_ns = now;
    t->asked_cpu_ns = cpu_ns;
    wall.counts.signals++;
}

static void owe(struct wall_thread *t, int64_t now, int64_t ns, int64_t cpu_ns)
{
    t->is_still = false;
    t->owed++;
    t->owed_ns += ns;
    if (!t->is_asked)
        ask(t, now, cpu_ns);
    else if (cpu_ns - t->asked_cpu_ns > DEAF_NS)
        give_up_debts(t);
}

/* The kernel does not show what the thread does (after setuid, as a rule):
 * its state is all that is known while it does not run. */
static void take_state(struct wall_thread *t, int64_t now, int64_t ns,
                       int64_t cpu_ns)
{
    char letter = 'S';

    threads_read_stat(t->tid, t->name, &letter);
    if (letter == 'R') {
        owe(t, now, ns, cpu_ns);
        return;
    }
    wall.counts.refused++;
    t->record = record_without_stack(t, state_of_letter(letter));
    t->cpu_ns = cpu_ns;
    t->is_still = true;
    count(t->record, 1, ns);
}

/* One look at one thread, which stands for `ns` of its time.  False: it is
 * gone. */
static bool look_at(struct wall_thread *t, int64_t now, int64_t ns)
{
    int64_t cpu_ns = thread_cpu_ns(t->tid);

    if (cpu_ns < 0)
        return false;
    if (t->is_asked && ask_is_done(asks_slot(&wall.asks, t->ask)))
        take_answer(t);
    if (t->is_still && cpu_ns == t->cpu_ns) {
        wall.counts.repeats++;
        count(t->record, 1, ns);
        return true;
    }
    switch (stack_look(&wall.looker, t->tid, &wall.last)) {
    case LOOK_BLOCKED:
        take_seen(t, ns);
        return true;
    case LOOK_RUNS:
        owe(t, now, ns, cpu_ns);
        return true;
    case LOOK_REFUSED:
        take_state(t, now, ns, cpu_ns);
        return true;
    default:
        return false;
    }
}

/* --- the sampler ---------------------------------------------------------- */

static void tick(int64_t now, int64_t ns)
{
    struct wall_thread *v;
    bool gone = false;

    list_threads(false);
    v = wall.threads.p;
    for (size_t i = 0; i < wall.threads.n; i++)
        gone |= !look_at(&v[i], now, ns);
    if (gone)
        list_threads(true);
    wall.counts.ticks++;
}

/* What was asked last is given a moment to answer. */
static void finish(void)
{
    struct wall_thread *v = wall.threads.p;

    for (int patience = 0; patience < 20; patience++) {
        size_t n = 0;

        for (size_t i = 0; i < wall.threads.n; i++) {
            if (v[i].is_asked && ask_is_done(asks_slot(&wall.asks, v[i].ask)))
                take_answer(&v[i]);
            n += v[i].owed != 0;
        }
        if (!n)
            break;
        runtime_sleep_ns(1000000);
    }
    for (size_t i = 0; i < wall.threads.n; i++)
        give_up_debts(&v[i]);
}

static void *sample(void *arg)
{
    int64_t last = clock_monotonic_ns(), now;

    (void)arg;
    own_thread_enter();
    while (!atomic_load(&wall.stop)) {
        int64_t until_ns =
            clock_monotonic_ns() + intervals_draw(&wall.random, wall.period_ns);
        struct timespec until = clock_timespec(until_ns);

        while (sem_clockwait(&wall.wake, CLOCK_MONOTONIC, &until) != 0 &&
               errno == EINTR)
            ;
        pthread_mutex_lock(&wall.lock);
        now = clock_monotonic_ns();
        tick(now, now - last);
        last = now;
        pthread_mutex_unlock(&wall.lock);
    }
    finish();
    own_thread_leave();
    return NULL;
}

static void release(void)
{
    asks_end(&wall.asks);
    stack_looker_release(&wall.looker);
    pages_vec_release(&wall.threads);
    wall.table = NULL;
}

static bool begin(struct stack_table *table, struct error *err)
{
    wall.table = table;
    wall.threads = (struct pages_vec){.size = sizeof(struct wall_thread)};
    wall.counts = (struct wall_counts){0};
    wall.change = 0;
    wall.random =
        intervals_seed((uint64_t)getpid(), (uint64_t)clock_monotonic_ns());
    if (!stack_looker_init(&wall.looker) || !asks_begin(&wall.asks, ASK_WALL))
        return error_set(err, "out of memory");
    atomic_store(&wall.stop, false);
    sem_init(&wall.wake, 0, 0);
    return true;
}

bool wall_sampler_start(struct stack_table *table, int64_t period_ns,
                        bool tag_threads, struct error *err)
{
    wall_sampler_set(period_ns, tag_threads);
    if (begin(table, err) &&
        own_thread_start(&wall.thread, "pprof-wall", sample, NULL, err))
        return true;
    release();
    return false;
}

void wall_sampler_stop(void)
{
    atomic_store(&wall.stop, true);
    sem_post(&wall.wake);
    pthread_join(wall.thread, NULL);
    release();
}

void wall_sampler_pause(void)
{
    pthread_mutex_lock(&wall.lock);
}

void wall_sampler_resume(void)
{
    pthread_mutex_unlock(&wall.lock);
}

struct wall_counts wall_sampler_counts(void)
{
    return wall.counts;
}

/* Records that threads wait in are of another table, or without its tags. */
static void forget_records(void)
{
    struct wall_thread *v = wall.threads.p;

    for (size_t i = 0; i < wall.threads.n; i++) {
        v[i].is_still = false;
        v[i].record = NULL;
    }
}

void wall_sampler_set(int64_t period_ns, bool tag_threads)
{
    atomic_store(&wall.period_ns, period_ns);
    if (tag_threads != wall.tag_threads)
        forget_records();
    wall.tag_threads = tag_threads;
}

void wall_sampler_use(struct stack_table *table)
{
    forget_records();
    wall.table = table;
}

/* Memory is abandoned and not shared: another thread may have been changing
 * it. */
void wall_sampler_after_fork(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

    wall.lock = fresh;
    asks_after_fork(&wall.asks);
    atomic_store(&wall.stop, true);
    wall.table = NULL;
    wall.threads = (struct pages_vec){0};
    wall.looker.room = NULL;
}

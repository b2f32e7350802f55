#include "runtime/wall.h"

#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/pages.h"
#include "runtime/builder.h"
#include "runtime/labels.h"
#include "runtime/run_share.h"
#include "runtime/sigprof.h"
#include "runtime/source.h"
#include "runtime/state.h"
#include "runtime/threads.h"
#include "runtime/writer.h"

#define TABLE_SLOTS (1u << 16)
#define TABLE_BYTES (32u << 20)
#define GRACE_NS    2000000000

/* Threads that may be asked at the same time.  When a thousand appear at
 * once, the others wait for their turn and their time is not lost. */
#define N_ASKS 128

/* CPU time that a blocked thread may spend without having moved: what our
 * own signal costs it, and what it does about the interruption. */
#define STILL_NS  20000
#define SETTLE_NS 200000

/* A thread that has not begun to answer by then is looked up in /proc, and
 * asked again some time later: the signal may have been merged with another.
 */
#define LATE_NS   50000000
#define REPEAT_NS 1000000000

/* A thread that is not waiting for a CPU has answered by then. */
#define PROMPT_NS 300000

enum { NO_ASK = -1 };

struct wall_thread {
    int tid;
    char name[16];
    bool seen;        /* at the last look into /proc */
    bool is_deaf;     /* does not answer: SIGURG is blocked */
    bool has_settled; /* what our signal cost is in cpu_ns */
    unsigned state;
    struct run_share share;
    int ask; /* its slot, or NO_ASK */
    int64_t asked_ns, asked_cpu_ns;
    unsigned found; /* its state in /proc while it did not answer, or 0 */
    int64_t cpu_ns; /* when it was last known to be there */
    struct stack_record *record; /* where it is; NULL: not known yet */
    int64_t owed, owed_ns;       /* samples whose stack is not known yet */
};

static struct {
    _Atomic bool in_use;
    _Atomic bool stop;
    pthread_t thread;
    sem_t wake;
    struct pages_vec threads; /* of struct wall_thread, by tid */
    uint64_t n_links;
    unsigned looks;
    struct stack_table table;
    struct ask *asks; /* N_ASKS */
    int holders[N_ASKS];
    uint32_t generation;
    int64_t period_ns, start_ns, start_time_ns;
    bool tag_threads;
    uint64_t ticks, signals, repeats, no_stack;
    uint64_t seed;
} wall;

static int64_t thread_cpu_ns(int tid)
{
    struct timespec t;

    /* The kernel's name for the CPU clock of a thread. */
    if (syscall(SYS_clock_gettime, (long)(~(unsigned)tid << 3 | 6), &t) != 0)
        return -1;
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

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
                                      uint32_t labels, const uint64_t *pcs,
                                      size_t n)
{
    struct label_tag tag = {labels, 0, t->state};

    if (wall.tag_threads) {
        tag.set = labels_push_thread(labels, t->name);
        tag.tid = (uint32_t)t->tid;
    }
    return stack_table_add(&wall.table, pcs, n, label_tag_pack(tag));
}

static struct stack_record *record_without_stack(const struct wall_thread *t)
{
    uint64_t none = FRAME_NO_STACK;

    return record_of(t, 0, &none, 1);
}

/* What was put off until its stack is known, which will not be. */
static void settle_debts(struct wall_thread *t)
{
    if (t->owed) {
        wall.no_stack += (uint64_t)t->owed;
        count(record_without_stack(t), t->owed, t->owed_ns);
    }
    t->owed = t->owed_ns = 0;
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

    if (runtime_is_own_thread(tid))
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
            settle_debts(&v[i]);
            if (v[i].ask != NO_ASK)
                wall.holders[v[i].ask] = 0;
            continue;
        }
        v[i].seen = false;
        v[kept++] = v[i];
    }
    wall.threads.n = kept;
}

/* As many directories as before: the same threads, most likely; every tenth
 * time it is made sure. */
static void list_threads(bool always)
{
    struct listing l = {wall.threads.n, false};
    struct stat st = {0};

    if (stat("/proc/self/task", &st) == 0 && st.st_nlink == wall.n_links &&
        ++wall.looks % 10 != 0 && !always)
        return;
    wall.n_links = st.st_nlink;
    if (!source_each_thread(see, &l))
        return;
    drop_unseen();
    if (wall.threads.n)
        qsort(wall.threads.p, wall.threads.n, sizeof(struct wall_thread),
              by_tid);
}

/* --- one thread ------------------------------------------------------------
 */

/* Who answers at once was running.  Of who does not, /proc has said what it
 * was, unless we came too late to ask because we had no CPU either: then it
 * has waited and used none. */
static unsigned guess_of(const struct wall_thread *t, const struct ask *a)
{
    int64_t waited = a->time_ns - t->asked_ns;

    return t->found == STATE_RUNNABLE ||
                   (waited > PROMPT_NS &&
                    a->cpu_ns - t->asked_cpu_ns < waited / 2)
               ? STATE_RUNNABLE
               : STATE_RUNNING;
}

static unsigned state_of(struct wall_thread *t, const struct ask *a)
{
    if (a->was_blocked)
        return a->call == SYS_futex ? STATE_LOCK : STATE_SLEEPING;
    if (t->found == STATE_DISK)
        return STATE_DISK;
    return run_share_state(&t->share, t->tid, a->time_ns, a->cpu_ns,
                           guess_of(t, a));
}

static void take_answer(struct wall_thread *t)
{
    struct ask *a = &wall.asks[t->ask];
    size_t n = a->n;

    memcpy(t->name, a->name, sizeof(t->name));
    t->state = state_of(t, a);
    if (a->end == UNWIND_TRUNCATED && n < UNWIND_MAX_FRAMES)
        a->pcs[n++] = FRAME_TRUNCATED;
    t->record = record_of(t, a->labels, a->pcs, n);
    count(t->record, t->owed, t->owed_ns);
    t->owed = t->owed_ns = 0;
    t->cpu_ns = a->cpu_ns;
    t->has_settled = false;
    wall.holders[t->ask] = 0;
    t->ask = NO_ASK;
}

/* The state of a thread that does not answer, and whether it ever will. */
static void look_up(struct wall_thread *t, bool is_late)
{
    struct thread_info info = {.tid = t->tid};

    threads_describe(&info);
    memcpy(t->name, info.name, sizeof(t->name));
    t->found = info.state == 'D'                        ? STATE_DISK
               : info.state == 'R'                      ? STATE_RUNNABLE
               : info.state == 'T' || info.state == 't' ? STATE_STOPPED
                                                        : STATE_SLEEPING;
    t->is_deaf =
        is_late && t->found == STATE_SLEEPING && threads_is_deaf(t->tid);
    if (t->is_deaf)
        t->state = t->found;
}

static void send(struct wall_thread *t, int slot, int64_t now, int64_t cpu_ns)
{
    uint64_t value = ask_value(++wall.generation, ASK_WALL | (uint32_t)slot);

    wall.asks[slot].wants_times = true;
    atomic_store(&wall.asks[slot].state, ask_state(value, ASK_SENT));
    t->ask = slot;
    t->asked_ns = now;
    t->asked_cpu_ns = cpu_ns;
    t->found = STATE_NONE;
    wall.holders[slot] = t->tid;
    wall.signals++;
    threads_ask(t->tid, value);
}

static void ask(struct wall_thread *t, int64_t now, int64_t cpu_ns)
{
    for (int i = 0; i < N_ASKS; i++) {
        if (wall.holders[i] == 0) {
            send(t, i, now, cpu_ns);
            return;
        }
    }
}

/* Has the asked thread answered?  Else it is late, or too late. */
static bool has_answered(struct wall_thread *t, int64_t now)
{
    struct ask *a = &wall.asks[t->ask];
    uint64_t state = atomic_load(&a->state) & 0xff;

    if (state == ASK_DONE) {
        take_answer(t);
        return true;
    }
    if (now - t->asked_ns > LATE_NS)
        look_up(t, true);
    if (t->is_deaf || now - t->asked_ns > REPEAT_NS) {
        uint64_t sent = atomic_load(&a->state);

        /* Takes the slot back unless it is just writing. */
        if ((sent & 0xff) == ASK_SENT &&
            atomic_compare_exchange_strong(&a->state, &sent,
                                           sent - ASK_SENT + ASK_EXPIRED)) {
            wall.holders[t->ask] = 0;
            t->ask = NO_ASK;
        }
    }
    return false;
}

static bool is_blocked(const struct wall_thread *t)
{
    return t->state == STATE_LOCK || t->state == STATE_SLEEPING;
}

/* Is it where it was?  Then it has used no CPU time but what our signal cost
 * it. */
static bool is_still(struct wall_thread *t, int64_t cpu_ns)
{
    int64_t used = cpu_ns - t->cpu_ns;

    if (!t->record || !is_blocked(t))
        return false;
    if (!t->has_settled && used < SETTLE_NS) {
        t->has_settled = true;
        t->cpu_ns = cpu_ns;
        return true;
    }
    return used < STILL_NS;
}

/* One look at one thread, which stands for `ns` of its time.  False: it is
 * gone. */
static bool look_at(struct wall_thread *t, int64_t now, int64_t ns)
{
    int64_t cpu_ns = thread_cpu_ns(t->tid);

    if (cpu_ns < 0)
        return false;
    if (t->ask != NO_ASK)
        has_answered(t, now);
    if (t->is_deaf) {
        if (cpu_ns != t->cpu_ns)
            look_up(t, true);
        t->cpu_ns = cpu_ns;
        wall.no_stack++;
        count(record_without_stack(t), 1, ns);
        return true;
    }
    if (t->ask == NO_ASK && is_still(t, cpu_ns)) {
        wall.repeats++;
        count(t->record, 1, ns);
        return true;
    }
    t->owed++;
    t->owed_ns += ns;
    if (t->ask == NO_ASK)
        ask(t, now, cpu_ns);
    return true;
}

/* --- the sampler ------------------------------------------------------------
 */

/* Why do those not answer who were asked just now? */
static void look_up_silent(int64_t now)
{
    struct wall_thread *v = wall.threads.p;

    runtime_sleep_ns(PROMPT_NS);
    for (size_t i = 0; i < wall.threads.n; i++)
        if (v[i].ask != NO_ASK && v[i].asked_ns == now &&
            (atomic_load(&wall.asks[v[i].ask].state) & 0xff) == ASK_SENT)
            look_up(&v[i], false);
}

static void tick(int64_t now, int64_t ns)
{
    uint64_t signals = wall.signals;
    struct wall_thread *v;
    bool gone = false;

    list_threads(false);
    v = wall.threads.p;
    for (size_t i = 0; i < wall.threads.n; i++)
        gone |= !look_at(&v[i], now, ns);
    if (wall.signals != signals)
        look_up_silent(now);
    if (gone)
        list_threads(true);
    wall.ticks++;
}

/* Between half a period and one and a half. */
static int64_t next_ns(void)
{
    wall.seed = wall.seed * 6364136223846793005u + 1442695040888963407u;
    return wall.period_ns / 2 +
           (int64_t)((wall.seed >> 33) % (uint64_t)wall.period_ns);
}

/* What was asked last is given a moment to answer. */
static void finish(void)
{
    struct wall_thread *v = wall.threads.p;

    for (int patience = 0; patience < 20; patience++) {
        size_t n = 0;

        for (size_t i = 0; i < wall.threads.n; i++)
            n += v[i].ask != NO_ASK && !has_answered(&v[i], v[i].asked_ns);
        if (!n)
            break;
        runtime_sleep_ns(1000000);
    }
    for (size_t i = 0; i < wall.threads.n; i++)
        settle_debts(&v[i]);
}

static void *sample(void *arg)
{
    int64_t last = clock_monotonic_ns(), now;

    (void)arg;
    runtime_own_thread_enter();
    while (!atomic_load(&wall.stop)) {
        int64_t until_ns = clock_monotonic_ns() + next_ns();
        struct timespec until = clock_timespec(until_ns);

        while (sem_clockwait(&wall.wake, CLOCK_MONOTONIC, &until) != 0 &&
               errno == EINTR)
            ;
        now = clock_monotonic_ns();
        tick(now, now - last);
        last = now;
    }
    finish();
    runtime_own_thread_leave();
    return NULL;
}

static void release(void)
{
    stack_table_release(&wall.table);
    pages_vec_release(&wall.threads);
    pages_free(wall.asks, N_ASKS * sizeof(*wall.asks));
    wall.asks = NULL;
    atomic_store(&wall.in_use, false);
}

static bool begin(const struct wall_options *options, struct error *err)
{
    int hz = options->hz > 0 ? options->hz : WALL_HZ_DEFAULT;

    wall.period_ns = 1000000000 / (hz < WALL_HZ_MAX ? hz : WALL_HZ_MAX);
    wall.tag_threads = options->tag_threads;
    wall.threads = (struct pages_vec){.size = sizeof(struct wall_thread)};
    wall.ticks = wall.signals = wall.repeats = wall.no_stack = 0;
    wall.n_links = 0;
    wall.start_time_ns = clock_realtime_ns();
    wall.start_ns = clock_monotonic_ns();
    wall.seed = (uint64_t)wall.start_ns;
    memset(wall.holders, 0, sizeof(wall.holders));
    wall.asks = pages_alloc(N_ASKS * sizeof(*wall.asks));
    if (!stack_table_init(&wall.table, TABLE_SLOTS, TABLE_BYTES) || !wall.asks)
        return error_set(err, "out of memory");
    sampler.n_wall_asks = N_ASKS;
    atomic_store(&sampler.wall_asks, wall.asks);
    atomic_store(&wall.stop, false);
    sem_init(&wall.wake, 0, 0);
    return true;
}

bool wall_start(const struct wall_options *options, struct error *err)
{
    if (!runtime_ready(err))
        return false;
    if (atomic_exchange(&wall.in_use, true))
        return error_set(err, "wall profiling already in use");
    builder_refresh();
    if (!begin(options, err)) {
        release();
        return false;
    }
    threads_listen(true);
    if (runtime_thread(&wall.thread, "pprof-wall", sample, NULL, err))
        return true;
    threads_listen(false);
    atomic_store(&sampler.wall_asks, NULL);
    release();
    return false;
}

static void add_comments(struct buf *c)
{
    buf_addf(c,
             "wall: %llu looks, %llu samples by signal, %llu of threads that "
             "had not moved, %llu without a stack\n",
             (unsigned long long)wall.ticks, (unsigned long long)wall.signals,
             (unsigned long long)wall.repeats,
             (unsigned long long)wall.no_stack);
    if (wall.table.refused)
        buf_addf(c, "dropped samples: %llu\n",
                 (unsigned long long)wall.table.refused);
}

bool wall_stop(struct buf *out, struct error *err)
{
    struct profile_spec spec = {
        .name = "wall",
        .types = {{"samples", "count"}, {"wall", "nanoseconds"}},
        .n_types = 2,
        .period_type = {"wall", "nanoseconds"},
        .period = wall.period_ns,
        .time_ns = wall.start_time_ns,
        .has_label_tags = true,
        .comments = BUF_INIT(4096)};
    bool was = false, ok = true;

    if (!atomic_load(&wall.in_use) ||
        !atomic_compare_exchange_strong(&wall.stop, &was, true))
        return error_set(err, "wall profiling is not running");
    sem_post(&wall.wake);
    pthread_join(wall.thread, NULL);
    threads_listen(false);
    atomic_store(&sampler.wall_asks, NULL);
    spec.duration_ns = clock_monotonic_ns() - wall.start_ns;
    if (!grace_wait(&runtime.modules.grace, GRACE_NS))
        wall.asks = NULL; /* a handler that does not come back may write */
    if (out) {
        add_comments(&spec.comments);
        ok = profile_write(&spec, &wall.table, out, err);
    }
    buf_release(&spec.comments);
    release();
    return ok;
}

bool wall_is_running(void)
{
    return atomic_load(&wall.in_use);
}

void wall_after_fork(void)
{
    atomic_store(&sampler.wall_asks, NULL);
    atomic_store(&wall.stop, true);
    /* Given up, not shared: somebody may have been changing it. */
    wall.table = (struct stack_table){0};
    wall.threads = (struct pages_vec){0};
    wall.asks = NULL;
    atomic_store(&wall.in_use, false);
}

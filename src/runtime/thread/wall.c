/*
 * The life of a wall profile: its readers, and what is written at their end.
 * The samples are taken by the thread of wall_sampler.c, which the first reader
 * starts and the last one ends; in between they share them (table_readers.h).
 * What a reader has measured is taken out under the lock and written after it,
 * because writing takes longer than a client wants to wait for the next
 * profile.
 */
#include "runtime/thread/wall.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "runtime/state.h"
#include "runtime/thread/strip_threads.h"
#include "runtime/thread/wall_sampler.h"
#include "runtime/unwind/table_builder.h"
#include "runtime/unwind/table_readers.h"
#include "runtime/write/writer.h"

#define TABLE_SLOTS (1u << 16)
#define TABLE_BYTES (32u << 20)

_Static_assert((int)WALL_READERS == TABLE_READERS, "one place for each");

struct counts {
    struct wall_counts looks;
    uint64_t dropped;
};

/* A reader's profile.  is_on may be read without the lock. */
struct reading {
    _Atomic bool is_on;
    bool tag_threads;
    int64_t period_ns, start_time_ns, start_ns;
    struct counts before; /* at its start */
};

/* What a reader takes with it, to be written without the lock. */
struct taken {
    struct profile_spec spec;
    struct stack_table table;
};

static struct {
    pthread_mutex_t lock;
    struct reading readings[WALL_READERS];
    struct table_readers tables;
    bool was_tagged; /* some samples have their thread */
} wall = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- while anybody reads: with the lock, the sampler paused or stopped -----
 */

static bool is_on(enum wall_reader reader)
{
    return atomic_load(&wall.readings[reader].is_on);
}

static struct counts count(void)
{
    return (struct counts){wall_sampler_counts(),
                           table_readers_refused(&wall.tables)};
}

static void note_start(struct reading *r)
{
    r->before = count();
    r->start_time_ns = clock_realtime_ns();
    r->start_ns = clock_monotonic_ns();
}

/* The highest rate of the readers, and labels if any reader wants them. */
static void adjust(void)
{
    int64_t period_ns = INT64_MAX;
    bool tags = false;

    for (enum wall_reader i = 0; i < WALL_READERS; i++) {
        const struct reading *r = &wall.readings[i];

        if (!is_on(i))
            continue;
        tags |= r->tag_threads;
        if (r->period_ns < period_ns)
            period_ns = r->period_ns;
    }
    wall.was_tagged |= tags;
    wall_sampler_set(period_ns, tags);
}

static void turn_table(void)
{
    struct stack_table *next = table_readers_next(&wall.tables);

    if (!next)
        return;
    wall_sampler_use(next);
    table_readers_turn(&wall.tables);
}

/* --- starting ------------------------------------------------------------- */

static bool begin(const struct reading *r, struct error *err)
{
    table_builder_refresh();
    wall.was_tagged = r->tag_threads;
    return (table_readers_begin(&wall.tables, TABLE_SLOTS, TABLE_BYTES) ||
            error_set(err, "out of memory")) &&
           wall_sampler_start(table_readers_live(&wall.tables), r->period_ns,
                              r->tag_threads, err);
}

/* With the lock. */
static bool start(const struct wall_options *options, struct error *err)
{
    struct reading *r = &wall.readings[options->reader];
    int hz = options->hz > 0 ? options->hz : WALL_HZ_DEFAULT;
    bool is_first = !table_readers_any(&wall.tables);
    bool ok;

    if (is_on(options->reader))
        return error_set(err, "wall profiling already in use");
    r->period_ns = 1000000000 / (hz < WALL_HZ_MAX ? hz : WALL_HZ_MAX);
    r->tag_threads = options->tag_threads;
    if (is_first && !begin(r, err)) {
        table_readers_release(&wall.tables);
        return false;
    }
    wall_sampler_pause();
    ok = table_readers_join(&wall.tables, options->reader);
    if (ok) {
        atomic_store(&r->is_on, true);
        note_start(r);
        adjust();
    }
    wall_sampler_resume();
    if (ok)
        return true;
    if (is_first) {
        wall_sampler_stop();
        table_readers_release(&wall.tables);
    }
    return error_set(err, "out of memory");
}

bool wall_start(const struct wall_options *options, struct error *err)
{
    bool ok;

    if (!runtime_ready(err))
        return false;
    pthread_mutex_lock(&wall.lock);
    ok = start(options, err);
    pthread_mutex_unlock(&wall.lock);
    return ok;
}

/* --- ending --------------------------------------------------------------- */

static void add_comments(struct buf *c, const struct counts *now,
                         const struct counts *before)
{
    const struct wall_counts *n = &now->looks, *b = &before->looks;

    buf_addf(c,
             "wall: %llu looks; threads that waited: %llu stacks copied, %llu "
             "times unchanged, %llu incomplete; that ran: %llu asked, %llu "
             "samples without an answer\n",
             (unsigned long long)(n->ticks - b->ticks),
             (unsigned long long)(n->copies - b->copies),
             (unsigned long long)(n->repeats - b->repeats),
             (unsigned long long)(n->incomplete - b->incomplete),
             (unsigned long long)(n->signals - b->signals),
             (unsigned long long)(n->no_stack - b->no_stack));
    if (n->refused > b->refused)
        buf_addf(c, "no stacks of threads that wait: the kernel does not show "
                    "them to a process that changed its user or is not "
                    "dumpable\n");
    if (now->dropped > before->dropped)
        buf_addf(c, "dropped samples: %llu\n",
                 (unsigned long long)(now->dropped - before->dropped));
}

static void describe(const struct reading *r, struct profile_spec *spec)
{
    struct counts now = count();

    *spec = (struct profile_spec){
        .name = "wall",
        .types = {{"samples", "count"}, {"wall", "nanoseconds"}},
        .n_types = 2,
        .period_type = {"wall", "nanoseconds"},
        .period = r->period_ns,
        .time_ns = r->start_time_ns,
        .duration_ns = clock_monotonic_ns() - r->start_ns,
        .has_label_tags = true,
        .comments = BUF_INIT(4096)};
    add_comments(&spec->comments, &now, &r->before);
}

/* With the lock: what the reader has, when it is the only one and ends. */
static bool take_all(enum wall_reader reader, struct taken *out)
{
    struct reading *r = &wall.readings[reader];

    wall_sampler_stop();
    describe(r, &out->spec);
    atomic_store(&r->is_on, false);
    return table_readers_leave(&wall.tables, reader, &out->table);
}

/* With the lock: what it has, and the sampler goes on. */
static bool take_share(enum wall_reader reader, bool goes_on, struct taken *out)
{
    struct reading *r = &wall.readings[reader];
    bool ok;

    wall_sampler_pause();
    describe(r, &out->spec);
    if (goes_on)
        ok = table_readers_slice(&wall.tables, reader, &out->table);
    else
        ok = table_readers_leave(&wall.tables, reader, &out->table);
    if (goes_on)
        note_start(r);
    atomic_store(&r->is_on, goes_on);
    turn_table();
    adjust();
    wall_sampler_resume();
    return ok;
}

static bool take(enum wall_reader reader, bool goes_on, struct taken *out,
                 struct error *err)
{
    bool ok;

    if (!is_on(reader))
        return error_set(err, "wall profiling is not running");
    if (goes_on || table_readers_others(&wall.tables, reader))
        ok = take_share(reader, goes_on, out);
    else
        ok = take_all(reader, out);
    if (ok && wall.was_tagged && !wall.readings[reader].tag_threads)
        ok = labels_strip_threads(&out->table);
    return ok || error_set(err, "out of memory");
}

static bool take_and_write(enum wall_reader reader, bool goes_on,
                           struct buf *out, struct error *err)
{
    struct taken t = {0};
    bool ok;

    pthread_mutex_lock(&wall.lock);
    ok = take(reader, goes_on, &t, err);
    pthread_mutex_unlock(&wall.lock);
    ok = ok && (!out || profile_write(&t.spec, &t.table, out, err));
    buf_release(&t.spec.comments);
    stack_table_release(&t.table);
    return ok;
}

bool wall_stop(enum wall_reader reader, struct buf *out, struct error *err)
{
    return take_and_write(reader, false, out, err);
}

bool wall_slice(enum wall_reader reader, struct buf *out, struct error *err)
{
    return take_and_write(reader, true, out, err);
}

bool wall_is_running(enum wall_reader reader)
{
    return is_on(reader);
}

void wall_after_fork(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

    wall_sampler_after_fork();
    wall.lock = fresh;
    for (enum wall_reader i = 0; i < WALL_READERS; i++)
        atomic_store(&wall.readings[i].is_on, false);
    /* The tables are the parent's; their memory is given up, not shared. */
    table_readers_abandon(&wall.tables);
}

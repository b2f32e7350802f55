/*
 * The arithmetic of the block and mutex profiles, and their tables.
 *
 * The decision whether a wait is kept is drawn before the wait, so that a
 * short one that is surely not kept costs no stack walk; its stack is taken
 * before the wait only where it will nearly surely be kept, since afterwards
 * the thread holds the lock and others wait for it.
 */
#include "runtime/lock/locks.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/str.h"
#include "pprof/pprof.h"
#include "runtime/cpu/sigprof.h"
#include "runtime/state.h"
#include "runtime/unwind/table_builder.h"

/* Different stacks: 8 MB hold 20,000 of 40 frames; touched as used. */
#define TABLE_SLOTS (1u << 15)
#define TABLE_BYTES (8u << 20)

/* A wait that is kept from here on is most likely kept, so its stack is
 * taken before it: afterwards the lock would be held meanwhile. */
#define SURE_NS 2000

struct lock_watch lock_watch;

static struct {
    _Atomic int64_t block_rate_ns, mutex_fraction;
    _Atomic bool is_set; /* somebody has chosen rates */
    struct stack_table block, mutex;
} locks;

/* A random number of the thread's own, never the same twice in a row. */
static uint64_t draw(void)
{
    uint64_t x = pprof_thread.lock_random;

    if (x == 0)
        x = (uint64_t)clock_monotonic_ns() ^ (uint64_t)(uintptr_t)&pprof_thread;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    pprof_thread.lock_random = x;
    return x * 0x2545f4914f6cdd1du;
}

/* Uniform in [0, limit). */
static int64_t draw_below(int64_t limit)
{
    assert(limit > 0);
    return (int64_t)((unsigned __int128)draw() * (uint64_t)limit >> 64);
}

/* The stack as the program sees it: the wrapper, then who called it. */
static __attribute__((noinline)) struct stack_record *
record_here(struct stack_table *t, struct lock_site site)
{
    uint64_t pcs[UNWIND_MAX_FRAMES + 2];
    enum unwind_end end;
    size_t n;

    pcs[0] = site.wrapper;
    n = 1 + sigprof_stack_from(site.caller, pcs + 1, UNWIND_MAX_FRAMES, &end);
    if (end == UNWIND_TRUNCATED)
        pcs[n++] = FRAME_TRUNCATED;
    return stack_table_add(t, pcs, n, 0);
}

static void count(struct stack_record *r, int64_t parts, int64_t delay_ns)
{
    if (!r)
        return; /* the table counts what it refuses */
    stack_record_count(r, 0, parts);
    stack_record_count(r, 1, delay_ns);
}

bool locks_wait_begin(struct lock_wait *w, const void *lock,
                      struct lock_site site)
{
    int64_t rate;

    if (!atomic_load_explicit(&lock_watch.on, memory_order_acquire) ||
        pprof_thread.is_own)
        return false;
    rate = atomic_load_explicit(&locks.block_rate_ns, memory_order_relaxed);
    *w = (struct lock_wait){clock_monotonic_ns(), -1, site, NULL, NULL};
    if (rate > 0) {
        w->keep_from_ns = draw_below(rate);
        if (w->keep_from_ns < SURE_NS)
            w->record = record_here(&locks.block, site);
    }
    if (lock &&
        atomic_load_explicit(&locks.mutex_fraction, memory_order_relaxed) > 0)
        w->line = lock_lines_enter(&lock_watch.lines, lock, w->start_ns);
    return true;
}

void locks_wait_end(const struct lock_wait *w, bool waited)
{
    int64_t ns, rate;

    if (w->line)
        lock_lines_leave(&lock_watch.lines, w->line, w->start_ns);
    if (!waited || w->keep_from_ns < 0)
        return;
    ns = clock_monotonic_ns() - w->start_ns;
    rate = atomic_load_explicit(&locks.block_rate_ns, memory_order_relaxed);
    if (ns < w->keep_from_ns || rate <= 0)
        return;
    if (ns < 1)
        ns = 1;
    count(w->record ? w->record : record_here(&locks.block, w->site),
          ns < rate ? rate * LOCKS_ONE / ns : LOCKS_ONE, ns < rate ? rate : ns);
}

int64_t locks_release_begin(const void *lock)
{
    int64_t n =
        atomic_load_explicit(&locks.mutex_fraction, memory_order_relaxed);
    int64_t owed;

    if (n <= 0 || pprof_thread.is_own)
        return 0;
    owed = lock_lines_charge(&lock_watch.lines, lock, clock_monotonic_ns());
    return owed > 0 && draw_below(n) == 0 ? owed : 0;
}

void locks_release_end(int64_t owed_ns, struct lock_site site)
{
    int64_t n =
        atomic_load_explicit(&locks.mutex_fraction, memory_order_relaxed);

    if (owed_ns > 0 && n > 0)
        count(record_here(&locks.mutex, site), n * LOCKS_ONE, n * owed_ns);
}

static bool make_tables(struct error *err)
{
    bool ok;

    if (!lock_watch.has_hooks)
        return error_set(err, LOCKS_NO_HOOKS);
    if (!runtime_ready(err))
        return false;
    table_builder_refresh();
    runtime_lock();
    ok = (locks.block.arena ||
          stack_table_init(&locks.block, TABLE_SLOTS, TABLE_BYTES)) &&
         (locks.mutex.arena ||
          stack_table_init(&locks.mutex, TABLE_SLOTS, TABLE_BYTES));
    runtime_unlock();
    return ok || error_set(err, "out of memory");
}

/* So that sums of scaled values cannot overflow soon. */
#define MAX_RATE ((int64_t)1 << 46)

static bool set_rate(_Atomic int64_t *rate, int64_t value, struct error *err)
{
    atomic_store(&locks.is_set, true);
    if (value > 0 && !make_tables(err))
        return false;
    value = value < MAX_RATE ? value : MAX_RATE;
    atomic_store(rate, value > 0 ? value : 0);
    atomic_store(&lock_watch.on,
                 locks.block_rate_ns > 0 || locks.mutex_fraction > 0);
    return true;
}

bool locks_set_block_rate(int64_t ns, struct error *err)
{
    return set_rate(&locks.block_rate_ns, ns, err);
}

bool locks_set_mutex_fraction(int64_t n, struct error *err)
{
    return set_rate(&locks.mutex_fraction, n, err);
}

int64_t locks_block_rate(void)
{
    return atomic_load(&locks.block_rate_ns);
}

int64_t locks_mutex_fraction(void)
{
    return atomic_load(&locks.mutex_fraction);
}

bool locks_serve(void)
{
    struct error err;

    if (!lock_watch.has_hooks || atomic_load(&locks.is_set))
        return false;
    locks_set_block_rate(LOCKS_CHEAP_BLOCK_NS, &err);
    locks_set_mutex_fraction(LOCKS_CHEAP_MUTEX_FRACTION, &err);
    return true;
}

void locks_unserve(void)
{
    struct error err;

    locks_set_block_rate(0, &err);
    locks_set_mutex_fraction(0, &err);
    atomic_store(&locks.is_set, false);
}

static void read_rate(const char *name, bool (*set)(int64_t, struct error *))
{
    const char *text = getenv(name);
    struct error err;
    uint64_t value;

    if (text && str_to_u64(str_from(text), 10, &value) && value < INT64_MAX)
        set((int64_t)value, &err);
}

void locks_read_environment(void)
{
    read_rate("PPROF_BLOCK_RATE", locks_set_block_rate);
    read_rate("PPROF_MUTEX_FRACTION", locks_set_mutex_fraction);
}

const struct stack_table *locks_blocked(void)
{
    return &locks.block;
}

const struct stack_table *locks_contended(void)
{
    return &locks.mutex;
}

void locks_after_fork(void)
{
    if (atomic_load(&lock_watch.on))
        lock_lines_reset(&lock_watch.lines);
    if (locks.block.arena)
        stack_table_clear(&locks.block);
    if (locks.mutex.arena)
        stack_table_clear(&locks.mutex);
}

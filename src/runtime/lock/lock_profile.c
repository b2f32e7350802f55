/*
 * Snapshots of the block and mutex profiles, and their texts in Go's form.
 * Counts are kept in parts of one (locks.h) and become whole here.
 */
#include "runtime/lock/lock_profile.h"

#include <stdlib.h>

#include "base/pages.h"
#include "runtime/lock/locks.h"
#include "runtime/state.h"
#include "runtime/write/stack_text.h"

enum { CONTENTIONS, DELAY };

static void add_comments(struct buf *out, const struct stack_table *t,
                         bool mutex)
{
    if (mutex)
        buf_addf(out, "mutex profile fraction: %lld\n",
                 (long long)locks_mutex_fraction());
    else
        buf_addf(out, "block profile rate: %lld ns\n",
                 (long long)locks_block_rate());
    if (t->refused)
        buf_addf(out, "dropped samples: %llu\n",
                 (unsigned long long)t->refused);
    if (mutex && lock_watch.lines.lost)
        buf_addf(out, "waits that were not charged to a lock holder: %llu\n",
                 (unsigned long long)lock_watch.lines.lost);
    if (!lock_watch.has_hooks)
        buf_addf(out, "%s\n", LOCKS_NO_HOOKS);
}

/* Whole counts; what is smaller than one is shown as one, as Go does. */
static bool copy(const struct stack_table *from, struct stack_table *out)
{
    const struct stack_record *r;
    uint32_t at = 0;

    while (from->arena && (r = stack_table_next(from, &at)) != NULL) {
        int64_t parts = atomic_load(&r->values[0]);
        struct stack_record *to;

        if (parts == 0)
            continue; /* taken before a wait that is not over */
        to = stack_table_add(out, r->pcs, r->n, r->tag);
        if (!to)
            return false;
        stack_record_count(to, CONTENTIONS,
                           parts < LOCKS_ONE ? 1 : parts / LOCKS_ONE);
        stack_record_count(to, DELAY, atomic_load(&r->values[1]));
    }
    return true;
}

static bool take(struct snapshot *s, const struct stack_table *t, bool mutex,
                 struct error *err)
{
    uint64_t bytes = 8 * atomic_load(&t->used) + (1u << 20);
    uint32_t slots = 4096;

    while (slots / 2 < atomic_load(&t->n))
        slots *= 2;
    if (!runtime_ready(err) ||
        !snapshot_begin(s, mutex ? "mutex" : "block", slots, bytes, err))
        return false;
    s->spec.n_types = 2;
    s->spec.types[CONTENTIONS] = (struct profile_type){"contentions", "count"};
    s->spec.types[DELAY] = (struct profile_type){"delay", "nanoseconds"};
    s->spec.period_type = s->spec.types[CONTENTIONS];
    add_comments(&s->spec.comments, t, mutex);
    return copy(t, &s->table) || error_set(err, "too many different stacks");
}

bool lock_take_block(struct snapshot *s, bool details, struct error *err)
{
    (void)details;
    return take(s, locks_blocked(), false, err);
}

bool lock_take_mutex(struct snapshot *s, bool details, struct error *err)
{
    (void)details;
    return take(s, locks_contended(), true, err);
}

uint64_t lock_count_block(void)
{
    return atomic_load(&locks_blocked()->n);
}

uint64_t lock_count_mutex(void)
{
    return atomic_load(&locks_contended()->n);
}

static const char *switched_off(bool is_off, const char *how)
{
    return !lock_watch.has_hooks ? LOCKS_NO_HOOKS : is_off ? how : NULL;
}

const char *lock_block_off(void)
{
    return switched_off(
        locks_block_rate() <= 0,
        "set PPROF_BLOCK_RATE=1000000 or call pprof_set_block_profile_rate()");
}

const char *lock_mutex_off(void)
{
    return switched_off(locks_mutex_fraction() <= 0,
                        "set PPROF_MUTEX_FRACTION=10 or call "
                        "pprof_set_mutex_profile_fraction()");
}

static int by_delay(const void *a, const void *b)
{
    const struct stack_record *const *x = a, *const *y = b;
    int64_t m = (*x)->values[DELAY], n = (*y)->values[DELAY];

    return (m < n) - (m > n);
}

/* The numbers are scaled already, so the period that readers multiply by
 * is 1. */
static void add_head(struct buf *out, bool mutex)
{
    buf_addf(out, "--- %s:\ncycles/second=1000000000\n",
             mutex ? "mutex" : "contention");
    if (mutex)
        buf_addf(out, "sampling period=%d\n", locks_mutex_fraction() > 0);
}

bool lock_write_text(const struct snapshot *s, struct buf *out,
                     struct error *err)
{
    struct pages_vec v = {.size = sizeof(const struct stack_record *)};
    const struct stack_record *r, **all;
    struct names names;
    uint32_t at = 0;

    all = pages_vec_push(&v, s->table.n);
    if (s->table.n && !all)
        return error_set(err, "out of memory");
    for (size_t i = 0; (r = stack_table_next(&s->table, &at)) != NULL;)
        all[i++] = r;
    if (v.n)
        qsort(all, v.n, sizeof(*all), by_delay);
    runtime_lock();
    names_init(&names, &runtime.modules);
    add_head(out, str_eq(str_from(s->spec.name), STR("mutex")));
    for (size_t i = 0; i < v.n; i++) {
        buf_addf(out, "%lld %lld", (long long)all[i]->values[DELAY],
                 (long long)all[i]->values[CONTENTIONS]);
        text_add_stack(out, &names, all[i], 0);
    }
    names_release(&names);
    runtime_unlock();
    pages_vec_release(&v);
    return buf_ok(out) || error_set(err, "the profile is too big");
}

#include "test.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "pprof/pprof.h"
#include "runtime/lock/lock_lines.h"
#include "runtime/lock/locks.h"

#define THREADS 8
#define ROUNDS  20000

static struct lock_lines lines;
static int some_lock, other_lock;

TEST(a_release_pays_for_all_who_wait)
{
    struct lock_line *a, *b;

    lock_lines_reset(&lines);
    EXPECT(lock_lines_charge(&lines, &some_lock, 50) == 0);
    a = lock_lines_enter(&lines, &some_lock, 100);
    b = lock_lines_enter(&lines, &some_lock, 200);
    EXPECT(a && b && lines.waiters == 2);
    EXPECT(lock_lines_charge(&lines, &other_lock, 300) == 0);
    /* 200 of a and 100 of b. */
    EXPECT(lock_lines_charge(&lines, &some_lock, 300) == 300);
    lock_lines_leave(&lines, a, 100);
    /* b goes on waiting; what was charged is not charged again. */
    EXPECT(lock_lines_charge(&lines, &some_lock, 350) == 50);
    lock_lines_leave(&lines, b, 200);
    EXPECT(lines.waiters == 0);
    EXPECT(lock_lines_charge(&lines, &some_lock, 400) == 0);
}

TEST(a_line_is_used_again_by_another_lock)
{
    static char locks[4 * LOCK_LINES][64];

    lock_lines_reset(&lines);
    for (int i = 0; i < 4 * LOCK_LINES; i++) {
        struct lock_line *l = lock_lines_enter(&lines, locks[i], i * 10);

        EXPECT(l != NULL);
        EXPECT(lock_lines_charge(&lines, locks[i], i * 10 + 7) == 7);
        lock_lines_leave(&lines, l, i * 10);
    }
    EXPECT(lines.lost == 0 && lines.waiters == 0);
}

TEST(more_locks_than_lines_are_counted_as_lost)
{
    static char locks[2 * LOCK_LINES][64];
    unsigned lost = 0;

    lock_lines_reset(&lines);
    for (int i = 0; i < 2 * LOCK_LINES; i++)
        lost += lock_lines_enter(&lines, locks[i], 1) == NULL;
    EXPECT(lost >= LOCK_LINES && lines.lost == lost);
}

/* A thread that was interrupted with the line in its hands. */
TEST(who_leaves_a_busy_line_is_removed_by_the_next_visitor)
{
    struct lock_line *a, *b;

    lock_lines_reset(&lines);
    a = lock_lines_enter(&lines, &some_lock, 100);
    b = lock_lines_enter(&lines, &some_lock, 100);
    EXPECT(a == b);
    atomic_store(&a->busy, 1);
    lock_lines_leave(&lines, a, 100);
    EXPECT(lock_lines_charge(&lines, &some_lock, 150) == 0);
    atomic_store(&a->busy, 0);
    EXPECT(lock_lines_charge(&lines, &some_lock, 200) == 100);
    lock_lines_leave(&lines, b, 100);
    EXPECT(a->lock == 0);
}

static uint32_t n_notes(struct lock_line *l)
{
    uint32_t n = 0;

    for (int i = 0; i < LOCK_NOTES; i++)
        n += l->notes[i] != 0;
    return n;
}

static _Atomic int64_t entered, charged;

static void *hammer(void *arg)
{
    static int locks[3];
    unsigned seed = (unsigned)(uintptr_t)arg;

    for (int i = 0; i < ROUNDS; i++) {
        int *lock = &locks[rand_r(&seed) % 3];
        int64_t start = clock_monotonic_ns();
        struct lock_line *l = lock_lines_enter(&lines, lock, start);

        atomic_fetch_add(&charged,
                         lock_lines_charge(&lines, lock, clock_monotonic_ns()));
        if (l)
            lock_lines_leave(&lines, l, start);
        atomic_fetch_add(&entered, clock_monotonic_ns() - start);
    }
    return NULL;
}

TEST(lines_are_empty_after_a_crowd_and_nothing_was_charged_twice)
{
    pthread_t threads[THREADS];

    lock_lines_reset(&lines);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, hammer, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    EXPECT(lines.waiters == 0);
    EXPECT(charged > 0 && charged <= entered);
    for (int i = 0; i < LOCK_LINES; i++)
        EXPECT(lines.lines[i].n == n_notes(&lines.lines[i]));
}

TEST(rates_need_hooks)
{
    EXPECT(pprof_set_block_profile_rate(1) == -ENOTSUP);
    EXPECT(pprof_set_mutex_profile_fraction(1) == -ENOTSUP);
    EXPECT(pprof_set_block_profile_rate(0) == 0);
    EXPECT(pprof_set_mutex_profile_fraction(-1) == 0);
}

static void pretend_waits(int n, int64_t ns)
{
    struct lock_wait w;

    for (int i = 0; i < n; i++) {
        if (!locks_wait_begin(&w, NULL, LOCK_SITE()))
            continue;
        w.start_ns = clock_monotonic_ns() - ns;
        locks_wait_end(&w, true);
    }
}

static void sums(const struct stack_table *t, double *count, double *delay)
{
    const struct stack_record *r;
    uint32_t at = 0;

    *count = *delay = 0;
    while ((r = stack_table_next(t, &at)) != NULL) {
        *count += (double)r->values[0] / LOCKS_ONE;
        *delay += (double)r->values[1];
    }
}

/* Short waits are thinned out, and what is left is scaled up: the sums are
 * within five standard errors of the truth. */
TEST(thinned_out_waits_sum_up_to_the_truth)
{
    const double n = 20000, ns = 100000, rate = 1000000, p = ns / rate;
    double count, delay, error = 5 * sqrt(n * p * (1 - p)) / p;

    lock_watch.has_hooks = true;
    EXPECT(pprof_set_block_profile_rate((long long)rate) == 0);
    pretend_waits((int)n, (int64_t)ns);
    sums(locks_blocked(), &count, &delay);
    EXPECT(fabs(count - n) < error + 0.02 * n);
    EXPECT(fabs(delay - n * ns) < error * ns + 0.02 * n * ns);

    EXPECT(pprof_set_block_profile_rate(0) == 0);
}

/* A block profile has the wrapper first, then who called it. */
TEST(a_wait_is_charged_to_the_wrapper_and_its_caller)
{
    struct lock_site site = {.caller = __builtin_return_address(0),
                             .wrapper = 0x1234};
    const struct stack_record *r, *found = NULL;
    struct lock_wait w;
    uint32_t at = 0;

    lock_watch.has_hooks = true;
    EXPECT(pprof_set_block_profile_rate(1) == 0);
    EXPECT(locks_wait_begin(&w, NULL, site));
    w.start_ns -= 5000000;
    locks_wait_end(&w, false); /* it did not wait after all */
    EXPECT(locks_wait_begin(&w, NULL, site));
    w.start_ns -= 5000000;
    locks_wait_end(&w, true);
    while ((r = stack_table_next(locks_blocked(), &at)) != NULL)
        if (r->pcs[0] == 0x1234)
            found = r;
    EXPECT(found && found->n >= 2);
    EXPECT(found->pcs[1] == (uint64_t)(uintptr_t)site.caller - 1);
    EXPECT(found->values[0] == LOCKS_ONE);
    EXPECT(found->values[1] >= 5000000 && found->values[1] < 9000000000);
    EXPECT(pprof_set_block_profile_rate(0) == 0);
}

TEST(one_release_in_n_counts_n_fold)
{
    double count, delay;
    const int rounds = 20000, fraction = 10;
    struct lock_wait w;

    lock_watch.has_hooks = true;
    EXPECT(pprof_set_mutex_profile_fraction(fraction) == 0);
    EXPECT(pprof_set_mutex_profile_fraction(-1) == fraction);
    for (int i = 0; i < rounds; i++) {
        EXPECT(locks_wait_begin(&w, &some_lock, LOCK_SITE()));
        locks_release_end(locks_release_begin(&some_lock), LOCK_SITE());
        locks_wait_end(&w, true);
    }
    sums(locks_contended(), &count, &delay);
    EXPECT(fabs(count - rounds) < 5 * sqrt(rounds * 0.1 * 0.9) * fraction);
    EXPECT(delay > 0);
    EXPECT(pprof_set_mutex_profile_fraction(0) == fraction);
    EXPECT(!locks_wait_begin(&w, &some_lock, LOCK_SITE()));
}

TEST_MAIN

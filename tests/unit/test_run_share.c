#include "test.h"

#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "runtime/thread/run_share.h"
#include "runtime/thread/thread_labels.h"
#include "runtime/thread/threads.h"

/* Of so many looks, how many are called running? */
static int looks_running(struct run_share *s, int looks, int64_t ran,
                         int64_t waited)
{
    int64_t ran_ns = s->ran_ns + 1, waited_ns = s->waited_ns + 1;
    int running = 0;

    run_share_next(s, ran_ns, waited_ns, STATE_RUNNABLE);
    for (int i = 0; i < looks; i++)
        running += run_share_next(s, ran_ns += ran, waited_ns += waited,
                                  STATE_NONE) == STATE_RUNNING;
    return running;
}

TEST(so_many_looks_are_running_as_the_thread_ran)
{
    EXPECT(looks_running(&(struct run_share){0}, 1000, 10, 0) == 1000);
    EXPECT(looks_running(&(struct run_share){0}, 1000, 0, 10) == 0);
    EXPECT(looks_running(&(struct run_share){0}, 1000, 1, 1) == 500);
    EXPECT(looks_running(&(struct run_share){0}, 1000, 1, 3) == 250);
    EXPECT(looks_running(&(struct run_share){0}, 1000, 7, 3) == 700);
    /* Whatever it slept does not count. */
    EXPECT(looks_running(&(struct run_share){0}, 1000, 1, 0) == 1000);
}

TEST(without_anything_to_count_from_it_is_the_guess)
{
    struct run_share s = {0};

    EXPECT(run_share_next(&s, 500, 500, STATE_RUNNABLE) == STATE_RUNNABLE);
    EXPECT(run_share_next(&s, 500, 500, STATE_RUNNING) == STATE_RUNNING);
    EXPECT(run_share_next(&s, 100, 500, STATE_RUNNING) == STATE_RUNNING);
    EXPECT(run_share_state(&s, 1 << 22, 1000, 100, STATE_NONE) == STATE_NONE);
}

TEST(who_has_run_all_the_time_is_not_asked_about)
{
    struct run_share s = {.time_ns = 1000, .cpu_ns = 50};

    /* There is no such thread. */
    EXPECT(run_share_state(&s, 1 << 22, 2000, 1000, STATE_NONE) ==
           STATE_RUNNING);
    EXPECT(s.time_ns == 2000 && s.cpu_ns == 1000);
}

TEST(the_kernel_counts_what_a_thread_ran)
{
    int64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + 20000000;
    int64_t before, after, waited;

    if (!threads_times(gettid(), &before, &waited)) {
        printf("# this kernel does not say\n");
        return;
    }
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until)
        ;
    EXPECT(threads_times(gettid(), &after, &waited));
    EXPECT(after - before > 10000000 && waited >= 0);
}

TEST_MAIN

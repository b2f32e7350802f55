/*
 * The readers of the wall profile: each has its own time, and a look is
 * made once for all.
 */
#include "test.h"

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "profile/profile.h"
#include "profile/read.h"
#include "runtime/state.h"
#include "runtime/thread/wall.h"
#include "runtime/thread/wall_sampler.h"

#define PATIENCE_NS (20 * SECOND)

static struct error err;
static int fds[2];

/* A thread whose state is known: it waits from the first test to the last. */
__attribute__((noinline)) static void *waits_in_read(void *arg)
{
    char c;

    (void)arg;
    return read(fds[0], &c, 1) == 1 ? fds : NULL;
}

/* What a profile says of the thread that waits. */
struct seen {
    int64_t samples, ns, period;
    uint64_t looks;
    bool has_threads; /* labels */
};

static bool is_waiter(const struct profile *p, size_t sample)
{
    for (size_t i = p->loc_start[sample]; i < p->loc_start[sample + 1]; i++) {
        const struct location *l = &p->locations.v[p->stack[i]];

        for (uint32_t k = 0; k < l->n_lines; k++)
            if (str_eq(profile_str(
                           p, p->functions
                                  .v[p->lines.v[l->line_start + k].function]
                                  .name),
                       STR("waits_in_read")))
                return true;
    }
    return false;
}

static struct seen read_profile(const struct buf *out)
{
    struct profile *p = profile_read_memory(buf_str(out), NULL, &err);
    struct seen s = {0};

    EXPECT(p != NULL);
    if (!p)
        return s;
    for (size_t i = 0; i < p->n_samples; i++)
        if (is_waiter(p, i)) {
            s.samples += p->values[2 * i];
            s.ns += p->values[2 * i + 1];
        }
    for (size_t i = 0; i < p->comments.n; i++) {
        struct str c = profile_str(p, p->comments.v[i]);

        if (str_has_prefix(c, STR("wall: ")))
            s.looks = strtoull(c.s + 6, NULL, 10);
    }
    s.period = p->period;
    s.has_threads = profile_find_string(p, STR("thread_id")) != NO_INDEX;
    profile_free(p);
    return s;
}

static struct seen take(enum wall_reader reader, bool goes_on)
{
    struct buf out = BUF_INIT(16u << 20);
    struct seen s = {0};
    bool ok = goes_on ? wall_slice(reader, &out, &err)
                      : wall_stop(reader, &out, &err);

    EXPECT(ok);
    if (ok)
        s = read_profile(&out);
    buf_release(&out);
    return s;
}

static void add(struct seen *sum, struct seen s)
{
    sum->samples += s.samples;
    sum->ns += s.ns;
    sum->looks += s.looks;
    sum->has_threads |= s.has_threads;
}

static unsigned samplers(void)
{
    DIR *d = opendir("/proc/self/task");
    struct dirent *e;
    unsigned n = 0;

    while (d && (e = readdir(d)) != NULL) {
        struct buf name = BUF_INIT(64);
        char path[300];

        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", e->d_name);
        if (e->d_name[0] != '.' && file_read(path, &name, &err))
            n += str_has_prefix(buf_str(&name), STR("pprof-wall"));
        buf_release(&name);
    }
    if (d)
        closedir(d);
    return n;
}

static bool start(enum wall_reader reader, int hz, bool tag_threads)
{
    return wall_start(&(struct wall_options){reader, hz, tag_threads}, &err);
}

TEST(two_readers_share_each_look)
{
    int64_t end = clock_monotonic_ns() + PATIENCE_NS;
    struct seen pushed = {0}, asked;

    EXPECT(start(WALL_ASKED, 1000, true));
    EXPECT(start(WALL_PUSHED, 0, false));
    while (pushed.looks < 40 && clock_monotonic_ns() < end) {
        usleep(5000);
        add(&pushed, take(WALL_PUSHED, true));
    }
    EXPECT(samplers() == 1); /* it has looked, so it has its name */
    add(&pushed, take(WALL_PUSHED, false));
    EXPECT(wall_is_running(WALL_ASKED) && !wall_is_running(WALL_PUSHED));
    asked = take(WALL_ASKED, false);
    EXPECT(samplers() == 0);
    /* Nothing is lost between slices, and nothing counts twice. */
    EXPECT(pushed.looks >= 40 && asked.looks >= pushed.looks);
    EXPECT(pushed.samples == (int64_t)pushed.looks);
    EXPECT(asked.samples <= (int64_t)asked.looks);
    EXPECT(asked.samples >= pushed.samples && asked.ns >= pushed.ns);
    EXPECT(pushed.ns > 0);
    /* Labels that one has asked for are not in what the other gets. */
    EXPECT(asked.has_threads && !pushed.has_threads);
}

TEST(a_reader_begins_and_ends_within_the_time_of_another)
{
    struct seen pushed, asked;

    EXPECT(start(WALL_PUSHED, 0, false));
    usleep(50000);
    EXPECT(start(WALL_ASKED, 0, true));
    EXPECT(!start(WALL_ASKED, 0, false));
    EXPECT_STR(str_from(err.text), "wall profiling already in use");
    EXPECT(!start(WALL_PUSHED, 0, false));
    usleep(50000);
    asked = take(WALL_ASKED, false);
    pushed = take(WALL_PUSHED, false);
    EXPECT(pushed.looks >= asked.looks && pushed.samples >= asked.samples);
    EXPECT(pushed.samples > 0 && !pushed.has_threads);
    EXPECT(!wall_stop(WALL_ASKED, NULL, &err));
    EXPECT(!wall_slice(WALL_PUSHED, NULL, &err));
}

TEST(each_reader_says_its_own_rate)
{
    EXPECT(start(WALL_PUSHED, 0, false));
    EXPECT(start(WALL_ASKED, 1000, false));
    EXPECT(take(WALL_ASKED, false).period == 1000000);
    EXPECT(take(WALL_PUSHED, false).period == 20000000);
}

static int64_t total(const struct stack_table *t)
{
    const struct stack_record *r;
    int64_t sum = 0;
    uint32_t at = 0;

    while ((r = stack_table_next(t, &at)) != NULL)
        sum += atomic_load(&r->values[0]);
    return sum;
}

static bool fills(const struct stack_table *t)
{
    int64_t end = clock_monotonic_ns() + PATIENCE_NS, n = 0;

    while (n == 0 && clock_monotonic_ns() < end) {
        wall_sampler_pause();
        n = total(t);
        wall_sampler_resume();
        usleep(1000);
    }
    return n > 0;
}

/* Threads that wait keep the place where they are counted: after this, it is
 * one of the new table. */
TEST(another_table_takes_over)
{
    struct stack_table tables[2];
    struct wall_counts counts;
    int64_t before;

    EXPECT(runtime_ready(&err));
    EXPECT(stack_table_init(&tables[0], 1024, 1 << 20));
    EXPECT(stack_table_init(&tables[1], 1024, 1 << 20));
    EXPECT(wall_sampler_start(&tables[0], 1000000, false, &err));
    EXPECT(fills(&tables[0]));
    wall_sampler_pause();
    wall_sampler_use(&tables[1]);
    before = total(&tables[0]);
    wall_sampler_resume();
    EXPECT(fills(&tables[1]));
    wall_sampler_stop();
    EXPECT(total(&tables[0]) == before);
    counts = wall_sampler_counts();
    EXPECT(counts.ticks > 1);
    stack_table_release(&tables[0]);
    stack_table_release(&tables[1]);
}

int main(int argc, char **argv)
{
    pthread_t waiter;
    int rc;

    if (pipe(fds) != 0 ||
        pthread_create(&waiter, NULL, waits_in_read, NULL) != 0)
        return 1;
    usleep(50000); /* it is in read() by now */
    rc = test_main(argc, argv);
    if (write(fds[1], "x", 1) == 1)
        pthread_join(waiter, NULL);
    return rc;
}

/*
 * libpprof when there is no memory: every operation is made to fail at its
 * first allocation, at its second, and so on, until it succeeds.  Each failure
 * must be reported, lose nothing, and leave the library usable.
 */
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "fail_pages.h"
#include "runtime/cpu/cpu.h"
#include "runtime/profiles.h"
#include "runtime/state.h"
#include "runtime/thread/stack_look.h"
#include "runtime/thread/wall.h"

#define MAX_TRIES 500

typedef bool operation(struct error *err);

/* Background threads may be giving back what they had. */
static bool nothing_is_lost(int64_t before)
{
    for (int patience = 0; patience < 200; patience++) {
        if (atomic_load(&fail_pages_bytes) <= before)
            return true;
        usleep(5000);
    }
    printf("# %lld bytes lost\n",
           (long long)(atomic_load(&fail_pages_bytes) - before));
    return false;
}

/* The number of allocations that were made to fail. */
static int fail_all(const char *name, operation *op)
{
    struct error err;
    int failures = 0;

    EXPECT(op(&err)); /* what is kept for good is there now */
    for (int n = 1; n < MAX_TRIES; n++) {
        int64_t before = atomic_load(&fail_pages_bytes);
        bool ok;

        err.text[0] = '\0';
        fail_pages_at(n);
        ok = op(&err);
        if (!fail_pages_was_hit()) {
            EXPECT(ok);
            printf("# %s: %d allocations, %d failures\n", name, n - 1,
                   failures);
            return n - 1;
        }
        failures += !ok;
        if (!ok && !err.text[0])
            printf("# %s fails without words at %d\n", name, n);
        EXPECT(ok || err.text[0]);
        EXPECT(nothing_is_lost(before));
    }
    return MAX_TRIES;
}

/* Before anything else: what it holds it holds for good. */
TEST(the_library_starts_when_there_is_memory_again)
{
    struct error err;
    int n = 1;

    for (; n < MAX_TRIES; n++) {
        bool ok;

        fail_pages_at(n);
        ok = runtime_ready(&err);
        fail_pages_at(0);
        if (ok)
            break;
        EXPECT(err.text[0]);
        EXPECT(atomic_load(&fail_pages_bytes) == 0);
    }
    printf("# ready after %d failures\n", n - 1);
    EXPECT(n > 2 && n < MAX_TRIES);
    modules_build_all(&runtime.modules);
}

static bool dump_threads(struct error *err)
{
    struct threads t;

    if (!threads_dump(&t, err))
        return false;
    threads_release(&t);
    return true;
}

TEST(a_thread_dump)
{
    EXPECT(fail_all("threads_dump", dump_threads) >= 3);
}

static bool write_as(const char *name, int debug, struct error *err)
{
    struct buf out = BUF_INIT(16u << 20);
    bool ok = profiles_write(profiles_find(str_from(name)), debug, &out, err);

    buf_release(&out);
    return ok;
}

static bool write_profile(struct error *err)
{
    return write_as("threads", 0, err);
}

static bool write_text(struct error *err)
{
    return write_as("threads", 1, err);
}

static bool write_dump(struct error *err)
{
    return write_as("threads", 2, err);
}

TEST(a_profile_in_all_its_forms)
{
    EXPECT(fail_all("profile", write_profile) >= 5);
    EXPECT(fail_all("text", write_text) >= 5);
    EXPECT(fail_all("dump", write_dump) >= 4);
}

static bool cpu_profile(struct error *err)
{
    struct buf out = BUF_INIT(16u << 20);
    bool ok;

    if (!cpu_start(&(struct cpu_options){.timeline = false}, err)) {
        EXPECT(!cpu_is_running(CPU_ASKED));
        return false;
    }
    ok = cpu_stop(CPU_ASKED, &out, err);
    EXPECT(!cpu_is_running(CPU_ASKED));
    buf_release(&out);
    return ok;
}

static bool timeline(struct error *err)
{
    struct buf out = BUF_INIT(16u << 20);
    bool ok = cpu_start(&(struct cpu_options){.timeline = true}, err) &&
              cpu_stop_trace(&out, err);

    EXPECT(!cpu_is_running(CPU_ASKED));
    buf_release(&out);
    return ok;
}

TEST(a_cpu_profile_and_a_timeline)
{
    EXPECT(fail_all("cpu", cpu_profile) >= 3);
    EXPECT(fail_all("timeline", timeline) >= 3);
}

static bool wall_profile(struct error *err)
{
    struct buf out = BUF_INIT(16u << 20);
    bool ok = wall_start(&(struct wall_options){.hz = 1000}, err);

    if (ok) {
        usleep(5000);
        ok = wall_stop(WALL_ASKED, &out, err);
    }
    EXPECT(!wall_is_running(WALL_ASKED));
    buf_release(&out);
    return ok;
}

TEST(a_wall_profile)
{
    EXPECT(fail_all("wall", wall_profile) >= 5);
}

int main(int argc, char **argv)
{
    /* Lines are looked up in a library that has memory of its own. */
    setenv("PPROF_SYMBOL_MEMORY", "0", 1);
    setenv("PPROF_CPU_SOURCE", "timer", 1);
    return test_main(argc, argv);
}

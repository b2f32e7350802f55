/*
 * Takes profiles in rounds.  The first round begins when the program does, so
 * that a program that ends before the first push has something to send, and
 * so that the start is in the profiles.  A profile without a sample is not
 * sent: collectors refuse it.
 */
#include "runtime/push/push_state.h"

#include "base/clock.h"
#include "runtime/cpu/cpu.h"
#include "runtime/profiles.h"
#include "runtime/rawcall.h"
#include "runtime/say.h"
#include "runtime/thread/wall.h"

/* The first pause is shorter for some: it spreads a fleet over the interval. */
#define FIRST_LOW 30
#define LOW       90
#define HIGH      110

static struct {
    bool said_cpu, said_wall; /* that there is none */
    unsigned rounds;          /* of this process */
} taker;

static void say_once(bool *said, const char *what, const struct error *err)
{
    if (!*said && !push.options.quiet)
        say_note("no %s profile is pushed: %s", what, err->text);
    *said = true;
}

static void enqueue(enum push_kind kind, const struct buf *out)
{
    /* Collectors know the stacks of all threads by the name that Go gave. */
    const char *type =
        kind == PUSH_THREADS ? "goroutine" : push_kind_names[kind];

    push_enqueue(&(struct push_profile){.type = type, .bytes = buf_str(out)});
}

/* --- what takes time ------------------------------------------------------ */

static void begin_cpu(void)
{
    struct error err;

    if (push.options.kinds[PUSH_CPU] && !cpu_is_running(CPU_PUSHED) &&
        !cpu_start(&(struct cpu_options){.reader = CPU_PUSHED}, &err))
        say_once(&taker.said_cpu, "CPU", &err);
}

static void end_cpu(bool goes_on)
{
    struct buf out = BUF_INIT(push.options.max_bytes);
    struct error err;
    bool ok;

    if (!cpu_is_running(CPU_PUSHED))
        return;
    ok = goes_on ? cpu_slice(CPU_PUSHED, &out, &err)
                 : cpu_stop(CPU_PUSHED, &out, &err);
    if (ok && cpu_samples(CPU_PUSHED) > 0)
        enqueue(PUSH_CPU, &out);
    if (!ok)
        say_once(&taker.said_cpu, "CPU", &err);
    buf_release(&out);
}

static void begin_wall(void)
{
    struct error err;

    if (push.options.kinds[PUSH_WALL] && !wall_is_running(WALL_PUSHED) &&
        !wall_start(&(struct wall_options){.reader = WALL_PUSHED}, &err))
        say_once(&taker.said_wall, "wall", &err);
}

static void end_wall(bool goes_on)
{
    struct buf out = BUF_INIT(push.options.max_bytes);
    struct error err;

    if (!wall_is_running(WALL_PUSHED))
        return;
    if (goes_on ? wall_slice(WALL_PUSHED, &out, &err)
                : wall_stop(WALL_PUSHED, &out, &err))
        enqueue(PUSH_WALL, &out);
    else
        say_once(&taker.said_wall, "wall", &err);
    buf_release(&out);
}

/* --- what can be had at once ---------------------------------------------- */

static void take_snapshot(enum push_kind kind)
{
    const struct profile_kind *profile =
        profiles_find(kind == PUSH_THREADS ? STR("goroutine")
                                           : str_from(push_kind_names[kind]));
    struct buf out = BUF_INIT(push.options.max_bytes);
    struct error err;

    if (profiles_count(profile) > 0 && profiles_write(profile, 0, &out, &err))
        enqueue(kind, &out);
    buf_release(&out);
}

static void take_snapshots(void)
{
    for (enum push_kind kind = PUSH_HEAP; kind < PUSH_KINDS; kind++)
        if (push.options.kinds[kind])
            take_snapshot(kind);
}

/* --- rounds --------------------------------------------------------------- */

static bool has_length(void)
{
    return push.options.kinds[PUSH_CPU] || push.options.kinds[PUSH_WALL];
}

/* True: the next round follows at once, and profiles go on. */
static bool is_continuous(void)
{
    return has_length() && push.options.length_ns >= push.options.interval_ns;
}

static bool sleep_for(int64_t ns)
{
    return push_sleep_until(&push.taker_wake, clock_monotonic_ns() + ns);
}

static bool pause_between(void)
{
    int64_t ns =
        push.options.interval_ns - (has_length() ? push.options.length_ns : 0);

    if (is_continuous())
        return true;
    return sleep_for(push_jitter(ns, taker.rounds++ ? LOW : FIRST_LOW, HIGH));
}

static bool run_round(void)
{
    bool goes_on;

    begin_cpu();
    begin_wall();
    goes_on = !has_length() ||
              sleep_for(is_continuous()
                            ? push_jitter(push.options.length_ns, LOW, HIGH)
                            : push.options.length_ns);
    if (!goes_on)
        return false;
    end_cpu(is_continuous());
    end_wall(is_continuous());
    take_snapshots();
    return true;
}

/* Nothing is queued that will not be sent. */
static void end_round(void)
{
    uint32_t asked = PUSH_ASKED;
    struct error err;

    if (atomic_load(&push.phase) == PUSH_ASKED) {
        end_cpu(false);
        end_wall(false);
        take_snapshots();
    }
    if (cpu_is_running(CPU_PUSHED))
        cpu_stop(CPU_PUSHED, NULL, &err);
    if (wall_is_running(WALL_PUSHED))
        wall_stop(WALL_PUSHED, NULL, &err);
    atomic_compare_exchange_strong(&push.phase, &asked, PUSH_TAKEN);
    atomic_fetch_add(&push.sender_wake, 1);
    raw_futex_wake_all(&push.sender_wake);
}

/* What needs no time to measure has nothing to show at the first moment. */
void *push_taker(void *arg)
{
    (void)arg;
    taker.said_cpu = taker.said_wall = false;
    taker.rounds = 0;
    while ((has_length() || pause_between()) && run_round() &&
           (!has_length() || pause_between()))
        ;
    end_round();
    atomic_fetch_sub(&push.threads, 1);
    return NULL;
}

/*
 * SIGNAL CONTEXT: see the header.
 */
#include "runtime/lock/lock_lines.h"

#include <stdbool.h>
#include <string.h>

#define PROBES   4
#define SPINS    256
#define PATIENCE 100000

static struct lock_line *line_at(struct lock_lines *t, const void *lock,
                                 unsigned probe)
{
    uint64_t h = (uint64_t)(uintptr_t)lock * 0x9e3779b97f4a7c15u;

    return &t->lines[((h >> 40) + probe) % LOCK_LINES];
}

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    __asm__ volatile("yield");
#endif
}

static bool line_take(struct lock_line *line)
{
    for (int i = 0; i < SPINS; i++) {
        if (!atomic_load_explicit(&line->busy, memory_order_relaxed) &&
            !atomic_exchange_explicit(&line->busy, 1, memory_order_acquire))
            return true;
        relax();
    }
    return false;
}

/* A waiter counts from when it came, or from the last charge. */
static int64_t counts_since(const struct lock_line *line, int64_t entered_ns)
{
    int64_t charged =
        atomic_load_explicit(&line->charged_ns, memory_order_relaxed);

    return charged > entered_ns ? charged : entered_ns;
}

static void remove_waiter(struct lock_line *line, int64_t since)
{
    if (line->n == 0)
        return;
    line->sum -= (uint64_t)since;
    if (--line->n == 0)
        atomic_store_explicit(&line->lock, 0, memory_order_relaxed);
}

static void read_notes(struct lock_line *line)
{
    for (int i = 0; i < LOCK_NOTES; i++) {
        int64_t since =
            atomic_load_explicit(&line->notes[i], memory_order_relaxed);

        if (since && atomic_compare_exchange_strong(&line->notes[i], &since, 0))
            remove_waiter(line, counts_since(line, since));
    }
}

static bool leave_note(struct lock_line *line, int64_t entered_ns)
{
    for (int i = 0; i < LOCK_NOTES; i++) {
        int64_t none = 0;

        if (atomic_compare_exchange_strong(&line->notes[i], &none, entered_ns))
            return true;
    }
    return false;
}

static void line_give(struct lock_line *line)
{
    atomic_store_explicit(&line->busy, 0, memory_order_release);
}

struct lock_line *lock_lines_enter(struct lock_lines *t, const void *lock,
                                   int64_t now_ns)
{
    for (unsigned i = 0; i < PROBES; i++) {
        struct lock_line *line = line_at(t, lock, i);
        uintptr_t has = atomic_load_explicit(&line->lock, memory_order_relaxed);
        bool mine;

        if ((has && has != (uintptr_t)lock) || !line_take(line))
            continue;
        read_notes(line);
        has = atomic_load_explicit(&line->lock, memory_order_relaxed);
        mine = has == 0 || has == (uintptr_t)lock;
        if (mine) {
            if (has == 0)
                line->n = 0, line->sum = 0;
            atomic_store_explicit(&line->lock, (uintptr_t)lock,
                                  memory_order_relaxed);
            line->n++;
            line->sum += (uint64_t)counts_since(line, now_ns);
        }
        line_give(line);
        if (mine) {
            atomic_fetch_add_explicit(&t->waiters, 1, memory_order_relaxed);
            return line;
        }
    }
    atomic_fetch_add_explicit(&t->lost, 1, memory_order_relaxed);
    return NULL;
}

void lock_lines_leave(struct lock_lines *t, struct lock_line *line,
                      int64_t entered_ns)
{
    atomic_fetch_sub_explicit(&t->waiters, 1, memory_order_relaxed);
    /* The thread that holds it is quick, or was preempted, or we are a handler
     * that interrupted it: a note becomes free sooner or later. */
    for (int i = 0; i < PATIENCE; i++) {
        if (line_take(line)) {
            read_notes(line);
            remove_waiter(line, counts_since(line, entered_ns));
            line_give(line);
            return;
        }
        if (leave_note(line, entered_ns))
            return;
    }
}

static int64_t charge(struct lock_line *line, const void *lock, int64_t now_ns)
{
    int64_t ns = 0;

    if (!line_take(line))
        return 0;
    read_notes(line);
    /* Somebody who looked at the clock later may have been here before. */
    if (atomic_load_explicit(&line->lock, memory_order_relaxed) ==
            (uintptr_t)lock &&
        now_ns >=
            atomic_load_explicit(&line->charged_ns, memory_order_relaxed)) {
        uint64_t all = (uint64_t)now_ns * line->n;

        ns = (int64_t)(all - line->sum);
        line->sum = all;
        atomic_store_explicit(&line->charged_ns, now_ns, memory_order_relaxed);
    }
    line_give(line);
    return ns;
}

int64_t lock_lines_charge(struct lock_lines *t, const void *lock,
                          int64_t now_ns)
{
    int64_t ns = 0;

    for (unsigned i = 0; i < PROBES; i++) {
        struct lock_line *line = line_at(t, lock, i);

        if (atomic_load_explicit(&line->lock, memory_order_relaxed) ==
            (uintptr_t)lock)
            ns += charge(line, lock, now_ns);
    }
    return ns > 0 ? ns : 0;
}

void lock_lines_reset(struct lock_lines *t)
{
    memset(t, 0, sizeof(*t));
}

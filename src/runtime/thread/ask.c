/*
 * Perf events are preferred, because they also fire in the kernel; where they
 * are refused for one thread, that thread gets a CPU timer.  Descriptors and
 * timers are kept with their slots, since opening one costs more than arming
 * it again.
 */
#include "runtime/thread/ask.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "base/own_fd.h"
#include "base/pages.h"
#include "runtime/cpu/cpu.h"
#include "runtime/cpu/cpu_timer.h"
#include "runtime/cpu/handlers.h"
#include "runtime/cpu/perf_event.h"
#include "runtime/state.h"
#include "runtime/thread/thread_list.h"

#define GRACE_NS 2000000000

/* How much CPU time a thread uses before it answers: the kernel's minimum. */
#define SOON_NS 10000

enum { NONE = -1 };

static size_t slots_bytes(void)
{
    return ASK_SLOTS * sizeof(struct ask);
}

bool asks_begin(struct asks *a, enum ask_group group)
{
    struct error ignored;

    assert(group < ASK_GROUPS && !atomic_load(&sampler.asks[group]));
    *a = (struct asks){.group = group, .slots = pages_alloc(slots_bytes())};
    if (!a->slots)
        return false;
    for (int i = 0; i < ASK_SLOTS; i++)
        a->fds[i] = a->timers[i] = NONE;
    a->by_event = a->in_kernel =
        !cpu_insists_on_timers() && perf_event_is_wise(&ignored);
    atomic_store(&sampler.asks[group], a->slots);
    return true;
}

static void close_slot(struct asks *a, int slot)
{
    if (a->fds[slot] != NONE)
        own_fd_close(a->fds[slot]);
    cpu_timer_free(a->timers[slot]);
    a->fds[slot] = a->timers[slot] = NONE;
}

void asks_end(struct asks *a)
{
    if (!a->slots)
        return;
    for (int i = 0; i < ASK_SLOTS; i++)
        close_slot(a, i);
    atomic_store(&sampler.asks[a->group], NULL);
    /* A handler that does not come to its end may still write. */
    if (grace_wait(&runtime.modules.grace, GRACE_NS))
        pages_free(a->slots, slots_bytes());
    a->slots = NULL;
}

static int open_event(struct asks *a, int tid, uint64_t value)
{
    struct perf_event e = {.tid = tid,
                           .period_ns = SOON_NS,
                           .value = value,
                           .kernel = a->in_kernel,
                           .disabled = true};
    int fd;

    if (!a->by_event)
        return NONE;
    handler_install(SIGTRAP);
    fd = perf_event_open(&e);
    if (fd < 0 && e.kernel && (errno == EACCES || errno == EPERM)) {
        a->in_kernel = e.kernel = false;
        fd = perf_event_open(&e);
    }
    if (fd < 0 && errno != ESRCH && errno != EMFILE && errno != ENFILE)
        a->by_event = false;
    return fd;
}

static bool open_slot(struct asks *a, int slot, int tid)
{
    uint64_t value = signal_value(
        (enum signal_kind)(SIGNAL_ASK + (int)a->group), (unsigned)slot);

    a->fds[slot] = open_event(a, tid, value);
    if (a->fds[slot] != NONE)
        return true;
    handler_install(SIGPROF);
    a->timers[slot] = cpu_timer_new(tid, value);
    return a->timers[slot] != NONE;
}

int asks_send(struct asks *a, int tid)
{
    for (int i = 0; i < ASK_SLOTS; i++) {
        if (a->fds[i] != NONE || a->timers[i] != NONE ||
            atomic_load(&a->slots[i].state) == ASK_WRITING)
            continue;
        atomic_store(&a->slots[i].tid, (uint32_t)tid);
        if (!open_slot(a, i, tid))
            return NONE;
        asks_send_again(a, i);
        return i;
    }
    return NONE;
}

void asks_send_again(struct asks *a, int slot)
{
    assert(slot >= 0 && slot < ASK_SLOTS);
    atomic_store(&a->slots[slot].state, ASK_SENT);
    if (a->fds[slot] != NONE)
        ioctl(a->fds[slot], PERF_EVENT_IOC_REFRESH, 1);
    else
        cpu_timer_set(a->timers[slot], 1, 0);
}

bool ask_cancel(struct ask *a)
{
    uint32_t sent = ASK_SENT;

    return atomic_compare_exchange_strong(&a->state, &sent, ASK_FREE) ||
           sent != ASK_WRITING;
}

void asks_forget(struct asks *a, int slot)
{
    close_slot(a, slot);
    atomic_store(&a->slots[slot].tid, 0);
    ask_cancel(&a->slots[slot]);
}

void asks_after_fork(struct asks *a)
{
    for (int i = 0; a->slots && i < ASK_SLOTS; i++)
        if (a->fds[i] != NONE)
            own_fd_close(a->fds[i]);
    atomic_store(&sampler.asks[a->group], NULL);
    a->slots = NULL;
}

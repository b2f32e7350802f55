/*
 * A look has three steps, and the thread's CPU clock is read before the first
 * and after the last: ask the kernel for pc and sp, copy, walk.  The stack is
 * copied in pieces, from the frame on that needs more, because most stacks fit
 * into the first 8 KiB and some have frames of a megabyte.  Nothing is read
 * from the thread's memory directly: it may end, and its stack be unmapped, at
 * any moment.
 */
#include "runtime/thread/stack_look.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/pages.h"
#include "runtime/cpu/sigprof.h"
#include "runtime/rawcall.h"
#include "runtime/thread/thread_list.h"

/* Most stacks fit into the first copy.  A walk that needs more gets the next
 * piece, and a single frame that is bigger a bigger one. */
#define FIRST_BYTES 8192
#define MAX_BYTES   (1u << 20)
#define MAX_PIECES  64

/* Frames whose pointer may have to be found for one stack. */
#define MAX_GUESSES 8

int64_t thread_cpu_ns(int tid)
{
    struct timespec t;

    if (raw_call4(SYS_clock_gettime, clock_of_thread(tid), (long)&t, 0, 0) != 0)
        return -1;
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* libc tells the kernel where a thread's list of robust mutexes is: in the
 * thread's own block, as far from its thread-locals as in any other thread. */
static uint64_t robust_list(int tid)
{
    uint64_t head = 0;
    size_t n = 0;

    return raw_call4(SYS_get_robust_list, tid, (long)&head, (long)&n, 0) == 0
               ? head
               : 0;
}

bool stack_looker_init(struct stack_looker *l)
{
    uint64_t head = robust_list(0);

    *l = (struct stack_looker){.room = pages_alloc(MAX_BYTES)};
    l->has_state_at = head != 0;
    l->state_at = (int64_t)((uint64_t)(uintptr_t)&pprof_thread - head);
    return l->room != NULL;
}

void stack_looker_release(struct stack_looker *l)
{
    pages_free(l->room, MAX_BYTES);
    l->room = NULL;
}

static enum look read_syscall(int tid, char *text, size_t size)
{
    char path[64];
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == ESRCH ? LOOK_GONE : LOOK_REFUSED;
    n = read(fd, text, size - 1);
    close(fd);
    if (n <= 0)
        return n < 0 && errno == ESRCH ? LOOK_GONE : LOOK_REFUSED;
    text[n] = '\0';
    return strncmp(text, "running", 7) == 0 ? LOOK_RUNS : LOOK_BLOCKED;
}

/* "NR ARG0 … ARG5 SP PC" or "-1 SP PC" */
static bool parse_syscall(const char *text, struct stack_seen *out)
{
    char *at;
    uint64_t v[8] = {0};
    size_t n = 0;

    out->call = strtol(text, &at, 10);
    while (n < 8 && *at == ' ')
        v[n++] = strtoull(at, &at, 16);
    if (n != (out->call < 0 ? 2u : 8u))
        return false;
    memcpy(out->args, v, out->call < 0 ? 0 : sizeof(out->args));
    out->sp = v[n - 2];
    out->pc = v[n - 1];
    return out->sp != 0;
}

static void take_state(const struct stack_looker *l, int tid,
                       struct stack_seen *out)
{
    uint64_t head = l->has_state_at ? robust_list(tid) : 0;
    struct thread_state state;

    out->labels = 0;
    out->own_caller = 0;
    out->stack_start = 0;
    if (head &&
        raw_copy(&state, head + (uint64_t)l->state_at, sizeof(state)) ==
            sizeof(state) &&
        (state.tid == 0 || state.tid == (uint32_t)tid)) {
        out->labels = state.labels;
        out->own_caller = state.is_own ? state.own_caller : 0;
        if (out->sp >= state.stack_start && out->sp < state.stack_limit)
            out->stack_start = state.stack_start;
    }
}

/* --- the walk ------------------------------------------------------------- */

struct walk {
    struct stack_looker *l;
    struct stack_seen *out;
    struct unwind_regs at;
    struct unwind_copy copy;
    size_t trusted; /* frames that no guess was needed for */
    unsigned pieces, guesses;
};

/* The stack from the frame on; false: there is no more of it. */
static bool copy_piece(struct walk *w)
{
    size_t want = FIRST_BYTES;

    if (w->copy.start == w->at.sp && w->copy.n)
        want = w->copy.n < MAX_BYTES ? MAX_BYTES : 0;
    if (!want || w->pieces++ == MAX_PIECES || (w->at.sp & 7))
        return false;
    w->copy = (struct unwind_copy){w->l->room, w->at.sp,
                                   raw_copy(w->l->room, w->at.sp, want)};
    return w->copy.n >= 16;
}

/* A word of the copy; the next piece if it is behind it. */
static bool load(struct walk *w, uint64_t address, uint64_t *out)
{
    uint64_t offset = address - w->copy.start;

    if (address & 7)
        return false;
    if (offset >= w->copy.n || w->copy.n - offset < 8)
        return raw_copy(out, address, sizeof(*out)) == sizeof(*out);
    memcpy(out, w->l->room + offset, sizeof(*out));
    return true;
}

static bool guess_fp(struct walk *w)
{
    uint64_t pc = w->at.is_return ? w->at.pc - 1 : w->at.pc;
    uint64_t above, fp, ra;

    if (w->guesses++ == MAX_GUESSES ||
        !prologue_find(&w->l->prologues, pc, &above))
        return false;
    fp = w->at.sp + above;
    if (!load(w, fp + 8, &ra) || !prologue_is_return(ra))
        return false;
    assert(w->out->n < UNWIND_MAX_FRAMES);
    if (w->guesses == 1)
        w->trusted = w->out->n + 1;
    w->at.fp = fp;
    return true;
}

/* The frame where the walk stopped is one, too. */
static void add_frame(struct walk *w)
{
    if (w->out->n < UNWIND_MAX_FRAMES)
        w->out->pcs[w->out->n++] = w->at.is_return ? w->at.pc - 1 : w->at.pc;
}

static void walk_piece(struct walk *w)
{
    unsigned e = grace_enter(sampler.grace);

    assert(w->copy.n <= MAX_BYTES && w->out->n <= UNWIND_MAX_FRAMES);
    w->out->n += (uint32_t)unwind_walk_copy(
        atomic_load(sampler.map), &w->at, &w->copy, w->out->pcs + w->out->n,
        UNWIND_MAX_FRAMES - w->out->n, &w->out->end);
    grace_leave(sampler.grace, e);
}

static void walk_stack(struct stack_looker *l, struct stack_seen *out)
{
    struct walk w = {.l = l,
                     .out = out,
                     .at = {.pc = out->pc,
                            .sp = out->sp,
                            .fp = UNWIND_UNKNOWN,
                            .extra = UNWIND_UNKNOWN,
                            .args = out->call < 0 ? NULL : out->args}};

    out->n = 0;
    out->end = UNWIND_WANTS_STACK;
    for (;;) {
        bool go_on = out->end == UNWIND_WANTS_STACK ? copy_piece(&w)
                     : out->end == UNWIND_WANTS_FP  ? guess_fp(&w)
                                                    : false;

        if (!go_on)
            break;
        walk_piece(&w);
    }
    if (out->end == UNWIND_WANTS_FP || out->end == UNWIND_WANTS_STACK) {
        add_frame(&w);
        out->end = UNWIND_NO_DATA;
    }
    if (w.guesses && out->end != UNWIND_COMPLETE &&
        out->end != UNWIND_TRUNCATED && w.trusted) {
        out->n = (uint32_t)w.trusted;
        out->end = UNWIND_NO_DATA;
    }
}

uint32_t stack_without_own(uint64_t *pcs, uint32_t n, uint64_t own_caller)
{
    for (uint32_t i = 0; own_caller && i < n; i++) {
        if (pcs[i] == own_caller - 1) {
            memmove(pcs, pcs + i, (n - i) * sizeof(*pcs));
            return n - i;
        }
    }
    return n;
}

static enum look look_once(struct stack_looker *l, int tid,
                           struct stack_seen *out)
{
    char text[256];
    enum look look;

    out->cpu_ns = thread_cpu_ns(tid);
    if (out->cpu_ns < 0)
        return LOOK_GONE;
    look = read_syscall(tid, text, sizeof(text));
    if (look != LOOK_BLOCKED)
        return look;
    if (!parse_syscall(text, out))
        return LOOK_REFUSED;
    take_state(l, tid, out);
    walk_stack(l, out);
    out->n = stack_without_own(out->pcs, out->n, out->own_caller);
    return thread_cpu_ns(tid) == out->cpu_ns ? LOOK_BLOCKED : LOOK_RUNS;
}

/* A thread that woke up just then may be waiting again. */
enum look stack_look(struct stack_looker *l, int tid, struct stack_seen *out)
{
    enum look look = look_once(l, tid, out);

    return look == LOOK_RUNS ? look_once(l, tid, out) : look;
}

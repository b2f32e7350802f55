/*
 * SIGNAL CONTEXT.  Everything in this file may run in a signal handler that
 * interrupted anything: no lock, no allocation, no stdio; system calls go
 * around libc (rawcall.h), so errno stays as it is; work is bounded; stack
 * memory is read by unwind.c alone.  In doubt a sample is dropped and
 * counted.  All signals are blocked meanwhile (sa_mask), so no other handler
 * can jump out of the middle.  tests/lint checks the object's undefined
 * symbols against a short list.
 */
#include "runtime/cpu/sigprof.h"

#include <errno.h>
#include <sys/prctl.h>
#include <time.h>

#include "runtime/cpu/cpu_timer.h"
#include "runtime/cpu/intervals.h"
#include "runtime/cpu/perf_event.h"
#include "runtime/rawcall.h"
#include "runtime/thread/thread_labels.h"

struct sampler sampler = {.sigaction = sigaction};
__thread struct thread_state pprof_thread
    __attribute__((tls_model("initial-exec")));

static int64_t raw_clock(clockid_t clock)
{
    struct timespec t = {0};

    raw_call4(SYS_clock_gettime, clock, (long)&t, 0, 0);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static uint32_t thread_id(void)
{
    if (pprof_thread.tid == 0)
        pprof_thread.tid = (uint32_t)raw_gettid();
    return pprof_thread.tid;
}

static uint64_t current_tag(void)
{
    struct label_tag tag = {.set = pprof_thread.labels};
    char name[16] = "";

    if (sampler.tag_threads) {
        raw_call4(SYS_prctl, PR_GET_NAME, (long)name, 0, 0);
        tag.set = labels_push_thread(tag.set, name);
        tag.tid = thread_id();
    }
    return label_tag_pack(tag);
}

/* The part of the stack above sp that needs no asking. */
static struct unwind_stack known_stack(uint64_t sp)
{
    const struct thread_state *t = &pprof_thread;

    if (sp >= t->stack_start && sp < t->stack_limit)
        return (struct unwind_stack){t->stack_limit};
    if (sp < sampler.main_stack_limit &&
        sampler.main_stack_limit - sp < (4u << 20))
        return (struct unwind_stack){sampler.main_stack_limit};
    return (struct unwind_stack){0};
}

/* A walk ended in unknown code: the builder should check what was loaded.
 * Once: while the builder works or pauses, it is not woken again. */
static void note_end(enum unwind_end end)
{
    uint32_t none = NEW_CODE_NONE;

    if (end == UNWIND_NO_DATA &&
        atomic_compare_exchange_strong(&sampler.new_code, &none, NEW_CODE_SEEN))
        raw_futex_wake(&sampler.new_code);
}

static struct scratch *scratch_take(uint32_t hint)
{
    for (uint32_t i = 0; i < N_SCRATCH; i++) {
        struct scratch *s = &sampler.scratch[(hint + i) % N_SCRATCH];

        if (!atomic_exchange_explicit(&s->busy, 1, memory_order_acquire))
            return s;
    }
    return NULL;
}

static void scratch_give(struct scratch *s)
{
    atomic_store_explicit(&s->busy, 0, memory_order_release);
}

static void note_tick(struct tick *ticks, const struct stack_table *table,
                      const struct stack_record *r, uint32_t weight)
{
    uint64_t i =
        atomic_fetch_add_explicit(&sampler.next_tick, 1, memory_order_relaxed);
    unsigned cpu = 0;

    if (i >= sampler.n_ticks)
        return;
    raw_call4(SYS_getcpu, (long)&cpu, 0, 0, 0);
    ticks[i] =
        (struct tick){raw_clock(CLOCK_MONOTONIC), thread_id(), cpu,
                      (uint32_t)((const uint64_t *)r - table->arena), weight};
}

static void record(const ucontext_t *context, int64_t weight)
{
    struct unwind_regs regs = unwind_regs_from(context);
    uint64_t tag = current_tag();
    struct scratch *s = scratch_take((uint32_t)(regs.sp >> 12));
    struct stack_table *table = atomic_load(&sampler.table);
    struct tick *ticks = atomic_load(&sampler.ticks);
    struct stack_record *r;
    enum unwind_end end;
    size_t n;

    if (!s) {
        atomic_fetch_add_explicit(&sampler.no_scratch, 1, memory_order_relaxed);
        return;
    }
    n = unwind_walk(atomic_load(sampler.map), &regs, known_stack(regs.sp),
                    s->pcs, UNWIND_MAX_FRAMES, &end);
    if (end == UNWIND_TRUNCATED)
        s->pcs[n++] = FRAME_TRUNCATED;
    note_end(end);
    atomic_fetch_add_explicit(&sampler.ends[end], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&sampler.samples, 1, memory_order_relaxed);
    r = stack_table_add(table, s->pcs, n, tag);
    if (r) {
        stack_record_count(r, 0, weight);
        if (ticks)
            note_tick(ticks, table, r, (uint32_t)weight);
    }
    scratch_give(s);
}

/* --- CPU samples -------------------------------------------------------- */

static void seed_intervals(struct intervals *v)
{
    if (v->random == 0)
        v->random =
            intervals_seed(thread_id(), (uint64_t)raw_clock(CLOCK_MONOTONIC));
}

static void begin_at_birth(struct thread_state *t)
{
    int64_t period = sampler.period_ns;

    t->profile = sampler.profile;
    seed_intervals(&t->due);
    intervals_begin(&t->due, intervals_first(&t->due.random, period), period);
}

/* At the first signal of a profile.  A thread that was there before it counts
 * from now on; this signal, which came at a random moment, for the targets
 * from `first_ns` on. */
static void begin_thread(struct thread_state *t, int64_t first_ns,
                         bool from_birth)
{
    if (t->profile == sampler.profile)
        return;
    if (from_birth) {
        begin_at_birth(t);
        return;
    }
    t->profile = sampler.profile;
    seed_intervals(&t->due);
    intervals_begin(&t->due, first_ns, sampler.period_ns);
}

/* Returns true if the signal came on the way out of a system call.  Then the
 * instruction before pc is the one that entered it. */
static bool is_after_syscall(const ucontext_t *context)
{
    struct unwind_regs regs = unwind_regs_from(context);
    const uint8_t *pc = (const uint8_t *)regs.pc;

    if ((regs.pc & 4095) < 4) /* the page before may not be there */
        return false;
#if defined(__x86_64__)
    return pc[-2] == 0x0f && pc[-1] == 0x05;
#else
    return *(const uint32_t *)(pc - 4) == 0xd4000001;
#endif
}

/*
 * An event that sees user mode only: each stands for one period.  What the
 * thread's clock shows beyond was in the kernel; it belongs to the system
 * call from which a timer's signal finds us coming, or, when much of it has
 * gathered, to page faults where the timer finds us.
 */
static int64_t user_periods(struct intervals *v, int64_t now_ns)
{
    if (now_ns + sampler.period_ns < v->accounted_ns)
        return 0; /* by chance it is far ahead */
    v->accounted_ns += sampler.period_ns;
    return 1;
}

static int64_t kernel_periods(struct intervals *v, const ucontext_t *context,
                              int64_t now_ns)
{
    int64_t period = sampler.period_ns;
    int64_t left = now_ns - v->accounted_ns;
    int64_t n = is_after_syscall(context) ? (left + period / 2) / period
                                          : left / period - 1;

    v->accounted_ns += n > 0 ? n * period : 0;
    return n;
}

/* The thread's own event, or -1: it fired for an event that the thread
 * inherited from the one that made it. */
static int own_event(uint64_t value)
{
    uint64_t event = atomic_load(&sampler.events[value % SAMPLER_MAX_EVENTS]);

    return event >> 32 == thread_id() ? (int)(uint32_t)event : -1;
}

static void sample_by_event(uint64_t value, const ucontext_t *context)
{
    struct thread_state *t = &pprof_thread;
    int64_t now = raw_clock(CLOCK_THREAD_CPUTIME_ID);
    int64_t period = sampler.period_ns, n, next;
    bool user_only = sampler.source == CPU_SOURCE_PERF_USER;
    int fd = own_event(value);

    if (fd < 0 && t->own_event == sampler.profile)
        return; /* that one counts */
    begin_thread(
        t, now, fd < 0 || signal_value_kind(value) == SIGNAL_SAMPLE_FROM_BIRTH);
    n = user_only ? user_periods(&t->due, now)
                  : intervals_pass(&t->due, now, period);
    next = user_only ? intervals_draw(&t->due.random, period)
                     : t->due.target_ns - now;
    if (fd >= 0) {
        t->own_event = sampler.profile;
        perf_event_set_period(fd, next);
    }
    if (n > 0 && !t->is_own)
        record(context, n);
}

static void sample_by_timer(uint64_t value, const siginfo_t *info,
                            const ucontext_t *context)
{
    struct thread_state *t = &pprof_thread;
    int64_t now = raw_clock(CLOCK_THREAD_CPUTIME_ID);
    int64_t period = sampler.period_ns, n;
    int64_t overruns = info->si_overrun > 0 ? info->si_overrun : 0;
    bool is_second = sampler.source == CPU_SOURCE_PERF_USER;

    begin_thread(t, now - overruns * period,
                 signal_value_kind(value) == SIGNAL_SAMPLE_FROM_BIRTH);
    n = is_second ? kernel_periods(&t->due, context, now)
                  : intervals_pass(&t->due, now, period);
    cpu_timer_set_own(info->si_timerid,
                      is_second ? now + intervals_draw(&t->due.random, period)
                                : t->due.target_ns,
                      period);
    if (n > 0 && !t->is_own)
        record(context, n);
}

/* si_perf_data, which older headers do not name, or the timer's value. */
static uint64_t signal_value_of(int sig, const siginfo_t *info)
{
    return sig == SIGTRAP ? *(const uint64_t *)((const char *)info + 24)
                          : (uint64_t)(uintptr_t)info->si_value.sival_ptr;
}

static bool is_ours(int sig, const siginfo_t *info)
{
    return info->si_code == (sig == SIGTRAP ? 6 /* TRAP_PERF */ : SI_TIMER) &&
           signal_value_of(sig, info) >> 24 == (uint64_t)SAMPLER_COOKIE >> 24;
}

/* Somebody else's signal: to whom it was meant. */
static void pass_on(struct program_action *old, int sig, siginfo_t *info,
                    void *context)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    uint64_t word = atomic_load(&old->handler);
    uintptr_t address = (uintptr_t)(word & ~ACTION_SIGINFO);
    void (*handler)(int) = (void (*)(int))address;

    if (word & ACTION_SIGINFO) {
        ((void (*)(int, siginfo_t *, void *))address)(sig, info, context);
        return;
    }
    if (handler == SIG_IGN)
        return;
    if (handler != SIG_DFL) {
        handler(sig);
        return;
    }
    /* No handler for it: does what would have happened without us. */
    sampler.sigaction(sig, &plain, NULL);
    raw_call4(SYS_tgkill, raw_call4(SYS_getpid, 0, 0, 0, 0), raw_gettid(), sig,
              0);
}

/* --- questions ------------------------------------------------------------ */

static void copy_registers(const ucontext_t *context, uint64_t *to)
{
#if defined(__x86_64__)
    const greg_t *from = context->uc_mcontext.gregs;

    to[0] = (uint64_t)from[REG_RSP];
    for (int i = 0; i < REG_RIP; i++)
        to[1 + i] = (uint64_t)from[i];
#else
    const mcontext_t *from = &context->uc_mcontext;

    to[0] = from->sp;
    for (int i = 0; i < 31; i++)
        to[1 + i] = from->regs[i];
#endif
}

static void answer(struct ask *a, const ucontext_t *context)
{
    struct unwind_regs regs = unwind_regs_from(context);
    uint32_t sent = ASK_SENT;

    /* Too late, or another thread is asked by now. */
    if (atomic_load(&a->tid) != thread_id() ||
        !atomic_compare_exchange_strong(&a->state, &sent, ASK_WRITING))
        return;
    a->labels = pprof_thread.labels;
    copy_registers(context, a->registers);
    a->n = (uint32_t)unwind_walk(atomic_load(sampler.map), &regs,
                                 known_stack(regs.sp), a->pcs,
                                 UNWIND_MAX_FRAMES, &a->end);
    note_end(a->end);
    raw_call4(SYS_prctl, PR_GET_NAME, (long)a->name, 0, 0);
    a->time_ns = raw_clock(CLOCK_MONOTONIC);
    a->cpu_ns = raw_clock(CLOCK_THREAD_CPUTIME_ID);
    atomic_store(&a->state, ASK_DONE);
}

static void answer_ask(uint64_t value, const ucontext_t *context)
{
    unsigned group = signal_value_kind(value) - SIGNAL_ASK;
    struct ask *asks = atomic_load(&sampler.asks[group]);

    if (asks)
        answer(&asks[value % ASK_SLOTS], context);
}

static void sample(int sig, uint64_t value, const siginfo_t *info,
                   const ucontext_t *context)
{
    if (!atomic_load(&sampler.running))
        return;
    if (sig == SIGTRAP)
        sample_by_event(value, context);
    else
        sample_by_timer(value, info, context);
}

/* Somebody wants the signal.  Also what makes everything visible here that
 * was set before: asked before and again after entering the grace period. */
static bool is_wanted(uint64_t value)
{
    unsigned kind = signal_value_kind(value);

    if (kind < SIGNAL_ASK)
        return atomic_load_explicit(&sampler.running, memory_order_acquire);
    return kind - SIGNAL_ASK < ASK_GROUPS &&
           atomic_load(&sampler.asks[kind - SIGNAL_ASK]) != NULL;
}

/* --- the handler ---------------------------------------------------------- */

void sigprof_on_signal(int sig, siginfo_t *info, void *context)
{
    uint64_t value;
    unsigned e;

    if (!is_ours(sig, info)) {
        pass_on(sig == SIGTRAP ? &sampler.old_trap : &sampler.old_prof, sig,
                info, context);
        return;
    }
    value = signal_value_of(sig, info);
    if (!is_wanted(value))
        return; /* it was on its way when the profile ended */
    e = grace_enter(sampler.grace);
    if (signal_value_kind(value) >= SIGNAL_ASK)
        answer_ask(value, context);
    else
        sample(sig, value, info, context);
    grace_leave(sampler.grace, e);
}

size_t sigprof_stack_here(uint64_t *pcs, size_t skip)
{
    struct unwind_regs regs = {0};
    enum unwind_end end;
    unsigned e;
    size_t n;

    unwind_regs_here(&regs);
    e = grace_enter(sampler.grace);
    n = unwind_walk(atomic_load(sampler.map), &regs, known_stack(regs.sp), pcs,
                    UNWIND_MAX_FRAMES, &end);
    grace_leave(sampler.grace, e);
    note_end(end);
    skip = skip + 1 < n ? skip + 1 : n;
    for (size_t i = skip; i < n; i++)
        pcs[i - skip] = pcs[i];
    return n - skip;
}

size_t sigprof_stack_from(const void *return_address, uint64_t *pcs, size_t max,
                          enum unwind_end *end)
{
    uint64_t first = (uint64_t)(uintptr_t)return_address - 1;
    unsigned e = grace_enter(sampler.grace);
    const struct unwind_map *map = atomic_load(sampler.map);
    struct unwind_regs regs = {0};
    size_t n = 0, skip = 0;

    *end = UNWIND_NO_DATA;
    unwind_regs_here(&regs);
    if (map)
        n = unwind_walk(map, &regs, known_stack(regs.sp), pcs, max, end);
    grace_leave(sampler.grace, e);
    note_end(*end);
    while (skip < n && pcs[skip] != first)
        skip++;
    if (skip == n) { /* the walk did not get there */
        pcs[0] = first;
        return 1;
    }
    for (size_t i = skip; i < n; i++)
        pcs[i - skip] = pcs[i];
    return n - skip;
}

int64_t sigprof_thread_begin(void)
{
    struct thread_state *t = &pprof_thread;

    if (!atomic_load(&sampler.running) || sampler.period_ns <= 0)
        return 0;
    begin_at_birth(t);
    return t->due.target_ns;
}

void sigprof_begin_here(void)
{
    struct thread_state *t = &pprof_thread;
    int64_t now = raw_clock(CLOCK_THREAD_CPUTIME_ID);

    begin_at_birth(t);
    t->due.target_ns += now;
    t->due.accounted_ns += now;
}

/* What a thread has used at its end and no signal has counted. */
static int64_t periods_left(struct intervals *v)
{
    int64_t now = raw_clock(CLOCK_THREAD_CPUTIME_ID);
    int64_t period = sampler.period_ns;

    return sampler.source == CPU_SOURCE_PERF_USER
               ? (now - v->accounted_ns) / period
               : intervals_pass(v, now, period);
}

void sigprof_thread_end(void *(*run)(void *))
{
    struct thread_state *t = &pprof_thread;
    uint64_t pcs[1];
    struct stack_record *r;
    unsigned e;
    int64_t n;

    if (!atomic_load(&sampler.running) || t->profile != sampler.profile ||
        sampler.period_ns <= 0)
        return;
    n = periods_left(&t->due);
    t->profile = 0;
    if (n <= 0)
        return;
    pcs[0] = (uint64_t)(uintptr_t)run;
    e = grace_enter(sampler.grace);
    if (atomic_load(&sampler.running)) {
        r = stack_table_add(atomic_load(&sampler.table), pcs, 1, current_tag());
        if (r)
            stack_record_count(r, 0, n);
        atomic_fetch_add(&sampler.samples, 1);
        atomic_fetch_add(&sampler.ends[UNWIND_COMPLETE], 1);
    }
    grace_leave(sampler.grace, e);
}

/*
 * SIGNAL CONTEXT.  Everything in this file may run in a signal handler that
 * interrupted anything: no lock, no allocation, no stdio; system calls go
 * around libc (rawcall.h), so errno stays as it is; work is bounded; stack
 * memory is read by unwind.c alone.  In doubt a sample is dropped and
 * counted.  All signals are blocked meanwhile (sa_mask), so no other handler
 * can jump out of the middle.  tests/lint checks the object's undefined
 * symbols against a short list.
 */
#include "runtime/sigprof.h"

#include <errno.h>
#include <sys/prctl.h>
#include <time.h>

#include "runtime/labels.h"
#include "runtime/rawcall.h"

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

/* A walk that ended where nothing is known: somebody should look what was
 * loaded.  Once: while the builder looks or rests, it is not called again. */
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

static void note_tick(const struct stack_record *r, uint32_t weight)
{
    uint64_t i =
        atomic_fetch_add_explicit(&sampler.next_tick, 1, memory_order_relaxed);
    unsigned cpu = 0;

    if (i >= sampler.n_ticks)
        return;
    raw_call4(SYS_getcpu, (long)&cpu, 0, 0, 0);
    sampler.ticks[i] = (struct tick){
        raw_clock(CLOCK_MONOTONIC), thread_id(), cpu,
        (uint32_t)((const uint64_t *)r - sampler.table->arena), weight};
}

static void record(const ucontext_t *context, int64_t weight)
{
    struct unwind_regs regs = unwind_regs_from(context);
    uint64_t tag = current_tag();
    struct scratch *s = scratch_take((uint32_t)(regs.sp >> 12));
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
    r = stack_table_add(sampler.table, s->pcs, n, tag);
    if (r) {
        stack_record_count(r, 0, weight);
        if (sampler.ticks)
            note_tick(r, (uint32_t)weight);
    }
    scratch_give(s);
}

/* CPU time of this thread that no sample stands for yet; `first` is assumed
 * at the first signal of a profile. */
static int64_t unaccounted_ns(int64_t first)
{
    struct thread_state *t = &pprof_thread;
    int64_t now = raw_clock(CLOCK_THREAD_CPUTIME_ID);

    if (t->profile != sampler.profile) {
        t->profile = sampler.profile;
        t->accounted_ns = now - first;
    }
    return now - t->accounted_ns;
}

static void account(const ucontext_t *context, int64_t periods)
{
    pprof_thread.accounted_ns += periods * sampler.period_ns;
    record(context, periods);
}

/*
 * An event that sees user and kernel fires once for a whole system call,
 * however long, and goes on while a virtual machine is not running; the
 * thread's clock knows.  Rounded, and what is rounded off is carried on.
 */
static void sample_all(const ucontext_t *context)
{
    int64_t period = sampler.period_ns;
    int64_t n = (unaccounted_ns(period) + period / 2) / period;

    if (n > 0)
        account(context, n);
}

/* Did the signal come on the way out of a system call?  Then the instruction
 * before pc is the one that entered it. */
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
static void sample_user(const ucontext_t *context)
{
    if (pprof_thread.profile != sampler.profile)
        unaccounted_ns(sampler.period_ns);
    account(context, 1);
}

static void sample_kernel(const ucontext_t *context, int64_t overruns)
{
    int64_t period = sampler.period_ns;
    int64_t left = unaccounted_ns((overruns + 1) * period), n;

    if (is_after_syscall(context))
        n = (left + period / 2) / period;
    else
        n = left / period - 1;
    if (n > 0)
        account(context, n);
}

/* A thread's own timer.  The clock tells more than the overruns where we know
 * what is accounted for. */
static void sample_timer(const ucontext_t *context, int64_t overruns)
{
    int64_t period = sampler.period_ns, n;

    if (pprof_thread.profile != sampler.profile) {
        record(context, overruns + 1);
        return;
    }
    n = (unaccounted_ns(0) + period / 2) / period;
    if (n > 0)
        account(context, n);
}

/* A profile may change from perf events to timers: the signal says which it
 * is, the source only whether the event sees the kernel's time. */
static void sample(int sig, const siginfo_t *info, const ucontext_t *context)
{
    int64_t overruns = info->si_overrun > 0 ? info->si_overrun : 0;
    bool user_only = sampler.source == CPU_SOURCE_PERF_USER;

    if (sig == SIGTRAP)
        user_only ? sample_user(context) : sample_all(context);
    else
        user_only ? sample_kernel(context, overruns)
                  : sample_timer(context, overruns);
}

/* si_perf_data; older headers do not name it. */
static uint64_t perf_cookie(const siginfo_t *info)
{
    return *(const uint64_t *)((const char *)info + 24);
}

static bool is_ours(int sig, const siginfo_t *info)
{
    if (sig == SIGTRAP)
        return info->si_code == 6 /* TRAP_PERF */ &&
               perf_cookie(info) == SAMPLER_COOKIE;
    return info->si_code == SI_TIMER &&
           info->si_value.sival_ptr == (void *)SAMPLER_COOKIE;
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
    if (handler == SIG_IGN || (handler == SIG_DFL && sig == SIGURG))
        return;
    if (handler != SIG_DFL) {
        handler(sig);
        return;
    }
    /* Nobody wanted it: what would have happened without us. */
    sampler.sigaction(sig, &plain, NULL);
    raw_call4(SYS_tgkill, raw_call4(SYS_getpid, 0, 0, 0, 0), raw_gettid(), sig,
              0);
}

void sigprof_on_sample(int sig, siginfo_t *info, void *context)
{
    unsigned e;

    if (!is_ours(sig, info)) {
        pass_on(sig == SIGTRAP ? &sampler.old_trap : &sampler.old_prof, sig,
                info, context);
        return;
    }
    if (!atomic_load_explicit(&sampler.running, memory_order_acquire))
        return;
    e = grace_enter(sampler.grace);
    if (atomic_load(&sampler.running))
        sample(sig, info, context);
    grace_leave(sampler.grace, e);
}

/*
 * Did the signal wake the thread from a system call that waits?  Then it is
 * either about to be repeated or returns EINTR; a call that had just ended by
 * itself returns something else.
 */
static bool was_blocked(const ucontext_t *context)
{
    struct unwind_regs regs = unwind_regs_from(context);
    const uint8_t *pc = (const uint8_t *)regs.pc;

#if defined(__x86_64__)
    if (context->uc_mcontext.gregs[REG_RAX] == -EINTR)
        return is_after_syscall(context);
    return (regs.pc & 4095) < 4095 && pc[0] == 0x0f && pc[1] == 0x05;
#else
    if ((long)context->uc_mcontext.regs[0] == -EINTR)
        return is_after_syscall(context);
    return *(const uint32_t *)pc == 0xd4000001;
#endif
}

/* The number of the system call that a thread was blocked in: in its
 * register when it is about to be repeated, else perhaps in the instruction
 * before the one that entered it. */
static int blocked_call(const ucontext_t *context)
{
#if defined(__x86_64__)
    const uint8_t *pc = (const uint8_t *)context->uc_mcontext.gregs[REG_RIP];
    uint32_t nr;

    if (context->uc_mcontext.gregs[REG_RAX] != -EINTR)
        return (int)context->uc_mcontext.gregs[REG_RAX];
    if (((uintptr_t)pc & 4095) < 8 || pc[-7] != 0xb8) /* mov $nr, %eax */
        return -1;
    __builtin_memcpy(&nr, pc - 6, sizeof(nr));
    return (int)nr;
#else
    return (int)context->uc_mcontext.regs[8];
#endif
}

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

static bool answer(struct ask *a, uint64_t sent, const ucontext_t *context)
{
    struct unwind_regs regs = unwind_regs_from(context);
    uint64_t writing = sent - ASK_SENT + ASK_WRITING;

    /* Too late, or asked again since: the slot is not ours any more. */
    if (!atomic_compare_exchange_strong(&a->state, &sent, writing))
        return false;
    a->labels = pprof_thread.labels;
    copy_registers(context, a->registers);
    a->n = (uint32_t)unwind_walk(atomic_load(sampler.map), &regs,
                                 known_stack(regs.sp), a->pcs,
                                 UNWIND_MAX_FRAMES, &a->end);
    a->was_blocked = was_blocked(context);
    raw_call4(SYS_prctl, PR_GET_NAME, (long)a->name, 0, 0);
    if (a->wants_times) {
        a->time_ns = raw_clock(CLOCK_MONOTONIC);
        a->cpu_ns = raw_clock(CLOCK_THREAD_CPUTIME_ID);
        a->call = a->was_blocked ? blocked_call(context) : -1;
    }
    atomic_store(&a->state, writing - ASK_WRITING + ASK_DONE);
    return true;
}

void sigprof_on_ask(int sig, siginfo_t *info, void *context)
{
    uint64_t value = (uint64_t)(uintptr_t)info->si_value.sival_ptr;
    uint32_t slot = value & 0xffff;
    struct ask *asks;
    unsigned e;

    if (info->si_code != SI_QUEUE ||
        value >> 40 != (uint64_t)SAMPLER_COOKIE >> 40) {
        pass_on(&sampler.old_urg, sig, info, context);
        return;
    }
    e = grace_enter(sampler.grace);
    if (slot & ASK_WALL) {
        asks = atomic_load(&sampler.wall_asks);
        if (asks && (slot ^ ASK_WALL) < sampler.n_wall_asks)
            answer(&asks[slot ^ ASK_WALL], ask_state(value, ASK_SENT), context);
    } else {
        asks = atomic_load(&sampler.asks);
        if (asks && slot < sampler.n_asks &&
            answer(&asks[slot], ask_state(value, ASK_SENT), context))
            atomic_fetch_add(&sampler.asks_answered, 1);
    }
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
    uint64_t seed = (uint64_t)raw_clock(CLOCK_MONOTONIC) ^ (uint64_t)thread_id()
                                                               << 32;
    int64_t period = sampler.period_ns;

    if (!atomic_load(&sampler.running) || period <= 0)
        return 0;
    seed = (seed ^ seed >> 31) * 0x9e3779b97f4a7c15u;
    /* Half a period less, because samples round to the nearest. */
    t->accounted_ns = period / 2 - (int64_t)((seed >> 20) % (uint64_t)period);
    t->profile = sampler.profile;
    return t->accounted_ns + period / 2;
}

void sigprof_thread_end(void *(*run)(void *))
{
    struct thread_state *t = &pprof_thread;
    uint64_t pcs[1];
    int64_t period = sampler.period_ns, n;
    struct stack_record *r;
    unsigned e;

    if (!atomic_load(&sampler.running) || t->profile != sampler.profile ||
        period <= 0)
        return;
    n = (raw_clock(CLOCK_THREAD_CPUTIME_ID) - t->accounted_ns + period / 2) /
        period;
    t->profile = 0;
    if (n <= 0)
        return;
    pcs[0] = (uint64_t)(uintptr_t)run;
    e = grace_enter(sampler.grace);
    if (atomic_load(&sampler.running)) {
        r = stack_table_add(sampler.table, pcs, 1, current_tag());
        if (r)
            stack_record_count(r, 0, n);
        atomic_fetch_add(&sampler.samples, 1);
        atomic_fetch_add(&sampler.ends[UNWIND_COMPLETE], 1);
    }
    grace_leave(sampler.grace, e);
}

/*
 * The search for lost blocks, as far as it runs in the process itself: a list
 * of all sampled blocks, the registers of all threads, a copy of the process
 * that reads the memory (leak_scan.c), and the result as a profile.  What the
 * two processes share is mapped memory; nothing else of the copy is seen.
 */
#include "runtime/heap/leak.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "runtime/heap/heap.h"
#include "runtime/heap/heap_math.h"
#include "runtime/heap/leak_hidden.h"
#include "runtime/heap/leak_scan.h"
#include "runtime/rawcall.h"
#include "runtime/state.h"
#include "runtime/thread/thread_labels.h"

#define SCAN_NS  ((int64_t)10000000000)
#define ROUNDS   2
#define PAUSE_NS ((int64_t)20000000) /* between rounds */

struct search {
    struct leak_block *blocks; /* shared with the copies */
    size_t n, cap;
    struct leak_result *result;
    struct leak_hidden hidden;
    struct pages_vec words; /* of uint64_t: registers */
    uint64_t frame;         /* what lies below on this stack is ours */
    int64_t longest_pause_ns;
    uint64_t silent;  /* threads whose registers are not known */
    uint64_t waiting; /* threads of which only some are */
};

static uint64_t size_of_site(uint32_t site)
{
    const struct stack_record *r = (const void *)(heap.sites.arena + site);

    return heap_tag_size(r->tag);
}

/* Bytes that a pointer may point to.  libc keeps what it must know of the
 * block behind from 16 bytes before its start on, and its lists of free
 * blocks point there: into the last eight bytes of this one. */
static uint64_t reachable_bytes(uint64_t size)
{
    uint64_t next = ((size + 8 + 15) & ~(uint64_t)15) - 16;

    return size > 8 && next < size ? next : size;
}

static void take_block(void *ctx, const struct live_block *block)
{
    struct search *s = ctx;

    if (s->n < s->cap)
        s->blocks[s->n++] = (struct leak_block){
            .address = block->address,
            .size = reachable_bytes(size_of_site(block->site)),
            .site = block->site,
            .born = block->born};
}

/* Not qsort: it leaves a copy of all addresses in memory that it took from
 * the program's heap. */
static void sift_down(struct leak_block *v, size_t at, size_t n)
{
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        struct leak_block t = v[at];

        if (child + 1 < n && v[child + 1].address > v[child].address)
            child++;
        if (v[child].address <= v[at].address)
            return;
        v[at] = v[child];
        v[child] = t;
    }
}

static void sort_blocks(struct leak_block *v, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sift_down(v, i, n);
    for (size_t i = n; i-- > 1;) {
        struct leak_block t = v[0];

        v[0] = v[i];
        v[i] = t;
        sift_down(v, 0, i);
    }
}

static void *share(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

static size_t blocks_bytes(const struct search *s)
{
    return s->cap * sizeof(*s->blocks);
}

static bool begin(struct search *s, const void *frame)
{
    *s = (struct search){.frame = (uint64_t)(uintptr_t)frame,
                         .words = {.size = sizeof(uint64_t)}};
    s->cap = atomic_load(&heap.live.n) + 4096;
    s->blocks = share(blocks_bytes(s));
    s->result = share(sizeof(*s->result));
    if (!leak_hidden_init(&s->hidden) || !s->blocks || !s->result)
        return false;
    heap_live_each(&heap.live, take_block, s);
    sort_blocks(s->blocks, s->n);
    return true;
}

static void end(struct search *s)
{
    pages_free(s->blocks, blocks_bytes(s));
    pages_free(s->result, sizeof(*s->result));
    leak_hidden_release(&s->hidden);
    pages_vec_release(&s->words);
}

static struct leak_range table_range(const struct search *s)
{
    uint64_t start = (uint64_t)(uintptr_t)s->blocks;

    return (struct leak_range){.start = start,
                               .limit = start + blocks_bytes(s)};
}

/* What threads hold in registers and nowhere else, and which part of their
 * stacks is in use. */
static bool take_threads(struct search *s, struct error *err)
{
    const struct thread_info *v;
    struct threads t;
    bool ok = true;

    if (!threads_dump(&t, err))
        return false;
    v = t.v.p;
    s->words.n = 0;
    s->silent = t.left_out;
    s->waiting = 0;
    for (size_t i = 0; ok && i < t.v.n; i++) {
        uint64_t *to = pages_vec_push(&s->words, ASK_REGISTERS);

        ok = to != NULL;
        for (unsigned k = 0; ok && k < ASK_REGISTERS; k++)
            to[k] = v[i].registers[k];
        s->silent += !v[i].has_stack;
        s->waiting += v[i].was_blocked;
    }
    leak_hidden_fill(&s->hidden, &t, table_range(s), s->frame);
    threads_release(&t);
    return ok || error_set(err, "out of memory");
}

static _Noreturn void run_copy(struct search *s)
{
    struct leak_scan scan = {.blocks = s->blocks,
                             .n = s->n,
                             .words = s->words.p,
                             .n_words = s->words.n,
                             .deadline_ns = clock_monotonic_ns() + SCAN_NS,
                             .result = s->result};

    raw_call4(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
#ifdef SYS_close_range
    /* What the program closes shall be closed. */
    raw_call4(SYS_close_range, 0, -1, 0, 0);
#endif
    if (leak_hidden_wait(&s->hidden, scan.deadline_ns)) {
        scan.hidden = s->hidden.ranges;
        scan.n_hidden = s->hidden.n;
        leak_scan_run(&scan);
    } else {
        s->result->end = LEAK_LATE;
    }
    for (;;)
        raw_call4(SYS_exit_group, 0, 0, 0, 0);
}

/* True: the search is complete. */
static bool explain(enum leak_end end, int status, struct error *err)
{
    switch (end) {
    case LEAK_DONE:
        return true;
    case LEAK_LATE:
        return error_set(err, "the memory is too large to search in %d s",
                         (int)(SCAN_NS / 1000000000));
    case LEAK_NO_MAPS:
        return error_set(err, "/proc/self/maps cannot be read");
    case LEAK_NO_ACCESS:
        return error_set(err, "the process may not read its own memory: "
                              "neither /proc/self/mem nor process_vm_readv "
                              "is allowed");
    case LEAK_OUT_OF_MEMORY:
        return error_set(err, "out of memory");
    case LEAK_UNFINISHED:
        break;
    }
    return error_set(err,
                     "the copy of the process that searches its memory was "
                     "killed by signal %d",
                     WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

/* No SIGCHLD, no handler of the program's in the copy, and no wait() of the
 * program's that sees it. */
static bool scan_in_copy(struct search *s, struct error *err)
{
    int64_t start, deadline;
    uint64_t all = UINT64_MAX, old = 0;
    int status = 0;
    long pid;

    *s->result = (struct leak_result){0};
    raw_call4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&old, 8);
    start = clock_monotonic_ns();
    pid = raw_call4(SYS_clone, 0, 0, 0, 0);
    if (pid == 0)
        run_copy(s);
    s->longest_pause_ns = clock_monotonic_ns() - start > s->longest_pause_ns
                              ? clock_monotonic_ns() - start
                              : s->longest_pause_ns;
    leak_hidden_check(&s->hidden);
    raw_call4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, 8);
    if (pid < 0)
        return error_set_os(err, "copy", "the process", (int)-pid);
    deadline = start + SCAN_NS + SCAN_NS / 10;
    while (raw_call4(SYS_wait4, pid, (long)&status, __WALL | WNOHANG, 0) == 0) {
        if (clock_monotonic_ns() > deadline) {
            s->result->end = LEAK_LATE;
            raw_call4(SYS_kill, pid, SIGKILL, 0, 0);
        }
        runtime_sleep_ns(2000000);
    }
    return explain(s->result->end, status, err);
}

/* Returns true if it was freed meanwhile or is too young. */
static bool is_suspect(const struct leak_block *b, int64_t born_before)
{
    struct live_block now;

    return !b->reached && b->born <= born_before &&
           heap_live_find(&heap.live, b->address, &now) &&
           now.site == b->site && now.born == b->born;
}

static size_t count_suspects(const struct search *s, int64_t born_before)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += is_suspect(&s->blocks[i], born_before);
    return n;
}

/* Twice; what was reached once stays so. */
static bool look(struct search *s, int64_t born_before, struct error *err)
{
    for (int round = 0; round < ROUNDS; round++) {
        if (round > 0 && count_suspects(s, born_before) == 0)
            return true;
        if (round > 0)
            runtime_sleep_ns(PAUSE_NS);
        if (!take_threads(s, err) || !scan_in_copy(s, err))
            return false;
    }
    return true;
}

static bool add_leak(struct stack_table *out, const struct leak_block *b)
{
    const struct stack_record *site =
        (const void *)(heap.sites.arena + b->site);
    const struct stack_record *stack =
        (const void *)(heap.stacks.arena + site->pcs[SITE_STACK]);
    uint64_t rate = atomic_load(&heap.rates[heap_tag_rate(site->tag)]);
    uint64_t size = heap_tag_size(site->tag);
    double p = heap_probability(size, rate);
    struct stack_record *r =
        stack_table_add(out, stack->pcs, stack->n,
                        size_tag_pack(size, (uint32_t)site->pcs[SITE_LABELS]));

    if (!r)
        return false;
    /* How many blocks it stands for is scaled when all are counted. */
    stack_record_count(r, 2, 1);
    atomic_store(&r->values[0],
                 (int64_t)((double)atomic_load(&r->values[2]) / p));
    atomic_store(&r->values[1], (int64_t)((double)atomic_load(&r->values[2]) /
                                          p * (double)size));
    return true;
}

static void add_comments(struct buf *c, const struct search *s, int64_t age_ns,
                         size_t leaks)
{
    buf_addf(c,
             "leak: %zu of %zu sampled blocks are older than %lld s and "
             "nothing points to them\n",
             leaks, s->n, (long long)(age_ns / 1000000000));
    buf_addf(c, "pause: %lld us, to copy the process\n",
             (long long)(s->longest_pause_ns / 1000));
    buf_addf(c, "memory searched: %" PRIu64 " bytes\n", s->result->bytes);
    if (s->result->skipped)
        buf_addf(c, "memory that cannot be read: %" PRIu64 " bytes\n",
                 s->result->skipped);
    if (s->waiting)
        buf_addf(c,
                 "threads that waited: %" PRIu64
                 "; what only a callee-saved register of theirs holds may be "
                 "listed\n",
                 s->waiting);
    if (s->silent)
        buf_addf(c,
                 "threads that did not answer: %" PRIu64
                 "; what only their registers hold may be listed\n",
                 s->silent);
}

static bool report(struct snapshot *out, const struct search *s, int64_t age_ns,
                   int64_t born_before, struct error *err)
{
    size_t leaks = 0;

    if (!snapshot_begin(out, "leak", 1u << 16, 16u << 20, err))
        return false;
    out->spec.types[0] = (struct profile_type){"leaked_objects", "count"};
    out->spec.types[1] = (struct profile_type){"leaked_space", "bytes"};
    out->spec.n_types = 2;
    out->spec.period_type = (struct profile_type){"space", "bytes"};
    out->spec.period = (int64_t)heap_rate();
    out->spec.size_label = "bytes";
    for (size_t i = 0; i < s->n; i++) {
        if (!is_suspect(&s->blocks[i], born_before))
            continue;
        leaks++;
        if (!add_leak(&out->table, &s->blocks[i]))
            return error_set(err, "too many different stacks");
    }
    add_comments(&out->spec.comments, s, age_ns, leaks);
    return true;
}

bool leak_take_older(struct snapshot *out, int64_t age_ns, struct error *err)
{
    int64_t oldest =
        clock_monotonic_ns() - heap.start_ns - (age_ns > 0 ? age_ns : 0);
    int64_t born_before = oldest >= 0 ? oldest / HEAP_BORN_NS : -1;
    struct search s = {0};
    bool ok;

    *out = (struct snapshot){0};
    if (!runtime_ready(err))
        return false;
    ok = begin(&s, __builtin_frame_address(0));
    if (!ok)
        error_set(err, "out of memory");
    ok = ok && look(&s, born_before, err) &&
         report(out, &s, age_ns, born_before, err);
    end(&s);
    return ok;
}

bool leak_take(struct snapshot *s, bool details, struct error *err)
{
    (void)details;
    return leak_take_older(s, LEAK_AGE_NS, err);
}

bool leak_write_text(const struct snapshot *s, struct buf *out,
                     struct error *err)
{
    struct str rest = buf_str(&s->spec.comments), line;

    if (!profile_write_text(&s->spec, &s->table, out, err))
        return false;
    while (str_next_line(&rest, &line))
        buf_addf(out, "# %" STR_FMT "\n", STR_ARG(line));
    return buf_ok(out) || error_set(err, "the profile is too big");
}

uint64_t leak_count(void)
{
    return 0;
}

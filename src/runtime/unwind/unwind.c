/*
 * SIGNAL CONTEXT.  Everything in this file may run in a signal handler that
 * interrupted anything: no lock, no allocation, no stdio, no libc call, no
 * thread-local; work is bounded by the number of frames; no load of stack
 * memory without stack_load().  tests/lint checks the object's undefined
 * symbols against a short list.
 */
#include "runtime/unwind/unwind.h"

#include <signal.h>
#include <stdbool.h>

#include "base/search.h"
#include "runtime/rawcall.h"

#define PAGE 4096u

/* What a frame may be big: beyond, the data is taken for garbage. */
#define MAX_FRAME_BYTES (16u << 20)

/* Pages that one walk may ask the kernel about. */
#define MAX_PROBES 64

#define RED_ZONE 128

struct walker {
    const struct unwind_map *map;
    uint64_t pc, sp, fp;
    uint64_t extra; /* rbx or lr */
    const ucontext_t *context;
    const uint64_t *args; /* registers of a copy: those of a system call */
    bool is_top;          /* every register of context is valid */
    bool extra_is_live;   /* extra belongs to this frame */
    uint64_t lo, hi;      /* known to be mapped */
    uint64_t page;        /* one more page that is, 0: none */
    unsigned probes;
    bool is_copy;    /* of another thread's stack: [lo, hi) is all there is */
    uint64_t shift;  /* from an address of the stack to where its copy is */
    bool wants_more; /* a word of the stack was not in the copy */
    struct unwind_rule made; /* for a module whose table is not ready */
};

/* Asks the kernel to read from the page: an invalid request, so that it
 * complains about the address (EFAULT, -14) or about the request. */
static bool page_is_readable(uint64_t page)
{
    return raw_call4(SYS_rt_sigprocmask, -1, (long)page, 0, 8) != -14;
}

static __attribute__((noinline)) bool stack_probe(struct walker *w,
                                                  uint64_t address)
{
    uint64_t page = address & ~(uint64_t)(PAGE - 1);

    if (address > UINT64_MAX - PAGE || (address & 7) != 0)
        return false;
    if (w->is_copy) {
        w->wants_more |= address - w->sp < MAX_FRAME_BYTES;
        return false;
    }
    if (page == w->page)
        return true;
    if (w->probes++ >= MAX_PROBES || !page_is_readable(page))
        return false;
    if (page == w->hi)
        w->hi += PAGE;
    w->page = page;
    return true;
}

/* Sanitizers know of variables, not of stacks. */
#define UNSANITIZED                                                            \
    __attribute__((no_sanitize("address", "alignment", "thread")))

UNSANITIZED static inline bool stack_load(struct walker *w, uint64_t address,
                                          uint64_t *out)
{
    if ((address < w->lo || address >= w->hi || w->hi - address < 8) &&
        !stack_probe(w, address))
        return false;
    *out = *(const uint64_t *)(address + w->shift);
    return true;
}

/*
 * The kernel has just written the signal frame below sp, or we run there
 * ourselves: its page is mapped.  On an alternate stack nothing is known of
 * the interrupted one, whose sp may point into its guard page.
 */
static void stack_begin(struct walker *w, uint64_t limit)
{
    uint64_t context = (uint64_t)(uintptr_t)w->context;

    if (context && w->sp - context > 16 * PAGE) {
        w->lo = w->hi = w->sp & ~(uint64_t)(PAGE - 1);
        return;
    }
    w->lo = w->sp - RED_ZONE;
    w->hi = limit;
    if (w->hi < w->sp)
        w->hi = (w->sp & ~(uint64_t)(PAGE - 1)) + PAGE;
}

/* Another stack begins at sp: the one that a signal interrupted. */
static void stack_switch(struct walker *w)
{
    w->lo = w->hi = w->sp & ~(uint64_t)(PAGE - 1);
}

static const struct unwind_range *find_range(const struct unwind_map *map,
                                             uint64_t pc)
{
    const struct unwind_range *r = map->ranges;
    size_t at = search_first(i, 0, map->n, r[i].limit > pc);

    return at < map->n && r[at].start <= pc ? &r[at] : NULL;
}

/* Not in the cache: from the module's table, or, while that is being built,
 * from the records that it is built of. */
static __attribute__((noinline)) const struct unwind_rule *
look_up(struct walker *w, uint64_t pc, _Atomic uint64_t *slot)
{
    const struct unwind_range *range = find_range(w->map, pc);
    uint16_t rule = 0;

    if (range && range->table.buckets)
        rule = unwind_table_find(&range->table, pc - range->bias);
    else if (range && cfi_find(&range->cfi, pc - range->bias, &w->made))
        return &w->made;
    if (pc >> 48 == 0)
        atomic_store_explicit(slot, pc << 16 | rule, memory_order_relaxed);
    return &w->map->rules[rule];
}

static inline size_t cache_slot(uint64_t pc)
{
    uint64_t hash = pc * 0x9e3779b97f4a7c15u;

    return hash >> (64 - __builtin_ctz(UNWIND_CACHE_SLOTS));
}

static inline const struct unwind_rule *find_rule(struct walker *w, uint64_t pc)
{
    _Atomic uint64_t *slot = &w->map->cache[cache_slot(pc)];
    uint64_t word = atomic_load_explicit(slot, memory_order_relaxed);

    if (word >> 16 == pc && pc)
        return &w->map->rules[word & 0xffff];
    return look_up(w, pc, slot);
}

#if defined(__x86_64__)

/* DWARF's register numbers to the kernel's order in gregs. */
static const uint8_t greg_of_dwarf[16] = {
    REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

/* DWARF's register numbers to arguments of a system call, from 1 on. */
static const uint8_t arg_of_dwarf[16] = {
    [5] = 1, [4] = 2, [1] = 3, [10] = 4, [8] = 5, [9] = 6};

struct unwind_regs unwind_regs_from(const ucontext_t *context)
{
    const greg_t *g = context->uc_mcontext.gregs;

    return (struct unwind_regs){(uint64_t)g[REG_RIP], (uint64_t)g[REG_RSP],
                                (uint64_t)g[REG_RBP], (uint64_t)g[REG_RBX],
                                context};
}

static bool read_register(const struct walker *w, unsigned reg, uint64_t *out)
{
    if (reg == DWARF_SP)
        *out = w->sp;
    else if (reg == DWARF_FP)
        *out = w->fp;
    else if (reg == (unsigned)DWARF_BX)
        *out = w->extra;
    else if (w->is_top && w->context && reg < 16)
        *out = (uint64_t)w->context->uc_mcontext.gregs[greg_of_dwarf[reg]];
    else if (w->is_top && w->args && reg < 16 && arg_of_dwarf[reg])
        *out = w->args[arg_of_dwarf[reg] - 1]; /* vfork's return address */
    else
        return false;
    return true;
}

/* The ucontext lies where the trampoline's sp points. */
static bool step_signal(struct walker *w)
{
    const uint64_t gregs =
        w->sp + offsetof(ucontext_t, uc_mcontext) + offsetof(mcontext_t, gregs);
    uint64_t pc, sp, fp, bx;

    if (!stack_load(w, gregs + REG_RIP * 8, &pc) ||
        !stack_load(w, gregs + REG_RSP * 8, &sp) ||
        !stack_load(w, gregs + REG_RBP * 8, &fp) ||
        !stack_load(w, gregs + REG_RBX * 8, &bx))
        return false;
    w->pc = pc;
    w->fp = fp;
    w->extra = bx;
    w->sp = sp;
    return true;
}

static uint64_t strip_pc(uint64_t pc)
{
    return pc;
}

#else

struct unwind_regs unwind_regs_from(const ucontext_t *context)
{
    const mcontext_t *m = &context->uc_mcontext;

    return (struct unwind_regs){m->pc, m->sp, m->regs[29], m->regs[30],
                                context};
}

static bool read_register(const struct walker *w, unsigned reg, uint64_t *out)
{
    if (reg == DWARF_SP)
        *out = w->sp;
    else if (reg == DWARF_FP)
        *out = w->fp;
    else if (reg == DWARF_RA && w->extra_is_live)
        *out = w->extra;
    else if (w->is_top && w->context && reg < 31)
        *out = w->context->uc_mcontext.regs[reg];
    else
        return false;
    return true;
}

/* struct rt_sigframe: a siginfo, then the ucontext. */
static bool step_signal(struct walker *w)
{
    const uint64_t regs = w->sp + sizeof(siginfo_t) +
                          offsetof(ucontext_t, uc_mcontext) +
                          offsetof(mcontext_t, regs);
    uint64_t pc, sp, fp, lr;

    if (!stack_load(w, regs + 32 * 8, &pc) ||
        !stack_load(w, regs + 31 * 8, &sp) ||
        !stack_load(w, regs + 29 * 8, &fp) ||
        !stack_load(w, regs + 30 * 8, &lr))
        return false;
    w->pc = pc;
    w->fp = fp;
    w->extra = lr;
    w->extra_is_live = true;
    w->sp = sp;
    return true;
}

/* Pointer authentication keeps its signature above the address. */
static uint64_t strip_pc(uint64_t pc)
{
    return pc & (((uint64_t)1 << 48) - 1);
}

#endif

static bool find_odd_cfa(struct walker *w, const struct unwind_rule *r,
                         uint64_t *out)
{
    uint64_t base;

    switch (rule_kind(r)) {
    case RULE_REG:
        if (!read_register(w, rule_reg(r), &base))
            return false;
        *out = base + (uint64_t)(int64_t)r->off;
        return true;
    case RULE_DEREF:
        if (!read_register(w, rule_reg(r), &base) ||
            !stack_load(w, base + (uint64_t)(int64_t)r->off, &base))
            return false;
        *out = base + (uint64_t)(int64_t)r->add;
        return true;
    case RULE_PLT:
        *out = w->sp + 8 + ((w->pc & 15) >= (uint64_t)r->add ? 8 : 0);
        return true;
    default:
        return false;
    }
}

/* Nearly always it is sp or fp plus something. */
static inline bool find_cfa(struct walker *w, const struct unwind_rule *r,
                            uint64_t *out)
{
    if (r->kind_reg == rule_pack(RULE_REG, DWARF_SP))
        *out = w->sp + (uint64_t)(int64_t)r->off;
    else if (r->kind_reg == rule_pack(RULE_REG, DWARF_FP))
        *out = w->fp + (uint64_t)(int64_t)r->off;
    else
        return find_odd_cfa(w, r, out);
    return true;
}

static inline bool find_return(struct walker *w, const struct unwind_rule *r,
                               uint64_t cfa, uint64_t *out)
{
    if (r->flags & RULE_RA_AT_CFA)
        return stack_load(w, cfa + (uint64_t)(int64_t)r->ra_off, out);
    return (r->flags & RULE_RA_IN_REG) &&
           read_register(w, (unsigned)r->ra_off, out);
}

/* To the caller by what .eh_frame says. */
static inline bool step_rule(struct walker *w, const struct unwind_rule *r)
{
    uint64_t cfa, ra, fp = w->fp, bx = w->extra;

    if (!find_cfa(w, r, &cfa))
        return false;
    /* The stack only shrinks on the way out; the first frame may have
     * pushed nothing yet. */
    if (cfa - w->sp > MAX_FRAME_BYTES ||
        (cfa == w->sp && !w->is_top && !w->extra_is_live))
        return false;
    if (!find_return(w, r, cfa, &ra))
        return false;
    if (r->flags & RULE_FP_AT_CFA) {
        if (!stack_load(w, cfa + (uint64_t)(int64_t)r->fp_off, &fp))
            return false;
    } else if (r->flags & RULE_FP_AT_FP) {
        if (!stack_load(w, w->fp + (uint64_t)(int64_t)r->fp_off, &fp))
            return false;
    } else if (r->flags & RULE_FP_LOST) {
        fp = 0;
    }
    if (r->flags & RULE_BX_AT_CFA) {
        if (!stack_load(w, cfa + (uint64_t)(int64_t)r->bx_off, &bx))
            return false;
    } else if (r->flags & RULE_BX_AT_FP) {
        if (!stack_load(w, w->fp + (uint64_t)(int64_t)r->bx_off, &bx))
            return false;
    }
    w->pc = strip_pc(ra);
    w->sp = cfa;
    w->fp = fp;
    w->extra = bx;
    w->extra_is_live = false;
    return true;
}

/*
 * Nearly all frames: the rule is in the cache, and everything is at an offset
 * from sp or fp, in stack that is known to be mapped.  The same as step_rule()
 * with the registers in registers: half of a walk's time was spent on passing
 * them through memory.  Stops before the first frame that is not so, and
 * behind the last one.
 */
UNSANITIZED static inline size_t walk_plain(struct walker *w, uint64_t *lookup,
                                            uint64_t *pcs, size_t n, size_t max)
{
    const _Atomic uint64_t *cache = w->map->cache;
    const struct unwind_rule *rules = w->map->rules, *r;
    uint64_t at = *lookup, pc = w->pc, sp = w->sp, fp = w->fp, bx = w->extra;
    uint64_t lo = w->lo, room = w->hi - w->lo - 8, shift = w->shift;
    size_t first = n;

    while (n < max && w->hi - w->lo >= 8) {
        uint64_t word =
            atomic_load_explicit(&cache[cache_slot(at)], memory_order_relaxed);
        uint64_t cfa, ra_at, fp_at, bx_at;

        r = &rules[word & 0xffff];
        if (word >> 16 != at ||
            (r->flags & ~(RULE_FP_AT_CFA | RULE_BX_AT_CFA)) != RULE_RA_AT_CFA)
            break;
        if (r->kind_reg == rule_pack(RULE_REG, DWARF_SP))
            cfa = sp + (uint64_t)(int64_t)r->off;
        else if (r->kind_reg == rule_pack(RULE_REG, DWARF_FP))
            cfa = fp + (uint64_t)(int64_t)r->off;
        else
            break;
        ra_at = cfa + (uint64_t)(int64_t)r->ra_off;
        fp_at = r->flags & RULE_FP_AT_CFA ? cfa + (uint64_t)(int64_t)r->fp_off
                                          : ra_at;
        bx_at = r->flags & RULE_BX_AT_CFA ? cfa + (uint64_t)(int64_t)r->bx_off
                                          : ra_at;
        if (cfa - sp - 1 >= MAX_FRAME_BYTES || ra_at - lo > room ||
            fp_at - lo > room || bx_at - lo > room)
            break;
        pcs[n++] = at;
        if (r->flags & RULE_FP_AT_CFA)
            fp = *(const uint64_t *)(fp_at + shift);
        if (r->flags & RULE_BX_AT_CFA)
            bx = *(const uint64_t *)(bx_at + shift);
        sp = cfa;
        pc = strip_pc(*(const uint64_t *)(ra_at + shift));
        at = pc - 1;
        if (pc == 0)
            break;
    }
    if (n == first)
        return n;
    *lookup = at;
    w->pc = pc;
    w->sp = sp;
    w->fp = fp;
    w->extra = bx;
    w->is_top = w->extra_is_live = false;
    return n;
}

/* To the caller by the frame pointer, in code without unwind data. */
static bool step_frame_pointer(struct walker *w)
{
    uint64_t fp, ra;

    if (w->fp < w->sp || w->fp - w->sp > MAX_FRAME_BYTES || (w->fp & 7) != 0 ||
        !stack_load(w, w->fp, &fp) || !stack_load(w, w->fp + 8, &ra))
        return false;
    w->sp = w->fp + 16;
    w->fp = fp;
    w->pc = strip_pc(ra);
    w->extra_is_live = false;
    return true;
}

static bool in_known_code(const struct walker *w, uint64_t pc)
{
    return find_range(w->map, pc) != NULL;
}

/* To the caller of a function that has pushed nothing yet: stubs of some
 * linkers' PLTs, small assembly, the call through a wild pointer. */
static bool step_leaf(struct walker *w)
{
    uint64_t ra, sp = w->sp;

#if defined(__x86_64__)
    if (!stack_load(w, sp, &ra))
        return false;
    sp += 8;
#else
    if (!w->extra_is_live)
        return false;
    ra = strip_pc(w->extra);
#endif
    if (!in_known_code(w, ra - 1))
        return false;
    w->pc = ra;
    w->sp = sp;
    w->extra_is_live = false;
    return true;
}

#define MAX_CODE 16

/* Returns true if this is the code at pc.  In the copy of another thread's
 * stack, that thread may be unmapping it. */
UNSANITIZED static bool has_code(struct walker *w, const uint8_t *code,
                                 size_t n)
{
    uint64_t last = w->pc + n - 1;
    const uint8_t *found = (const uint8_t *)w->pc;
    uint8_t copy[MAX_CODE];

    if (w->pc < PAGE || w->pc >> 48 || n > MAX_CODE)
        return false;
    if (w->is_copy) {
        if (raw_copy(copy, w->pc, n) != n)
            return false;
        found = copy;
    } else if (!stack_probe(w, w->pc & ~7ull) ||
               ((w->pc ^ last) >= PAGE && !stack_probe(w, last & ~7ull))) {
        return false;
    }
    for (size_t i = 0; i < n; i++)
        if (found[i] != code[i])
            return false;
    return true;
}

/* Signal trampolines of other C libraries and of emulators come without
 * unwind data; their code is always the same. */
static bool is_trampoline(struct walker *w)
{
#if defined(__x86_64__)
    /* mov $15, %rax; syscall */
    static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
#else
    /* mov x8, #139; svc #0 */
    static const uint8_t code[] = {0x68, 0x11, 0x80, 0xd2, 1, 0, 0, 0xd4};
#endif
    return has_code(w, code, sizeof(code));
}

/* Generated code that does nothing more than to return when its callee is
 * back, and keeps no frame pointer: CPython 3.12's, one for each function. */
static bool step_return(struct walker *w)
{
#if defined(__x86_64__)
    /* add $8, %rsp; ret */
    static const uint8_t code[] = {0x48, 0x83, 0xc4, 0x08, 0xc3};
    uint64_t ra;

    if (!has_code(w, code, sizeof(code)) || !stack_load(w, w->sp + 8, &ra))
        return false;
    w->sp += 16;
    w->pc = strip_pc(ra);
    w->extra_is_live = false;
    return true;
#else
    (void)w;
    return false;
#endif
}

/* One frame without unwind data.  Generated code (in no module) mostly keeps
 * frame pointers; what a module does not describe is mostly a leaf. */
static bool step_unknown(struct walker *w)
{
    if (!w->is_top)
        return step_return(w) || step_frame_pointer(w);
    if (in_known_code(w, w->pc))
        return step_leaf(w) || step_frame_pointer(w);
    return step_frame_pointer(w) || step_leaf(w);
}

/* Why a frame has no caller. */
static enum unwind_end end_of(const struct walker *w,
                              const struct unwind_rule *rule,
                              enum rule_kind kind)
{
    if (w->is_copy && kind != RULE_NONE && kind != RULE_SIGNAL &&
        rule_reg(rule) == DWARF_FP && w->fp == UNWIND_UNKNOWN)
        return UNWIND_WANTS_FP;
    if (w->wants_more)
        return UNWIND_WANTS_STACK;
    return kind == RULE_NONE ? UNWIND_NO_DATA : UNWIND_BAD_FRAME;
}

/* One frame of whatever kind: false at the end, and *end says which. */
static bool step(struct walker *w, uint64_t *lookup, enum unwind_end *end)
{
    const struct unwind_rule *rule = find_rule(w, *lookup);
    enum rule_kind kind = rule_kind(rule);
    uint64_t old = w->sp;
    bool ok;

    w->wants_more = false;
    if (kind == RULE_NONE && !w->is_top && is_trampoline(w))
        kind = RULE_SIGNAL;
    if (kind == RULE_END) {
        *end = UNWIND_COMPLETE;
        return false;
    }
    ok = kind == RULE_SIGNAL ? step_signal(w)
         : kind == RULE_NONE ? step_unknown(w)
                             : step_rule(w, rule);
    if (!ok) {
        *end = end_of(w, rule, kind);
        return false;
    }
    if (kind == RULE_SIGNAL && (w->sp < old || w->sp >= w->hi) && !w->is_copy)
        stack_switch(w);
    w->is_top = false;
    *lookup = kind == RULE_SIGNAL ? w->pc : w->pc - 1;
    return true;
}

static size_t walk(struct walker *w, uint64_t *lookup, uint64_t *pcs,
                   size_t max, enum unwind_end *end_out)
{
    size_t n = 0;

    *end_out = UNWIND_TRUNCATED;
    for (;;) {
        n = walk_plain(w, lookup, pcs, n, max);
        if (w->pc == 0 && !w->is_top) {
            *end_out = UNWIND_COMPLETE;
            break;
        }
        if (n == max)
            break;
        pcs[n++] = *lookup;
        if (!step(w, lookup, end_out))
            break;
    }
    return n;
}

size_t unwind_walk(const struct unwind_map *map, const struct unwind_regs *from,
                   struct unwind_stack stack, uint64_t *pcs, size_t max,
                   enum unwind_end *end_out)
{
    struct walker w = {.map = map,
                       .pc = from->pc,
                       .sp = from->sp,
                       .fp = from->fp,
                       .extra = from->extra,
                       .context = from->context,
                       .is_top = true,
                       .extra_is_live = from->context != NULL};
    uint64_t lookup = w.pc;

    stack_begin(&w, stack.limit);
    return walk(&w, &lookup, pcs, max, end_out);
}

size_t unwind_walk_copy(const struct unwind_map *map, struct unwind_regs *at,
                        const struct unwind_copy *copy, uint64_t *pcs,
                        size_t max, enum unwind_end *end_out)
{
    struct walker w = {.map = map,
                       .pc = at->pc,
                       .sp = at->sp,
                       .fp = at->fp,
                       .extra = at->extra,
                       .args = at->args,
                       .is_top = !at->is_return,
                       .lo = copy->start,
                       .hi = copy->start + copy->n,
                       .is_copy = true,
                       .shift = (uint64_t)(uintptr_t)copy->bytes - copy->start};
    uint64_t lookup = at->is_return ? w.pc - 1 : w.pc;
    size_t n = walk(&w, &lookup, pcs, max, end_out);

    if (*end_out == UNWIND_WANTS_FP || *end_out == UNWIND_WANTS_STACK)
        n--; /* comes again */
    *at = (struct unwind_regs){.pc = w.pc,
                               .sp = w.sp,
                               .fp = w.fp,
                               .extra = w.extra,
                               .args = w.is_top ? at->args : NULL,
                               .is_return = lookup != w.pc};
    return n;
}

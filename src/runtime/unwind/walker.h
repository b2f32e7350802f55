#ifndef RUNTIME_UNWIND_WALKER_H
#define RUNTIME_UNWIND_WALKER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "runtime/rawcall.h"
#include "runtime/unwind/unwind.h"

#define PAGE 4096u

/* The largest frame; a larger one means that the data is garbage. */
#define MAX_FRAME_BYTES (16u << 20)

/* Pages that one walk may ask the kernel about. */
#define MAX_PROBES 64

#define RED_ZONE 128

/*
 * One walk, and the stack memory that it may read.  Part of unwind.c, whose
 * opening comment is the contract.
 *
 * A stack may be damaged or end in the middle, so every word is read with
 * stack_load(): from [lo, hi), which is known to be mapped, or from a page that
 * the kernel was asked about.
 */
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
static inline bool page_is_readable(uint64_t page)
{
    return raw_call4(SYS_rt_sigprocmask, -1, (long)page, 0, 8) != -14;
}

static __attribute__((noinline, unused)) bool stack_probe(struct walker *w,
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
static inline void stack_begin(struct walker *w, uint64_t limit)
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
static inline void stack_switch(struct walker *w)
{
    w->lo = w->hi = w->sp & ~(uint64_t)(PAGE - 1);
}

#endif

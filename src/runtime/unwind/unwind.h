#ifndef RUNTIME_UNWIND_UNWIND_H
#define RUNTIME_UNWIND_UNWIND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "elf/cfi.h"
#include "elf/unwind_table.h"

/*
 * Walks a thread's own stack, in signal handlers and hooks, or a copy of
 * another thread's.
 *
 * The walker reads only an unwind_map, which is complete before it is
 * published and never changes (but for its cache), and the stack.  A word of
 * the stack is loaded only if it lies in the range that is known to be
 * mapped, or after the kernel has been asked whether its page is readable.
 *
 * Frames come leaf first, each as the address to look up: the exact pc for
 * the leaf and for what a signal interrupted, the return address minus one
 * for callers.
 */
#define UNWIND_MAX_FRAMES  256
#define UNWIND_CACHE_SLOTS 2048

struct unwind_range {
    uint64_t start, limit; /* run-time addresses */
    uint64_t bias;
    struct unwind_table table; /* empty while it is being built: then … */
    struct cfi cfi;            /* … the records themselves are read */
};

struct unwind_map {
    const struct unwind_rule *rules;
    _Atomic uint64_t *cache; /* UNWIND_CACHE_SLOTS of pc << 16 | rule */
    size_t n;
    struct unwind_range ranges[]; /* by address */
};

enum unwind_end {
    UNWIND_COMPLETE,  /* reached the thread's start */
    UNWIND_TRUNCATED, /* UNWIND_MAX_FRAMES were not enough */
    UNWIND_NO_DATA,   /* code without unwind data or frame pointer */
    UNWIND_BAD_FRAME, /* the data led to where no stack is */

    /* Of unwind_walk_copy() alone: it can go on with what is missing. */
    UNWIND_WANTS_FP,    /* the frame pointer, which is not known */
    UNWIND_WANTS_STACK, /* stack that is not in the copy */
};
#define UNWIND_ENDS 4 /* those of unwind_walk() */

/* A register whose value is not known: no address, so that every frame that
 * needs it is seen to be wrong. */
#define UNWIND_UNKNOWN 0x8000000000000001u

/* Where a walk begins.  Registers beyond pc, sp and fp: x86-64's rbx,
 * aarch64's lr. */
struct unwind_regs {
    uint64_t pc, sp, fp, extra;
    const ucontext_t *context; /* of a signal handler, or NULL */
    const uint64_t *args; /* in a system call: its six arguments, or NULL */
    bool is_return; /* pc is where a call returns to, in a caller's frame */
};

/* The part of the stack that is known to be mapped: [sp, limit).  0: not
 * known, the walker asks the kernel page by page. */
struct unwind_stack {
    uint64_t limit;
};

struct unwind_regs unwind_regs_from(const ucontext_t *context);

/* The registers of the function that says it; its own pc is the first frame.
 */
#if defined(__x86_64__)
#define unwind_regs_here(out)                                                  \
    __asm__ volatile("lea 0(%%rip), %%rax\n\t"                                 \
                     "mov %%rax, 0(%0)\n\t"                                    \
                     "mov %%rsp, 8(%0)\n\t"                                    \
                     "mov %%rbp, 16(%0)\n\t"                                   \
                     "mov %%rbx, 24(%0)\n\t"                                   \
                     "movq $0, 32(%0)"                                         \
                     :                                                         \
                     : "r"(out)                                                \
                     : "rax", "memory")
#else
#define unwind_regs_here(out)                                                  \
    __asm__ volatile("adr x9, .\n\t"                                           \
                     "str x9, [%0]\n\t"                                        \
                     "mov x9, sp\n\t"                                          \
                     "str x9, [%0, #8]\n\t"                                    \
                     "str x29, [%0, #16]\n\t"                                  \
                     "str x30, [%0, #24]\n\t"                                  \
                     "str xzr, [%0, #32]"                                      \
                     :                                                         \
                     : "r"(out)                                                \
                     : "x9", "memory")
#endif

/* Up to max frames into pcs; their number.  Async-signal-safe. */
size_t unwind_walk(const struct unwind_map *map, const struct unwind_regs *from,
                   struct unwind_stack stack, uint64_t *pcs, size_t max,
                   enum unwind_end *end_out);

/* A part of another thread's stack. */
struct unwind_copy {
    const void *bytes;
    uint64_t start; /* the address of the first one in that thread */
    size_t n;
};

/*
 * The same for the stack of another thread, which does not run.  Reads no
 * memory of the thread but the copy.  When something is missing, *at says in
 * which frame; that one is not among the frames yet, and the walk goes on
 * there when it is called again.
 */
size_t unwind_walk_copy(const struct unwind_map *map, struct unwind_regs *at,
                        const struct unwind_copy *copy, uint64_t *pcs,
                        size_t max, enum unwind_end *end_out);

#endif

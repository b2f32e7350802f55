#ifndef ELF_RULE_H
#define ELF_RULE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How to get from a frame to its caller's: what .eh_frame says about an
 * address, reduced to what a walker needs.
 *
 * CFA is the value that the stack pointer had before the call; saved values
 * lie at an offset from it (or, in functions that realign their stack, from
 * the frame pointer).  Sixteen bytes, no padding: rules are compared as bytes.
 */
enum rule_kind {
    RULE_NONE,   /* nothing is known about the address */
    RULE_END,    /* outermost frame: there is no caller */
    RULE_SIGNAL, /* a signal's trampoline: the ucontext is on the stack */
    RULE_PLT,    /* x86-64: CFA = sp + 8 + 8 * ((pc & 15) >= add) */
    RULE_REG,    /* CFA = reg + off */
    RULE_DEREF,  /* CFA = *(reg + off) + add */
};

enum rule_flag {
    RULE_FP_AT_CFA = 1,  /* caller's fp is at CFA + fp_off */
    RULE_FP_AT_FP = 2,   /* caller's fp is at fp + fp_off */
    RULE_FP_LOST = 4,    /* caller's fp is unknown */
    RULE_RA_AT_CFA = 8,  /* return address is at CFA + ra_off */
    RULE_BX_AT_CFA = 16, /* x86-64's rbx, the third register some need */
    RULE_BX_AT_FP = 32,
    RULE_RA_IN_REG = 64, /* return address is in register ra_off (vfork) */
};

struct unwind_rule {
    int32_t off, add;
    int16_t fp_off, ra_off, bx_off;
    uint8_t kind_reg; /* kind in the upper 3 bits, DWARF register below */
    uint8_t flags;
};

/* DWARF numbers.  The walker knows sp, fp and rbx in every frame, the other
 * registers only in the one that a signal interrupted. */
#if defined(__x86_64__)
enum { DWARF_SP = 7, DWARF_FP = 6, DWARF_BX = 3, DWARF_RA = 16, DWARF_N = 17 };
#else
enum {
    DWARF_SP = 31,
    DWARF_FP = 29,
    DWARF_BX = -1,
    DWARF_RA = 30,
    DWARF_N = 32
};
#endif

static inline uint8_t rule_pack(enum rule_kind kind, unsigned reg)
{
    return (uint8_t)((unsigned)kind << 5 | (reg & 31));
}

static inline enum rule_kind rule_kind(const struct unwind_rule *r)
{
    return (enum rule_kind)(r->kind_reg >> 5);
}

/* The DWARF number of the CFA's base register. */
static inline unsigned rule_reg(const struct unwind_rule *r)
{
    return r->kind_reg & 31;
}

/* Takes one row of a function: the rule from an address on, NULL at the end of
 * the function.  False ends the reading. */
typedef bool cfi_row_fn(void *ctx, uint64_t vaddr,
                        const struct unwind_rule *rule);

#endif

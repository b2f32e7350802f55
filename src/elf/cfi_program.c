/*
 * SIGNAL CONTEXT, as cfi.c: runs in handlers too.
 */
#include "elf/cfi_program.h"

#define MAX_REMEMBERED 16

struct machine {
    const struct cfi_cie *cie;
    struct cursor code;
    struct cfi_state now;
    uint64_t pc; /* the row that is being described starts here */
    unsigned n_remembered;
    struct cfi_state remembered[MAX_REMEMBERED]; /* [0, n_remembered) */
};

/* Clearing the remembered states would cost more than most programs. */
static void machine_init(struct machine *m, const struct cfi_cie *cie,
                         struct cursor code, uint64_t pc)
{
    m->cie = cie;
    m->code = code;
    m->now = cie->initial;
    m->pc = pc;
    m->n_remembered = 0;
}

static bool fits32(int64_t v)
{
    return v >= INT32_MIN && v <= INT32_MAX;
}

enum {
    OP_DEREF = 0x06,
    OP_AND = 0x1a,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_SHL = 0x24,
    OP_GE = 0x2a,
    OP_LIT0 = 0x30,
    OP_BREG0 = 0x70,
};

/*
 * Of all expressions for the CFA only three shapes occur:
 *   breg R off, deref [, plus_uconst k]        realigned stacks, openssl
 *   breg sp 8, breg ra 0, lit15, and, litN, ge, lit3, shl, plus   the PLT
 *   breg R off                                  plain, written the long way
 */
static void cfa_expression(struct cfi_state *s, struct cursor e)
{
    uint8_t op = cursor_u8(&e);
    int64_t off = cursor_sleb(&e), add = 0;
    unsigned reg = op - OP_BREG0;

    s->cfa = RULE_NONE;
    if (e.bad || op < OP_BREG0 || op >= OP_BREG0 + 32)
        return;
    s->cfa_reg = (uint8_t)reg;
    s->cfa_off = off;
    s->cfa_add = 0;
    if (cursor_left(&e) == 0) {
        s->cfa = RULE_REG;
        return;
    }
    op = cursor_u8(&e);
    if (op == OP_DEREF) {
        if (cursor_left(&e) && cursor_u8(&e) == OP_PLUS_UCONST)
            add = (int64_t)cursor_uleb(&e);
        if (!e.bad && cursor_left(&e) == 0 && fits32(add)) {
            s->cfa = RULE_DEREF;
            s->cfa_add = (int32_t)add;
        }
        return;
    }
    if (reg == DWARF_SP && off == 8 && op == OP_BREG0 + DWARF_RA) {
        uint8_t lit;

        if (cursor_sleb(&e) != 0 || cursor_u8(&e) != OP_LIT0 + 15 ||
            cursor_u8(&e) != OP_AND)
            return;
        lit = cursor_u8(&e);
        if (cursor_u8(&e) != OP_GE || cursor_u8(&e) != OP_LIT0 + 3 ||
            cursor_u8(&e) != OP_SHL || cursor_u8(&e) != OP_PLUS || e.bad ||
            lit < OP_LIT0 || lit > OP_LIT0 + 15)
            return;
        s->cfa = RULE_PLT;
        s->cfa_add = lit - OP_LIT0;
    }
}

static struct place place(enum place_kind kind, int64_t off)
{
    if (!fits32(off))
        return (struct place){0, PLACE_OTHER};
    return (struct place){(int32_t)off, (uint8_t)kind};
}

/* "The register is saved at fp + off" is the one expression we follow. */
static struct place saved_by_expression(struct cursor e)
{
    uint8_t op = cursor_u8(&e);
    int64_t off = cursor_sleb(&e);

    if (e.bad || cursor_left(&e) || op != OP_BREG0 + DWARF_FP)
        return place(PLACE_OTHER, 0);
    return place(PLACE_FP, off);
}

/* Wraps around: the numbers may be anybody's. */
static int64_t times(uint64_t a, int64_t b)
{
    return (int64_t)(a * (uint64_t)b);
}

static inline void set_place(struct machine *m, uint64_t reg,
                             enum place_kind kind, int64_t off)
{
    if (reg == DWARF_FP)
        m->now.fp = place(kind, off);
    else if (reg == m->cie->ra_reg)
        m->now.ra = place(kind, off);
    else if (DWARF_BX >= 0 && reg == (uint64_t)DWARF_BX)
        m->now.bx = place(kind, off);
}

static void restore(struct machine *m, uint64_t reg)
{
    const struct cfi_state *from = &m->cie->initial;

    if (reg == DWARF_FP)
        m->now.fp = from->fp;
    else if (reg == m->cie->ra_reg)
        m->now.ra = from->ra;
    else if (DWARF_BX >= 0 && reg == (uint64_t)DWARF_BX)
        m->now.bx = from->bx;
}

static void set_cfa(struct machine *m, uint64_t reg, int64_t off)
{
    m->now.cfa = reg < 32 ? RULE_REG : RULE_NONE;
    m->now.cfa_reg = (uint8_t)(reg & 31);
    m->now.cfa_off = off;
    m->now.cfa_add = 0;
}

static struct cursor block(struct machine *m)
{
    uint64_t n = cursor_uleb(&m->code);
    struct cursor c = m->code;

    if (!cursor_skip(&m->code, n))
        return cursor_of(NULL, 0);
    c.end = m->code.at;
    return c;
}

/* Instructions that describe registers; false when unknown. */
static bool step_register(struct machine *m, uint8_t op)
{
    struct cursor *c = &m->code;
    int64_t align = m->cie->data_align;
    uint64_t reg;

    switch (op) {
    case 0x05: /* offset_extended */
        reg = cursor_uleb(c);
        set_place(m, reg, PLACE_CFA, times(cursor_uleb(c), align));
        return true;
    case 0x06: /* restore_extended */
        restore(m, cursor_uleb(c));
        return true;
    case 0x07: /* undefined */
        set_place(m, cursor_uleb(c), PLACE_UNDEFINED, 0);
        return true;
    case 0x08: /* same_value */
        set_place(m, cursor_uleb(c), PLACE_SAME, 0);
        return true;
    case 0x09: /* register */
        reg = cursor_uleb(c);
        set_place(m, reg, PLACE_REG, (int64_t)cursor_uleb(c));
        return true;
    case 0x10: /* expression */
        reg = cursor_uleb(c);
        {
            struct place p = saved_by_expression(block(m));

            set_place(m, reg, p.kind, p.off);
        }
        return true;
    case 0x11: /* offset_extended_sf */
        reg = cursor_uleb(c);
        set_place(m, reg, PLACE_CFA, times((uint64_t)cursor_sleb(c), align));
        return true;
    case 0x14: /* val_offset */
    case 0x15: /* val_offset_sf */
        reg = cursor_uleb(c);
        cursor_uleb(c);
        set_place(m, reg, PLACE_OTHER, 0);
        return true;
    case 0x16: /* val_expression */
        reg = cursor_uleb(c);
        block(m);
        set_place(m, reg, PLACE_OTHER, 0);
        return true;
    case 0x2f: /* GNU_negative_offset_extended */
        reg = cursor_uleb(c);
        set_place(m, reg, PLACE_CFA, times(0 - cursor_uleb(c), align));
        return true;
    default:
        return false;
    }
}

/* All others that do not move the pc; false when unknown. */
static bool step_cfa(struct machine *m, uint8_t op)
{
    struct cursor *c = &m->code;
    int64_t align = m->cie->data_align;
    uint64_t reg;

    switch (op) {
    case 0x00: /* nop */
    case 0x2d: /* aarch64: negate_ra_state; the walker strips signatures */
        return true;
    case 0x0a: /* remember_state */
        if (m->n_remembered == MAX_REMEMBERED)
            return false;
        m->remembered[m->n_remembered++] = m->now;
        return true;
    case 0x0b: /* restore_state */
        if (m->n_remembered == 0)
            return false;
        m->now = m->remembered[--m->n_remembered];
        return true;
    case 0x0c: /* def_cfa */
        reg = cursor_uleb(c);
        set_cfa(m, reg, (int64_t)cursor_uleb(c));
        return true;
    case 0x0d: /* def_cfa_register */
        set_cfa(m, cursor_uleb(c), m->now.cfa_off);
        return true;
    case 0x0e: /* def_cfa_offset */
        m->now.cfa_off = (int64_t)cursor_uleb(c);
        return true;
    case 0x0f: /* def_cfa_expression */
        cfa_expression(&m->now, block(m));
        return true;
    case 0x12: /* def_cfa_sf */
        reg = cursor_uleb(c);
        set_cfa(m, reg, times((uint64_t)cursor_sleb(c), align));
        return true;
    case 0x13: /* def_cfa_offset_sf */
        m->now.cfa_off = times((uint64_t)cursor_sleb(c), align);
        return true;
    case 0x2e: /* GNU_args_size */
        cursor_uleb(c);
        return true;
    default:
        return false;
    }
}

/* Executes up to the next instruction that moves the pc: *advance is by how
 * much, 0 at the end of the code.  False on nonsense. */
static bool run_row(struct machine *m, uint64_t *advance)
{
    struct cursor *c = &m->code;

    *advance = 0;
    while (cursor_left(c)) {
        uint8_t op = cursor_u8(c), low = op & 0x3f;

        switch (op >> 6) {
        case 1:
            *advance = low * m->cie->code_align;
            break;
        case 2:
            set_place(m, low, PLACE_CFA,
                      times(cursor_uleb(c), m->cie->data_align));
            break;
        case 3:
            restore(m, low);
            break;
        default:
            if (op == 0x02)
                *advance = cursor_u8(c) * m->cie->code_align;
            else if (op == 0x03)
                *advance = cursor_u16(c) * m->cie->code_align;
            else if (op == 0x04)
                *advance = cursor_u32(c) * m->cie->code_align;
            else if (!step_cfa(m, op) && !step_register(m, op))
                return false;
        }
        if (c->bad)
            return false;
        if (*advance)
            return true;
    }
    return true;
}

static bool fits16(int32_t v)
{
    return v >= INT16_MIN && v <= INT16_MAX;
}

static void put_saved(struct unwind_rule *r, struct place p, int16_t *off,
                      unsigned at_cfa, unsigned at_fp, unsigned lost)
{
    unsigned flag = 0;

    if ((p.kind == PLACE_CFA || p.kind == PLACE_FP) && fits16(p.off)) {
        *off = (int16_t)p.off;
        flag = p.kind == PLACE_CFA ? at_cfa : at_fp;
    } else if (p.kind != PLACE_SAME) {
        flag = lost;
    }
    r->flags = (uint8_t)(r->flags | flag);
}

static struct unwind_rule make_rule(const struct cfi_cie *cie,
                                    const struct cfi_state *s)
{
    struct unwind_rule none = {0}, r = {0};

    if (cie->is_signal) {
        r.kind_reg = rule_pack(RULE_SIGNAL, 0);
        return r;
    }
    if (s->ra.kind == PLACE_UNDEFINED) {
        r.kind_reg = rule_pack(RULE_END, 0);
        return r;
    }
    if (s->cfa == RULE_NONE || !fits32(s->cfa_off))
        return none;
    r.kind_reg = rule_pack(s->cfa, s->cfa_reg);
    r.off = (int32_t)s->cfa_off;
    r.add = s->cfa_add;
    if (s->ra.kind == PLACE_CFA && fits16(s->ra.off)) {
        r.ra_off = (int16_t)s->ra.off;
        r.flags = RULE_RA_AT_CFA;
    } else if (s->ra.kind == PLACE_REG && s->ra.off >= 0 &&
               s->ra.off < DWARF_N) {
        r.ra_off = (int16_t)s->ra.off;
        r.flags = RULE_RA_IN_REG;
    } else if (s->ra.kind == PLACE_SAME && DWARF_BX < 0) {
        r.ra_off = DWARF_RA; /* aarch64: still in the link register */
        r.flags = RULE_RA_IN_REG;
    } else {
        return none;
    }
    put_saved(&r, s->fp, &r.fp_off, RULE_FP_AT_CFA, RULE_FP_AT_FP,
              RULE_FP_LOST);
    if (DWARF_BX >= 0)
        put_saved(&r, s->bx, &r.bx_off, RULE_BX_AT_CFA, RULE_BX_AT_FP, 0);
    return r;
}

bool cfi_cie_init(struct cfi_cie *cie)
{
    struct machine m;
    uint64_t advance;

    machine_init(&m, cie, cie->program, 0);
    if (cie->code_align == 0 || !run_row(&m, &advance) || advance)
        return false;
    cie->initial = m.now;
    return true;
}

bool cfi_run(const struct cfi_cie *cie, struct cursor program, uint64_t start,
             uint64_t limit, cfi_row_fn *row, void *ctx)
{
    struct machine m;
    uint64_t advance;

    machine_init(&m, cie, program, start);
    do {
        struct unwind_rule rule;

        if (!run_row(&m, &advance))
            return true;
        rule = make_rule(cie, &m.now);
        if (!row(ctx, m.pc, &rule))
            return false;
        if (advance >= limit - m.pc)
            return true;
        m.pc += advance;
    } while (advance);
    return true;
}

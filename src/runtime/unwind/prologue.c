/*
 * A decoder for the few dozen instructions that compilers put at the beginning
 * of functions, and nothing else: an instruction that it does not know ends
 * the search without a result.  It errs only on that side.  What is found for
 * an address depends on the code alone, so it is kept; the search itself takes
 * some microseconds.
 */
#include "runtime/unwind/prologue.h"

#include <link.h>
#include <string.h>

#include "elf/cfi.h"
#include "runtime/rawcall.h"

#if defined(__x86_64__)

/* A prologue is shorter; what comes behind it is the body. */
#define MAX_PROLOGUE 96

#define MAX_FRAME_BYTES (1u << 20)

/* Of a function that is looked through for instructions that move rsp. */
#define MAX_FUNCTION (256u << 10)

enum { PREFIX_REX_W = 8, PREFIX_REX_R = 4, PREFIX_REX_B = 1 };

/* --- instructions --------------------------------------------------------- */

struct instruction {
    size_t n;      /* bytes */
    uint8_t rex;   /* 0: none */
    uint8_t op;    /* the last byte of the opcode */
    bool is_0f;    /* of the map behind 0f */
    uint8_t modrm; /* 0: there is none */
    size_t imm_at; /* where the immediate is */
    size_t imm_n;
};

/* Bytes of the address behind a ModRM byte. */
static size_t address_bytes(const uint8_t *modrm, size_t n)
{
    uint8_t mod = modrm[0] >> 6, rm = modrm[0] & 7;
    size_t bytes = mod == 1 ? 1 : mod == 2 ? 4 : 0;

    if (mod == 3)
        return 0;
    if (rm == 4) { /* a SIB byte; base 5 without displacement has one */
        if (n < 2)
            return SIZE_MAX;
        return bytes + 1 + (mod == 0 && (modrm[1] & 7) == 5 ? 4 : 0);
    }
    return bytes + (mod == 0 && rm == 5 ? 4 : 0);
}

enum shape { UNKNOWN, PLAIN, MODRM };

/* Instructions that compilers put between those of a prologue: moves,
 * arithmetic, comparisons, and nothing that branches. */
static enum shape shape_of(const struct instruction *i)
{
    uint8_t op = i->op;

    if (i->is_0f) /* moves of vectors, nop, setcc, cmov, movzx, movsx */
        return (op >= 0x10 && op <= 0x17) || op == 0x1e || op == 0x1f ||
                       (op >= 0x28 && op <= 0x2f) || (op & 0xf0) == 0x40 ||
                       op == 0x57 || (op >= 0x6e && op <= 0x6f) || op == 0x7e ||
                       op == 0x7f || (op & 0xf0) == 0x90 || op == 0xb6 ||
                       op == 0xb7 || op == 0xbe || op == 0xbf || op == 0xd6 ||
                       op == 0xef
                   ? MODRM
                   : UNKNOWN;
    if (op < 0x40 && (op & 7) < 4)
        return MODRM; /* add, or, adc, sbb, and, sub, xor, cmp */
    if ((op & 0xf8) == 0x50 || op == 0x90 || (op & 0xf0) == 0xb0 ||
        (op < 0x40 && (op & 7) < 6) || op == 0x98 || op == 0x99)
        return PLAIN; /* push, nop, mov $x; the same with eax; sign */
    return (op >= 0x80 && op <= 0x8b) || op == 0x8d || op == 0x63 ||
                   op == 0xc0 || op == 0xc1 || op == 0xc6 || op == 0xc7 ||
                   (op >= 0xd0 && op <= 0xd3) || op == 0xf6 || op == 0xf7
               ? MODRM
               : UNKNOWN;
}

static size_t immediate_bytes(const struct instruction *i, bool is_16_bit)
{
    uint8_t op = i->op;
    size_t word = is_16_bit ? 2 : 4;

    if (i->is_0f)
        return 0;
    if ((op & 0xf8) == 0xb8)
        return i->rex & PREFIX_REX_W ? 8 : word;
    if ((op & 0xf8) == 0xb0 || op == 0x80 || op == 0x83 || op == 0xc0 ||
        op == 0xc1 || op == 0xc6 || (op < 0x40 && (op & 7) == 4))
        return 1;
    if (op == 0x81 || op == 0xc7 || (op < 0x40 && (op & 7) == 5))
        return word;
    if ((op == 0xf6 || op == 0xf7) && (i->modrm >> 3 & 7) < 2)
        return op == 0xf6 ? 1 : word; /* test */
    return 0;
}

/* False: not one of those that are known, or not all of it is here. */
static bool decode(const uint8_t *p, size_t n, struct instruction *out)
{
    struct instruction i = {0};
    bool is_16_bit = false;
    size_t at = 0, address = 0;
    enum shape shape;

    while (at < n && (p[at] == 0x66 || p[at] == 0xf2 || p[at] == 0xf3 ||
                      p[at] == 0x64 || p[at] == 0x65))
        is_16_bit |= p[at++] == 0x66;
    if (at < n && (p[at] & 0xf0) == 0x40)
        i.rex = p[at++];
    if (at < n && p[at] == 0x0f) {
        i.is_0f = true;
        at++;
    }
    if (at >= n)
        return false;
    i.op = p[at++];
    shape = shape_of(&i);
    if (shape == UNKNOWN || (shape == MODRM && at >= n))
        return false;
    if (shape == MODRM) {
        address = address_bytes(p + at, n - at);
        if (address > n)
            return false;
        i.modrm = p[at++];
    }
    i.imm_at = at + address;
    i.imm_n = immediate_bytes(&i, is_16_bit);
    i.n = i.imm_at + i.imm_n;
    *out = i;
    return i.n <= n;
}

/* Returns true if it changes rsp in a way that prologues do not. */
static bool writes_sp(const struct instruction *i)
{
    uint8_t mod = i->modrm >> 6, reg = i->modrm >> 3 & 7, rm = i->modrm & 7;
    bool to_rm = mod == 3 && rm == 4 && !(i->rex & PREFIX_REX_B);
    bool to_reg = reg == 4 && !(i->rex & PREFIX_REX_R);

    if (i->is_0f)
        return (i->op & 0xf0) == 0x40 && to_reg;
    if (i->op < 0x40 && (i->op & 7) < 4)
        return (i->op & 0x38) != 0x38 && (i->op & 2 ? to_reg : to_rm);
    switch (i->op) {
    case 0x80:
    case 0x81:
    case 0x83:
        return to_rm && reg != 7; /* not cmp */
    case 0x89:
    case 0xc7:
        return to_rm;
    case 0x8b:
    case 0x8d:
    case 0x63:
        return to_reg;
    case 0xbc:
        return !(i->rex & PREFIX_REX_B);
    default:
        return false;
    }
}

static bool is_sub_sp(const struct instruction *i)
{
    return !i->is_0f && (i->op == 0x81 || i->op == 0x83) && i->modrm == 0xec &&
           (i->rex & PREFIX_REX_W) && !(i->rex & PREFIX_REX_B);
}

static uint64_t immediate(const uint8_t *p, const struct instruction *i)
{
    int32_t value = 0;

    if (i->imm_n == 1)
        return (uint64_t)(int64_t)(int8_t)p[i->imm_at];
    memcpy(&value, p + i->imm_at, sizeof(value));
    return (uint64_t)(int64_t)value;
}

/*
 * Instructions with which functions move rsp by a variable, or align it,
 * anywhere in the body: sub and mov between rsp and a register, `and $x,
 * %rsp`.  Looked for at every byte: to find one that is none only means to
 * give up.
 */
static bool moves_sp(const uint8_t *code, size_t n)
{
    for (size_t i = 0; i + 2 < n; i++) {
        uint8_t rex = code[i], op = code[i + 1], modrm = code[i + 2];
        bool is_rm = !(rex & PREFIX_REX_B), is_reg = !(rex & PREFIX_REX_R);

        if ((rex & 0xf8) != 0x48 || (op == 0x89 && modrm == 0xec))
            continue; /* mov %rbp, %rsp is its end */
        if ((is_rm && (op == 0x29 || op == 0x89) && (modrm & 0xc7) == 0xc4) ||
            (is_reg && (op == 0x2b || op == 0x8b) && (modrm & 0xf8) == 0xe0) ||
            (is_rm && (op == 0x81 || op == 0x83) && modrm == 0xe4))
            return true;
    }
    return false;
}

/* With a branch, a call or a return the body has begun. */
static bool is_branch(const uint8_t *p, size_t n)
{
    if (n < 2)
        return false;
    return (p[0] & 0xf0) == 0x70 || p[0] == 0xe8 || p[0] == 0xe9 ||
           p[0] == 0xeb || p[0] == 0xc3 || p[0] == 0xc9 ||
           (p[0] == 0x0f && (p[1] & 0xf0) == 0x80) ||
           (p[0] == 0xff && ((p[1] >> 3 & 7) == 2 || (p[1] >> 3 & 7) == 4)) ||
           (p[0] == 0x41 && p[1] == 0xff);
}

/* orq $0, (%rsp): a big frame is made page by page, and each is touched. */
static bool is_touch(const uint8_t *p, size_t n)
{
    static const uint8_t code[] = {0x48, 0x83, 0x0c, 0x24, 0x00};

    return n >= sizeof(code) && memcmp(p, code, sizeof(code)) == 0;
}

bool prologue_read(const uint8_t *code, size_t n, size_t pc, uint64_t *out)
{
    uint64_t above = 0;

    if (pc > n || moves_sp(code, n))
        return false;
    for (size_t at = 0; at < pc && at < MAX_PROLOGUE;) {
        struct instruction i;

        if (is_branch(code + at, n - at))
            break;
        if (!decode(code + at, n - at, &i))
            return false;
        if (!i.is_0f && (i.op & 0xf8) == 0x50)
            above += 8;
        else if (is_sub_sp(&i))
            above += immediate(code + at, &i);
        else if (writes_sp(&i))
            return false;
        at += i.n;
        if (is_sub_sp(&i) && !is_touch(code + at, n - at))
            break;
    }
    *out = above;
    return above < MAX_FRAME_BYTES;
}

/* --- in a module ---------------------------------------------------------- */

struct query {
    uint64_t pc;
    uint64_t above;
    bool found;
};

/* The address from which on the rule of the function is CFA = rbp + 16. */
static bool body_start(const struct cfi *c, uint64_t start, uint64_t pc,
                       uint64_t *out)
{
    for (uint64_t at = start; at <= pc && at < start + MAX_PROLOGUE; at++) {
        struct unwind_rule rule;

        if (!cfi_find(c, at, &rule))
            return false;
        if (rule.kind_reg == rule_pack(RULE_REG, DWARF_FP)) {
            *out = at;
            return rule.off == 16;
        }
    }
    return false;
}

/* With the loader's lock held, so that it cannot be unloaded meanwhile. */
static int look_in_module(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct query *q = ctx;
    uint64_t vaddr = q->pc - info->dlpi_addr, start, limit, body;
    const uint8_t *code;
    struct elf_view v;
    struct cfi c;

    (void)size;
    elf_view_module(&v, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum);
    if (vaddr < v.text_start || vaddr >= v.text_limit)
        return 0;
    if (!cfi_open(&c, &v) || !cfi_function(&c, vaddr, &start, &limit) ||
        !body_start(&c, start, vaddr, &body))
        return 1;
    limit = limit < v.text_limit ? limit : v.text_limit;
    code = limit > vaddr && limit - body < MAX_FUNCTION
               ? elf_view_at(&v, body, limit - body)
               : NULL;
    q->found =
        code && prologue_read(code, limit - body, vaddr - body, &q->above);
    return 1;
}

bool prologue_find(struct prologue_cache *cache, uint64_t pc, uint64_t *out)
{
    size_t slot = pc * 0x9e3779b97f4a7c15u >> 56;

    if (cache->v[slot].pc != pc) {
        struct query q = {.pc = pc};

        dl_iterate_phdr(look_in_module, &q);
        cache->v[slot].pc = pc;
        cache->v[slot].above = q.found ? (int64_t)q.above : -1;
    }
    *out = (uint64_t)cache->v[slot].above;
    return cache->v[slot].above >= 0;
}

/* call rel32, or call through a register or memory: 2 to 7 bytes. */
bool prologue_is_return(uint64_t address)
{
    uint8_t before[8];

    if (raw_copy(before, address - sizeof(before), sizeof(before)) !=
        sizeof(before))
        return false;
    if (before[3] == 0xe8)
        return true;
    for (size_t n = 2; n <= 7; n++) {
        const uint8_t *p = before + sizeof(before) - n;
        size_t rest = n - 2;

        if (p[0] == 0xff && (p[1] >> 3 & 7) == 2 &&
            address_bytes(p + 1, n - 1) == rest)
            return true;
    }
    return false;
}

_Static_assert(PROLOGUE_CACHE == 256, "slots are numbered by eight bits");

#else

bool prologue_read(const uint8_t *code, size_t n, size_t pc, uint64_t *out)
{
    (void)code, (void)n, (void)pc, (void)out;
    return false;
}

bool prologue_find(struct prologue_cache *cache, uint64_t pc, uint64_t *out)
{
    (void)cache, (void)pc, (void)out;
    return false;
}

bool prologue_is_return(uint64_t address)
{
    (void)address;
    return false;
}

#endif

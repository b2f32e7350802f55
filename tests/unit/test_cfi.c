/*
 * Our reader of .eh_frame against elfutils': for libraries and programs of
 * the system, the rule at every row (and at the last byte before the next)
 * must be what libdw says of that address, and what cfi_find() says.
 */
#include "test.h"

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "elf/cfi.h"
#include "elf/unwind_table.h"

enum { OP_BREG0 = 0x70, OP_BREGX = 0x92 };

static bool is_breg(const Dwarf_Op *op, unsigned *reg, int64_t *off)
{
    if (op->atom >= OP_BREG0 && op->atom < OP_BREG0 + 32) {
        *reg = op->atom - OP_BREG0;
        *off = (int64_t)op->number;
        return true;
    }
    if (op->atom == OP_BREGX) {
        *reg = (unsigned)op->number;
        *off = (int64_t)op->number2;
        return true;
    }
    return false;
}

/* "At CFA + off" or "at fp + off", as libdw writes it. */
static unsigned saved(Dwarf_Frame *frame, int reg, int16_t *off,
                      unsigned at_cfa, unsigned at_fp, unsigned lost)
{
    Dwarf_Op mem[3], *ops;
    size_t n;
    unsigned base;
    int64_t value = 0;

    if (dwarf_frame_register(frame, reg, mem, &ops, &n) != 0)
        return lost;
    if (n == 0)
        return ops == NULL ? 0 : lost;
    if (ops[0].atom == 0x9c /* call_frame_cfa */ &&
        (n == 1 || (n == 2 && ops[1].atom == 0x23 /* plus_uconst */))) {
        *off = (int16_t)(n == 2 ? (int64_t)ops[1].number : 0);
        return at_cfa;
    }
    if (n == 1 && ops[0].atom == 0x90 /* regx */ && reg == DWARF_RA) {
        *off = (int16_t)ops[0].number;
        return RULE_RA_IN_REG;
    }
    if (n == 1 && is_breg(&ops[0], &base, &value) && base == DWARF_FP) {
        *off = (int16_t)value;
        return at_fp;
    }
    return lost;
}

static struct unwind_rule oracle(Dwarf_Frame *frame)
{
    struct unwind_rule r = {0}, none = {0};
    Dwarf_Op *ops;
    size_t n;
    unsigned reg = 0, ra;
    int64_t off = 0;
    bool is_signal;
    int ra_reg = dwarf_frame_info(frame, NULL, NULL, &is_signal);

    if (is_signal) {
        r.kind_reg = rule_pack(RULE_SIGNAL, 0);
        return r;
    }
    ra = saved(frame, ra_reg, &r.ra_off, RULE_RA_AT_CFA, 255, 254);
    {
        Dwarf_Op mem[3], *ra_ops;
        size_t ra_n;

        if (dwarf_frame_register(frame, ra_reg, mem, &ra_ops, &ra_n) == 0 &&
            ra_n == 0 && ra_ops != NULL) {
            r = none;
            r.kind_reg = rule_pack(RULE_END, 0);
            return r;
        }
    }
    if (ra >= 254 || (ra == 0 && DWARF_BX >= 0) ||
        dwarf_frame_cfa(frame, &ops, &n) != 0 || n == 0 ||
        !is_breg(&ops[0], &reg, &off))
        return none;
    r.flags = (uint8_t)ra;
    r.off = (int32_t)off;
    if (n == 1) {
        r.kind_reg = rule_pack(RULE_REG, reg);
    } else if (ops[1].atom == 0x06) {
        r.kind_reg = rule_pack(RULE_DEREF, reg);
        r.add = n == 3 ? (int32_t)ops[2].number : 0;
    } else if (n == 9) {
        r.kind_reg = rule_pack(RULE_PLT, reg);
        r.add = (int32_t)(ops[4].atom - 0x30);
    } else {
        return none;
    }
    r.flags =
        (uint8_t)(r.flags | saved(frame, DWARF_FP, &r.fp_off, RULE_FP_AT_CFA,
                                  RULE_FP_AT_FP, RULE_FP_LOST));
    if (DWARF_BX >= 0)
        r.flags = (uint8_t)(r.flags | saved(frame, DWARF_BX, &r.bx_off,
                                            RULE_BX_AT_CFA, RULE_BX_AT_FP, 0));
    return r;
}

static bool agrees(Dwarf_CFI *cfi, const struct cfi *records,
                   const struct unwind_table *t, const struct rule_set *set,
                   uint64_t vaddr)
{
    const struct unwind_rule *ours = &set->rules[unwind_table_find(t, vaddr)];
    struct unwind_rule want = {0}, found;
    Dwarf_Frame *frame = NULL;

    if (dwarf_cfi_addrframe(cfi, vaddr, &frame) == 0) {
        want = oracle(frame);
        free(frame);
    } else {
        return true; /* padding between functions: any rule will do */
    }
    if (memcmp(ours, &want, sizeof(want)) == 0)
        return cfi_find(records, vaddr, &found) &&
               memcmp(&found, &want, sizeof(want)) == 0;
    printf("# at %llx: kind %d/%d reg %u/%u off %d/%d flags %x/%x\n",
           (unsigned long long)vaddr, rule_kind(ours), rule_kind(&want),
           rule_reg(ours), rule_reg(&want), ours->off, want.off, ours->flags,
           want.flags);
    return false;
}

static void compare(const char *path)
{
    struct rule_set set;
    struct unwind_table t;
    struct elf_view v;
    struct cfi records;
    int fd = open(path, O_RDONLY);
    size_t rows = 0, wrong = 0, n, size;
    char *bytes;
    Elf *elf;
    Dwarf_CFI *cfi;

    if (fd < 0) {
        printf("# %s is not here: skipped\n", path);
        return;
    }
    elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    bytes = elf_rawfile(elf, &size);
    EXPECT(elf_view_file(&v, bytes, size) && rule_set_init(&set));
    EXPECT(unwind_table_build(&t, &v, &set) && cfi_open(&records, &v));
    cfi = dwarf_getcfi_elf(elf);
    EXPECT(cfi != NULL);
    n = t.n_rows / 20000 + 1; /* of the big ones every n-th row */
    for (size_t b = 0; cfi && b < t.n_buckets; b++) {
        for (uint32_t i = t.buckets[b]; i < t.buckets[b + 1]; i++) {
            uint64_t at = t.start + b * 256 + t.low[i];

            if (i % n)
                continue;
            rows++;
            wrong += !agrees(cfi, &records, &t, &set, at);
            wrong += at > t.start && !agrees(cfi, &records, &t, &set, at - 1);
        }
    }
    printf("# %s: %zu rows, %zu compared, %zu wrong, %u rules, %zu bytes\n",
           path, t.n_rows, rows, wrong, set.n, unwind_table_bytes(&t));
    EXPECT(wrong == 0);
    EXPECT(rows > 0 && set.refused == 0);
    dwarf_cfi_end(cfi);
    elf_end(elf);
    close(fd);
    unwind_table_release(&t);
    rule_set_release(&set);
}

#if defined(__x86_64__)
#define LIBRARY(name) "/lib/x86_64-linux-gnu/" name
#else
#define LIBRARY(name) "/lib/aarch64-linux-gnu/" name
#endif

TEST(rows_of_libc_are_what_elfutils_reads)
{
    elf_version(EV_CURRENT);
    compare(LIBRARY("libc.so.6"));
}

TEST(rows_of_libstdcxx_are_what_elfutils_reads)
{
    compare(LIBRARY("libstdc++.so.6"));
}

TEST(rows_of_libcrypto_are_what_elfutils_reads)
{
    compare(LIBRARY("libcrypto.so.3"));
}

TEST(rows_of_the_loader_are_what_elfutils_reads)
{
    compare(LIBRARY("ld-linux-x86-64.so.2"));
}

TEST(rows_of_redis_and_python_are_what_elfutils_reads)
{
    compare("/usr/bin/redis-server");
    compare("/usr/bin/python3");
}

TEST(rows_of_this_program_are_what_elfutils_reads)
{
    compare("/proc/self/exe");
}

TEST_MAIN

#ifndef ELF_UNWIND_TABLE_H
#define ELF_UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/search.h"
#include "elf/rule.h"
#include "elf/view.h"

/*
 * The unwind rows of one ELF object, made for look-ups in a signal handler: no
 * pointers into the object, no locks, three cache lines per look-up.
 *
 * Text is cut into buckets of 256 bytes.  A row is one byte (its address within
 * the bucket) and a 16-bit rule number; a bucket is the number of its first
 * row.  In this form, the 2.5 million rows of clang and its libraries take 8.8
 * MB.
 *
 * Only some hundred different rules exist in a process: they are shared by
 * all tables in one rule_set, which only ever grows.
 */
#define RULE_SET_MAX 16384

struct rule_set {
    struct unwind_rule *rules; /* RULE_SET_MAX of them; [0] is RULE_NONE */
    uint16_t *index;           /* hash -> rule, for the thread that builds
                                  tables */
    uint32_t n;
    uint32_t refused; /* rows that got RULE_NONE because the set was full */
};

bool rule_set_init(struct rule_set *set); /* false: out of memory */
void rule_set_release(struct rule_set *set);

struct unwind_table {
    uint64_t start, limit; /* vaddrs it knows about; start is 256-aligned */
    uint32_t *buckets;     /* n_buckets + 1 row numbers */
    uint8_t *low;
    uint16_t *rules;
    size_t n_buckets, n_rows;
    size_t buckets_n, low_n, rules_n; /* bytes of pages */
};

/* Builds from .eh_frame.  False: no unwind data, or out of memory; the table
 * is then empty and answers RULE_NONE to everything. */
bool unwind_table_build(struct unwind_table *t, const struct elf_view *v,
                        struct rule_set *set);
void unwind_table_release(struct unwind_table *t);
size_t unwind_table_bytes(const struct unwind_table *t);

/* The number of the rule at a vaddr.  Async-signal-safe. */
static inline uint16_t unwind_table_find(const struct unwind_table *t,
                                         uint64_t vaddr)
{
    uint64_t off = vaddr - t->start;
    uint8_t low = (uint8_t)off;
    size_t next;

    if (vaddr < t->start || vaddr >= t->limit)
        return 0;
    next = search_first(i, t->buckets[off >> 8], t->buckets[(off >> 8) + 1],
                        t->low[i] > low);
    return next ? t->rules[next - 1] : 0;
}

#endif

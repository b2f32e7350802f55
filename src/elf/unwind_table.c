#include "elf/unwind_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "base/str.h"
#include "elf/cfi.h"

#define INDEX_SLOTS (RULE_SET_MAX * 2)

/* Padding between functions is not worth two rows. */
#define SMALL_GAP 16

bool rule_set_init(struct rule_set *set)
{
    *set = (struct rule_set){.n = 1};
    set->rules = pages_alloc(RULE_SET_MAX * sizeof(*set->rules));
    set->index = pages_alloc(INDEX_SLOTS * sizeof(*set->index));
    if (set->rules && set->index)
        return true;
    rule_set_release(set);
    return false;
}

void rule_set_release(struct rule_set *set)
{
    pages_free(set->rules, RULE_SET_MAX * sizeof(*set->rules));
    pages_free(set->index, INDEX_SLOTS * sizeof(*set->index));
    *set = (struct rule_set){0};
}

static uint16_t rule_number(struct rule_set *set, const struct unwind_rule *r)
{
    size_t slot = str_hash(str_of((const char *)r, sizeof(*r))) % INDEX_SLOTS;

    if (rule_kind(r) == RULE_NONE)
        return 0;
    for (; set->index[slot]; slot = (slot + 1) % INDEX_SLOTS)
        if (memcmp(&set->rules[set->index[slot]], r, sizeof(*r)) == 0)
            return set->index[slot];
    if (set->n == RULE_SET_MAX) {
        set->refused++;
        return 0;
    }
    set->rules[set->n] = *r;
    set->index[slot] = (uint16_t)set->n;
    return (uint16_t)set->n++;
}

struct row {
    uint32_t off; /* from the table's start */
    uint16_t rule;
};

struct builder {
    struct pages_vec rows;
    struct rule_set *set;
    uint64_t start, limit;
    struct unwind_rule last_rule; /* most rules come in runs */
    uint16_t last_number;
    bool after_function; /* the last row is the end of one */
    bool unsorted;
};

static bool take_row(void *ctx, uint64_t vaddr, const struct unwind_rule *rule)
{
    static const struct unwind_rule none;
    struct builder *b = ctx;
    struct row *rows = b->rows.p, *to;
    bool after = b->after_function, ends = rule == NULL;
    uint32_t off;

    if (vaddr < b->start || vaddr > b->limit)
        return true; /* not in executable memory: a lie or dead code */
    b->after_function = false;
    if (ends)
        rule = &none;
    if (memcmp(rule, &b->last_rule, sizeof(*rule)) != 0) {
        b->last_rule = *rule;
        b->last_number = rule_number(b->set, rule);
    }
    off = (uint32_t)(vaddr - b->start);
    if (b->rows.n) {
        struct row *last = &rows[b->rows.n - 1];

        if (off < last->off)
            b->unsorted = true;
        else if (after && off - last->off < SMALL_GAP)
            b->rows.n--;
        else if (last->rule == b->last_number)
            return true;
    }
    to = pages_vec_push(&b->rows, 1);
    if (to)
        *to = (struct row){off, b->last_number};
    b->after_function = ends;
    return to != NULL;
}

static int by_offset(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    if (x->off != y->off)
        return x->off < y->off ? -1 : 1;
    return (x->rule != 0) - (y->rule != 0); /* an end before a start */
}

static bool pack(struct unwind_table *t, const struct builder *b)
{
    const struct row *rows = b->rows.p;
    size_t n = b->rows.n, next = 0;

    t->start = b->start;
    t->limit = b->limit;
    t->n_rows = n;
    t->n_buckets = (size_t)((b->limit - b->start + 255) >> 8);
    t->memory_n = (t->n_buckets + 1) * sizeof(*t->buckets) +
                  n * (sizeof(*t->rules) + sizeof(*t->low));
    t->memory = pages_alloc(t->memory_n);
    if (!t->memory)
        return false;
    t->buckets = t->memory;
    t->rules = (uint16_t *)(t->buckets + t->n_buckets + 1);
    t->low = (uint8_t *)(t->rules + n);
    for (size_t i = 0; i <= t->n_buckets; i++) {
        while (next < n && rows[next].off >> 8 < i) {
            t->low[next] = (uint8_t)rows[next].off;
            t->rules[next] = rows[next].rule;
            next++;
        }
        t->buckets[i] = (uint32_t)next;
    }
    /* A row at the very limit is the end of the last function. */
    t->n_rows = next;
    return true;
}

bool unwind_table_build(struct unwind_table *t, const struct elf_view *v,
                        struct rule_set *set)
{
    struct builder b = {.rows = {.size = sizeof(struct row)},
                        .set = set,
                        .start = v->text_start & ~(uint64_t)255,
                        .limit = v->text_limit};
    bool ok;

    *t = (struct unwind_table){0};
    if (b.limit <= b.start || b.limit - b.start > UINT32_MAX)
        return false;
    ok = cfi_each_row(v, take_row, &b) && b.rows.n > 0;
    if (ok && b.unsorted)
        qsort(b.rows.p, b.rows.n, sizeof(struct row), by_offset);
    ok = ok && pack(t, &b);
    pages_vec_release(&b.rows);
    if (!ok)
        *t = (struct unwind_table){0};
    return ok;
}

void unwind_table_release(struct unwind_table *t)
{
    pages_free(t->memory, t->memory_n);
    *t = (struct unwind_table){0};
}

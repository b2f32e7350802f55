/*
 * Builds the rows in one pass over .eh_frame, in the order of addresses if the
 * object has a search table.  Objects without one, or with functions that lie
 * in each other, are collected and sorted first.  Equal rules get one number,
 * by a small hash index that only the builder needs.
 */
#include "elf/unwind_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "elf/cfi.h"

#define INDEX_SLOTS (RULE_SET_MAX * 2)

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

/* Rules are compared and hashed as two words. */
struct words {
    uint64_t a, b;
};

static inline struct words words_of(const struct unwind_rule *r)
{
    struct words w;

    static_assert(sizeof(w) == sizeof(*r), "a rule has no padding");
    memcpy(&w, r, sizeof(w));
    return w;
}

static inline bool is_rule(struct words w, const struct unwind_rule *r)
{
    struct words other = words_of(r);

    return w.a == other.a && w.b == other.b;
}

static uint16_t rule_number(struct rule_set *set, const struct unwind_rule *r)
{
    struct words w = words_of(r);
    uint64_t hash = (w.a * 0x9e3779b97f4a7c15u ^ w.b) * 0xd6e8feb86659fd93u;
    size_t slot = (hash >> 40) % INDEX_SLOTS;

    for (; set->index[slot]; slot = (slot + 1) % INDEX_SLOTS)
        if (is_rule(w, &set->rules[set->index[slot]]))
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

/*
 * Rows go straight to their place in the table.  How many there will be is
 * not known, but each needs a byte of .eh_frame at least: so much is
 * reserved, and what was not touched is given back.  The newest row waits in
 * `last`, because the next one may replace it.
 */
struct builder {
    struct unwind_table *t;
    struct rule_set *set;
    struct pages_vec rows; /* if they must be sorted first */
    bool collect;
    bool unsorted, failed;

    struct row last;
    bool has_last;
    bool after_function;    /* the last row is the end of one */
    size_t n, cap;          /* rows in the table */
    size_t bucket;          /* the next one to be filled */
    struct words last_rule; /* most rules come in runs */
    uint16_t last_number;
};

static void fill_buckets(struct builder *b, size_t up_to)
{
    while (b->bucket <= up_to)
        b->t->buckets[b->bucket++] = (uint32_t)b->n;
}

/* A row at the very limit is the end of the last function: not needed. */
static bool put_last(struct builder *b)
{
    size_t bucket = b->last.off >> 8;

    if (!b->has_last || bucket >= b->t->n_buckets)
        return true;
    if (b->n == b->cap)
        return false;
    assert(b->bucket <= bucket + 1); /* rows come by address */
    fill_buckets(b, bucket);
    b->t->low[b->n] = (uint8_t)b->last.off;
    b->t->rules[b->n] = b->last.rule;
    b->n++;
    return true;
}

static bool put_row(struct builder *b, uint32_t off, uint16_t rule, bool ends)
{
    if (b->has_last) {
        if (off < b->last.off) {
            b->unsorted = true;
            return false;
        }
        if (b->after_function && off - b->last.off < CFI_SMALL_GAP)
            b->has_last = false;
        else if (b->last.rule == rule)
            return true;
    }
    if (!put_last(b)) {
        b->failed = true;
        return false;
    }
    b->last = (struct row){off, rule};
    b->has_last = true;
    b->after_function = ends;
    return true;
}

static bool take_row(void *ctx, uint64_t vaddr, const struct unwind_rule *rule)
{
    struct builder *b = ctx;
    uint16_t number = 0;
    uint32_t off = (uint32_t)(vaddr - b->t->start);
    struct row *to;

    if (vaddr < b->t->start || vaddr > b->t->limit)
        return true; /* not in executable memory: a lie or dead code */
    if (rule && rule_kind(rule) != RULE_NONE) {
        if (!is_rule(b->last_rule, rule)) {
            b->last_rule = words_of(rule);
            b->last_number = rule_number(b->set, rule);
        }
        number = b->last_number;
    }
    if (!b->collect)
        return put_row(b, off, number, rule == NULL);
    to = pages_vec_push(&b->rows, 1);
    if (to)
        *to = (struct row){off, number};
    b->failed = to == NULL;
    return to != NULL;
}

static int by_offset(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    if (x->off != y->off)
        return x->off < y->off ? -1 : 1;
    return (x->rule != 0) - (y->rule != 0); /* an end before a start */
}

/* Functions that lie in each other, or records without a search table. */
static bool build_unsorted(struct builder *b, const struct cfi *c)
{
    const struct row *rows;

    b->collect = true;
    b->unsorted = b->has_last = b->after_function = false;
    b->n = b->bucket = 0;
    if (!cfi_each_row(c, take_row, b))
        return false;
    rows = b->rows.p;
    qsort(b->rows.p, b->rows.n, sizeof(*rows), by_offset);
    for (size_t i = 0; i < b->rows.n; i++)
        if (!put_row(b, rows[i].off, rows[i].rule, rows[i].rule == 0))
            return false;
    return true;
}

static bool table_alloc(struct unwind_table *t, const struct elf_view *v,
                        size_t rows)
{
    *t = (struct unwind_table){.start = v->text_start & ~(uint64_t)255,
                               .limit = v->text_limit};
    if (t->limit <= t->start || t->limit - t->start > UINT32_MAX)
        return false;
    t->n_buckets = (size_t)((t->limit - t->start + 255) >> 8);
    t->buckets_n = (t->n_buckets + 1) * sizeof(*t->buckets);
    t->rules_n = rows * sizeof(*t->rules);
    t->low_n = rows * sizeof(*t->low);
    t->buckets = pages_alloc(t->buckets_n);
    t->rules = pages_alloc(t->rules_n);
    t->low = pages_alloc(t->low_n);
    return t->buckets && t->rules && t->low;
}

/* How many rows there may be at most. */
static size_t max_rows(const struct cfi *c)
{
    return c->n - (c->eh_frame - c->vaddr);
}

bool unwind_table_build(struct unwind_table *t, const struct elf_view *v,
                        struct rule_set *set)
{
    struct builder b = {
        .t = t, .set = set, .rows = {.size = sizeof(struct row)}};
    struct cfi c;
    bool ok;

    *t = (struct unwind_table){0};
    if (!cfi_open(&c, v))
        return false;
    b.cap = max_rows(&c);
    ok = table_alloc(t, v, b.cap);
    if (ok && !cfi_each_row(&c, take_row, &b) && b.unsorted)
        build_unsorted(&b, &c);
    ok = ok && !b.failed && put_last(&b) && b.n > 0;
    pages_vec_release(&b.rows);
    if (!ok) {
        unwind_table_release(t);
        return false;
    }
    fill_buckets(&b, t->n_buckets);
    assert(b.n <= b.cap && b.bucket == t->n_buckets + 1);
    t->n_rows = b.n;
    pages_shrink(t->rules, &t->rules_n, b.n * sizeof(*t->rules));
    pages_shrink(t->low, &t->low_n, b.n * sizeof(*t->low));
    return true;
}

void unwind_table_release(struct unwind_table *t)
{
    pages_free(t->buckets, t->buckets_n);
    pages_free(t->rules, t->rules_n);
    pages_free(t->low, t->low_n);
    *t = (struct unwind_table){0};
}

size_t unwind_table_bytes(const struct unwind_table *t)
{
    return t->buckets_n + t->rules_n + t->low_n;
}

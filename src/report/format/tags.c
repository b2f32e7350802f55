/*
 * -tags: for every label key, its values and what they weigh.
 */
#include "report/format/tags.h"

#include <assert.h>
#include <stdlib.h>

#include "base/i64.h"
#include "report/format/columns.h"

/* A number of a key that was formatted before, and the tag it gave. */
struct number {
    string_id key;
    int64_t num;
    uint32_t tag;
};

struct tag_table {
    struct report *report;
    struct tag_list *list;
    struct map index; /* by (key, name) */
    VEC(struct number) numbers;
    struct map number_index; /* by (key, num) */
    struct buf scratch;
};

static uint32_t find_tag(struct tag_table *t, string_id key, string_id name)
{
    struct map_cursor c =
        map_find(&t->index, map_mix(map_mix(t->index.seed, key), name));
    const struct profile *p = t->report->profile;

    while (map_next(&t->index, &c))
        if (t->list->tags.v[c.record].key_id == key &&
            t->list->tags.v[c.record].name_id == name)
            return c.record;
    map_add(&t->index, &c, (uint32_t)t->list->tags.n);
    *vec_push(t->report->arena, &t->list->tags) =
        (struct tag){.key = profile_str(p, key),
                     .name = profile_str(p, name),
                     .key_id = key,
                     .name_id = name};
    return (uint32_t)t->list->tags.n - 1;
}

/* Different numbers may look the same ("1kB"): the text is the tag. */
static uint32_t find_number(struct tag_table *t, string_id key, int64_t num)
{
    struct map_cursor c =
        map_find(&t->number_index,
                 map_mix(map_mix(t->number_index.seed, key), (uint64_t)num));
    struct report *r = t->report;
    uint32_t tag;

    while (map_next(&t->number_index, &c))
        if (t->numbers.v[c.record].key == key &&
            t->numbers.v[c.record].num == num)
            return t->numbers.v[c.record].tag;
    buf_clear(&t->scratch);
    measure_label(&t->scratch, num,
                  label_units_of(&r->label_units, r->profile, key),
                  r->output_unit);
    tag = find_tag(t, key, profile_intern(r->profile, buf_str(&t->scratch)));
    t->list->tags.v[tag].is_number = true;
    map_add(&t->number_index, &c, (uint32_t)t->numbers.n);
    *vec_push(r->arena, &t->numbers) =
        (struct number){.key = key, .num = num, .tag = tag};
    return tag;
}

static void collect(struct tag_table *t)
{
    const struct profile *p = t->report->profile;

    for (size_t i = 0; i < p->n_samples; i++)
        for (size_t j = p->label_start[i]; j < p->label_start[i + 1]; j++) {
            const struct label *l = &p->labels[j];
            uint32_t tag = l->kind == LABEL_STRING
                               ? find_tag(t, l->key, l->str)
                               : find_number(t, l->key, l->num);

            t->list->tags.v[tag].weight = i64_add(t->list->tags.v[tag].weight,
                                                  report_value(t->report, i));
        }
}

static int compare_tags(const void *x, const void *y)
{
    const struct tag *a = x, *b = y;
    int64_t weight_a = i64_abs(a->weight), weight_b = i64_abs(b->weight);

    if (a->key_id != b->key_id)
        return str_cmp(a->key, b->key);
    if (weight_a != weight_b)
        return weight_a > weight_b ? -1 : 1;
    return str_cmp(a->name, b->name);
}

void tags_collect(struct tag_list *out, struct report *r)
{
    struct tag_table t = {
        .report = r, .list = out, .scratch = arena_buf(r->arena)};

    *out = (struct tag_list){0};
    map_init(&t.index, r->arena, 0);
    map_init(&t.number_index, r->arena, 0);
    collect(&t);
    if (out->tags.n > 0)
        qsort(out->tags.v, out->tags.n, sizeof(struct tag), compare_tags);
    buf_release(&t.scratch);
}

size_t tags_of_key(const struct tag *tags, size_t n)
{
    size_t same = 1;

    assert(n > 0);
    while (same < n && tags[same].key_id == tags[0].key_id)
        same++;
    return same;
}

/* " (12.50%)" unless there is no total to compare with. */
static void add_share(const struct report *r, int64_t weight, struct buf *out)
{
    if (r->total <= 0)
        return;
    buf_add(out, STR(" ("));
    report_add_percent(r, out, weight);
    buf_add_char(out, ')');
}

/* The table of the key that tags[0] has; gives the number of its tags. */
static size_t add_key(const struct report *r, const struct tag *tags, size_t n,
                      struct buf *out)
{
    int64_t sum = 0;

    n = tags_of_key(tags, n);
    for (size_t i = 0; i < n; i++)
        sum = i64_add(sum, tags[i].weight);
    buf_add(out, tags[0].key);
    buf_add(out, STR(":\t Total "));
    report_add_value(r, out, sum);
    buf_add(out, STR(" of "));
    report_add_value(r, out, r->total);
    add_share(r, sum, out);
    buf_add_char(out, '\n');
    for (size_t i = 0; i < n; i++) {
        buf_add(out, STR(" \t"));
        report_add_value(r, out, tags[i].weight);
        add_share(r, tags[i].weight, out);
        buf_add(out, STR(":\t "));
        buf_add(out, tags[i].name);
        buf_add_char(out, '\n');
    }
    buf_add_char(out, '\n');
    return n;
}

bool format_tags(struct report *r, struct buf *out, struct error *err)
{
    struct buf cells = arena_buf(r->arena);
    struct tag_list list;

    (void)err;
    tags_collect(&list, r);
    for (size_t i = 0; i < list.tags.n;)
        i += add_key(r, list.tags.v + i, list.tags.n - i, &cells);
    columns_align_right(out, r->arena, buf_str(&cells));
    buf_release(&cells);
    return true;
}

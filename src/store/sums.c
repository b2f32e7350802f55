/*
 * Most samples have no labels, so their place is found by the number of the
 * node in a plain array; only labelled ones need the hash index.  Look-ups are
 * made in batches, with the memory asked for ahead: the sums of a large merge
 * do not fit into the cache.
 */
#include "store/sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/i64.h"
#include "store/grow.h"

void sums_release(struct sums *s)
{
    free(s->keys);
    free(s->values);
    free(s->by_node);
    free(s->slots);
    *s = (struct sums){0};
}

static bool add_key(struct sums *s, uint32_t node, uint32_t labels)
{
    if (s->n >= UINT32_MAX - 1 || !grow(&s->keys, &s->keys_cap, s->n + 1) ||
        !grow(&s->values, &s->values_cap, (s->n + 1) * s->columns))
        return false;
    s->keys[s->n] = (struct sums_key){node, labels};
    memset(s->values + s->n * s->columns, 0, s->columns * sizeof(*s->values));
    s->n++;
    return true;
}

static bool widen(struct sums *s, uint32_t node)
{
    size_t n = s->nodes;

    if (!grow(&s->by_node, &s->by_node_cap, (size_t)node + 1))
        return false;
    memset(s->by_node + n, 0, (s->by_node_cap - n) * sizeof(*s->by_node));
    s->nodes = s->by_node_cap;
    return true;
}

static size_t slot_of(const struct sums *s, uint32_t node, uint32_t labels)
{
    return (size_t)(hash_mix((uint64_t)node << 32 | labels) >> 19) & s->mask;
}

static bool make_room(struct sums *s)
{
    size_t slots = 64;
    uint32_t *fresh;

    if (s->slots && s->n_slotted < s->mask - s->mask / 4)
        return true;
    while (slots - slots / 4 <= s->n_slotted + 1)
        slots *= 2;
    fresh = calloc(slots, sizeof(*fresh));
    if (!fresh)
        return false;
    free(s->slots);
    s->slots = fresh;
    s->mask = slots - 1;
    for (size_t i = 0; i < s->n; i++) {
        size_t at;

        if (!s->keys[i].labels)
            continue;
        at = slot_of(s, s->keys[i].node, s->keys[i].labels);
        while (fresh[at])
            at = (at + 1) & s->mask;
        fresh[at] = (uint32_t)i + 1;
    }
    return true;
}

static int64_t *at_labels(struct sums *s, uint32_t node, uint32_t labels)
{
    size_t at;

    if (!make_room(s))
        return NULL;
    at = slot_of(s, node, labels);
    for (; s->slots[at]; at = (at + 1) & s->mask) {
        size_t place = s->slots[at] - 1;

        if (s->keys[place].node == node && s->keys[place].labels == labels)
            return s->values + place * s->columns;
    }
    if (!add_key(s, node, labels))
        return NULL;
    s->slots[at] = (uint32_t)s->n;
    s->n_slotted++;
    return s->values + (s->n - 1) * s->columns;
}

int64_t *sums_at(struct sums *s, uint32_t node, uint32_t labels)
{
    if (labels)
        return at_labels(s, node, labels);
    if (node >= s->nodes && !widen(s, node))
        return NULL;
    if (!s->by_node[node]) {
        if (!add_key(s, node, 0))
            return NULL;
        s->by_node[node] = (uint32_t)s->n;
    }
    return s->values + (s->by_node[node] - 1) * s->columns;
}

/*
 * Sums are spread over more memory than the nearest caches hold, and finding
 * one takes two reads that depend on each other.  So a few samples are taken
 * at a time: their places are looked up first, which starts fetching all
 * those sums at once, and only then are values added.
 */
enum { AT_ONCE = 32 };

/* The place + 1 of each sample's sum, 0 where sums_at() must look. */
static void find_places(const struct sums *s, const uint32_t *nodes,
                        const uint32_t *labels, size_t n, uint32_t *places)
{
    for (size_t i = 0; i < n; i++) {
        places[i] =
            !labels[i] && nodes[i] < s->nodes ? s->by_node[nodes[i]] : 0;
        if (places[i])
            __builtin_prefetch(s->values + (places[i] - 1) * s->columns, 1);
    }
}

static inline void add_values(int64_t *sum, const int64_t *values, size_t n)
{
    for (size_t c = 0; c < n; c++)
        sum[c] = i64_add(sum[c], values[c]);
}

/* A row that is itself a sum may have more columns. */
static bool add_batch(struct sums *s, const struct row_samples *row,
                      size_t first, size_t n)
{
    const int64_t *value = row->values + first * row->columns;
    uint32_t places[AT_ONCE];

    find_places(s, row->nodes + first, row->labels + first, n, places);
    for (size_t i = 0; i < n; i++, value += row->columns) {
        int64_t *sum = places[i] ? s->values + (places[i] - 1) * s->columns
                                 : sums_at(s, row->nodes[first + i],
                                           row->labels[first + i]);

        if (!sum)
            return false;
        if (s->columns == 2) /* CPU profiles: no loop */
            add_values(sum, value, 2);
        else
            add_values(sum, value, s->columns);
    }
    return true;
}

bool sums_add(struct sums *s, const struct row_samples *row)
{
    for (size_t i = 0; i < row->n; i += AT_ONCE) {
        size_t n = row->n - i < AT_ONCE ? row->n - i : AT_ONCE;

        if (!add_batch(s, row, i, n))
            return false;
    }
    return true;
}

/* Of a row that is itself a sum: the cumulative columns' changes stand
 * behind the others. */
static bool add_sum_changes(struct sums *s, const struct row_samples *row,
                            uint64_t cumulative)
{
    for (size_t i = 0; i < row->n; i++) {
        const int64_t *value = row->values + i * row->columns;
        int64_t *sum = sums_at(s, row->nodes[i], row->labels[i]);
        size_t extra = s->columns;

        if (!sum)
            return false;
        for (size_t c = 0; c < s->columns; c++) {
            bool is = c < 64 && cumulative >> c & 1;

            sum[c] = i64_add(sum[c], value[is ? extra++ : c]);
        }
    }
    return true;
}

static bool subtract(struct sums *s, const struct row_samples *before,
                     uint64_t cumulative)
{
    for (size_t i = 0; i < before->n; i++) {
        const int64_t *value = before->values + i * before->columns;
        int64_t *sum = sums_at(s, before->nodes[i], before->labels[i]);

        if (!sum)
            return false;
        for (size_t c = 0; c < s->columns && c < 64; c++)
            if (cumulative >> c & 1)
                sum[c] = i64_sub(sum[c], value[c]);
    }
    return true;
}

bool sums_add_changes(struct sums *s, const struct row_meta *m,
                      const struct row_samples *row,
                      const struct row_samples *before, uint64_t cumulative)
{
    if (!cumulative)
        return sums_add(s, row);
    if (m->flags & ROW_SUM)
        return add_sum_changes(s, row, cumulative);
    if (!(m->flags & ROW_CHANGES)) /* a baseline: it cancels itself */
        before = row;
    else if (m->flags & ROW_RESTART)
        before = NULL;
    return sums_add(s, row) && (!before || subtract(s, before, cumulative));
}

/*
 * Sample labels in the numbers of a dictionary, and the bound on how many
 * values of a key may enter it.
 */
#include <stdlib.h>

#include "store/grow.h"
#include "store/intern.h"
#include "store/pack.h"

void label_guard_release(struct label_guard *g)
{
    table_release(&g->pairs);
    free(g->keys);
    free(g->counts);
    *g = (struct label_guard){0};
}

static bool put_label(struct interner *t, struct buf *record,
                      const struct in_label *label)
{
    wire_add_varint(record, label->kind);
    if (!intern_put_text(t, record, label->key) ||
        (label->kind != LABEL_NUMBER &&
         !intern_put_text(t, record, label->str)))
        return false;
    if (label->kind != LABEL_STRING)
        pack_signed(record, label->num);
    return true;
}

/* The place of a key's counter. */
static bool find_key(struct label_guard *g, uint32_t key, size_t *out)
{
    size_t i = 0;

    while (i < g->n_keys && g->keys[i] != key)
        i++;
    if (i == g->n_keys) {
        if (!grow(&g->keys, &g->keys_cap, i + 1) ||
            !grow(&g->counts, &g->counts_cap, i + 1))
            return false;
        g->keys[i] = key;
        g->counts[i] = 0;
        g->n_keys++;
    }
    *out = i;
    return true;
}

/* More label keys than this are as bad as more values. */
enum { MAX_KEYS = 256 };

/* Sets *kept to whether the label is within the limits. */
static bool guard_label(struct interner *t, const struct in_label *label,
                        bool *kept)
{
    struct label_guard *g = t->guard;
    uint32_t key, pair;
    size_t place;

    buf_clear(&t->record);
    if (!put_label(t, &t->record, label) || !buf_ok(&t->record) ||
        !intern_text(t, label->key, &key))
        return false;
    *kept = table_find(&g->pairs, buf_str(&t->record), &pair);
    if (*kept)
        return true;
    if (!find_key(g, key, &place))
        return false;
    if (g->counts[place] >= g->max_values || place >= MAX_KEYS)
        return true;
    g->counts[place]++;
    *kept = true;
    return table_intern(&g->pairs, buf_str(&t->record), &pair);
}

/* Labels that are new in this combination: each must pass the guard.
 * A text that is dropped may stay in the dictionary until it is sealed. */
static bool intern_new_labels(struct interner *t, const struct in_label *labels,
                              size_t n, uint32_t *out)
{
    struct buf kept = BUF_INIT(STORE_BUF_BYTES);
    bool ok = true, keep;

    for (size_t i = 0; ok && i < n; i++) {
        ok = guard_label(t, &labels[i], &keep);
        if (ok && keep)
            buf_add(&kept, buf_str(&t->record));
        else if (ok)
            t->dropped_labels++;
    }
    ok = ok && buf_ok(&kept) &&
         dict_intern(t->d, DICT_LABELS, buf_str(&kept), out);
    buf_release(&kept);
    return ok;
}

bool intern_labels(struct interner *t, size_t sample, uint32_t *out)
{
    const struct intake *in = t->in;
    size_t start = in->samples.v[sample].label_start;
    size_t n = in->samples.v[sample + 1].label_start - start;

    *out = 0;
    if (n == 0)
        return true;
    buf_clear(&t->record);
    for (size_t i = 0; i < n; i++) {
        const struct in_label *label = &in->labels.v[start + i];
        uint32_t known;

        /* A text that the dictionary lacks cannot be part of a known set,
         * and must not enter before the guard has seen it. */
        if (label->kind != LABEL_NUMBER && !t->strings[label->str] &&
            !table_find(&t->d->tables[DICT_STRING], in->strings.v[label->str],
                        &known))
            return intern_new_labels(t, in->labels.v + start, n, out);
        if (!put_label(t, &t->record, label))
            return false;
    }
    if (!buf_ok(&t->record))
        return false;
    if (table_find(&t->d->tables[DICT_LABELS], buf_str(&t->record), out))
        return true;
    return intern_new_labels(t, in->labels.v + start, n, out);
}

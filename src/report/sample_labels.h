#ifndef REPORT_SAMPLE_LABELS_H
#define REPORT_SAMPLE_LABELS_H

#include "base/buf.h"
#include "base/vec.h"
#include "profile/profile.h"

/*
 * The labels of a sample, key by key, for the formats that print them.
 *
 *     size_t at = 0;
 *     struct label_group g;
 *     while (label_group_next(p, sample, &at, &g))
 *         for (size_t i = 0; i < g.n; i++) use(g.key, &g.labels[i]);
 *
 * String keys come first, then numeric ones, each sorted.
 */
struct label_group {
    string_id key;
    enum label_kind kind;
    const struct label *labels;
    size_t n;
};

bool label_group_next(const struct profile *p, size_t sample, size_t *at,
                      struct label_group *out);

/*
 * Texts that are printed in the order of their bytes, not of their keys:
 * append one to `bytes`, close it with text_list_end(), and in the end take
 * them all out.  Reused from sample to sample.
 */
struct text_list {
    struct arena *arena;
    struct buf bytes;
    VEC(size_t) ends;
};

void text_list_init(struct text_list *list, struct arena *a);
void text_list_end(struct text_list *list);

/* Appends the texts, sorted, with `separator` between; empties the list. */
void text_list_flush(struct text_list *list, struct buf *out,
                     struct str separator);
void text_list_release(struct text_list *list);

#endif

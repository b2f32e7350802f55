#include "report/sample_labels.h"

#include <stdlib.h>

bool label_group_next(const struct profile *p, size_t sample, size_t *at,
                      struct label_group *out)
{
    const struct label *first = p->labels + p->label_start[sample] + *at;
    const struct label *end = p->labels + p->label_start[sample + 1];
    const struct label *next = first;

    if (p->label_start[sample] + *at >= p->label_start[sample + 1])
        return false;
    while (next < end && next->key == first->key &&
           (next->kind == LABEL_STRING) == (first->kind == LABEL_STRING))
        next++;
    *out = (struct label_group){.key = first->key,
                                .kind = first->kind,
                                .labels = first,
                                .n = (size_t)(next - first)};
    *at += out->n;
    return true;
}

void text_list_init(struct text_list *list, struct arena *a)
{
    *list = (struct text_list){.arena = a, .bytes = arena_buf(a)};
}

void text_list_end(struct text_list *list)
{
    *vec_push(list->arena, &list->ends) = list->bytes.len;
}

static int compare_texts(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

void text_list_flush(struct text_list *list, struct buf *out,
                     struct str separator)
{
    struct str few[16], *texts = few;
    size_t n = list->ends.n, start = 0;

    if (n > 16)
        texts = arena_new_array(list->arena, struct str, n);
    for (size_t i = 0; i < n; i++) {
        texts[i] = str_of(list->bytes.data + start, list->ends.v[i] - start);
        start = list->ends.v[i];
    }
    if (n > 1)
        qsort(texts, n, sizeof(*texts), compare_texts);
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            buf_add(out, separator);
        buf_add(out, texts[i]);
    }
    buf_clear(&list->bytes);
    list->ends.n = 0;
}

void text_list_release(struct text_list *list)
{
    buf_release(&list->bytes);
}

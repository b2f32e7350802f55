/*
 * Numbers texts in the order in which they first appear, by a hash map.
 */
#include "page/text_table.h"

#include <assert.h>

void text_table_init(struct text_table *s, struct arena *a)
{
    *s = (struct text_table){.arena = a};
    map_init(&s->index, a, 0);
    text_table_add(s, STR(""));
}

uint32_t text_table_add(struct text_table *s, struct str text)
{
    struct map_cursor c =
        map_find(&s->index, str_hash_seeded(text, s->index.seed));

    while (map_next(&s->index, &c))
        if (str_eq(s->list.v[c.record], text))
            return c.record;
    map_add(&s->index, &c, (uint32_t)s->list.n);
    *vec_push(s->arena, &s->list) = text;
    assert(s->list.n <= UINT32_MAX);
    return (uint32_t)s->list.n - 1;
}

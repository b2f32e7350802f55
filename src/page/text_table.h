#ifndef PAGE_TEXT_TABLE_H
#define PAGE_TEXT_TABLE_H

#include "base/map.h"
#include "base/vec.h"

/*
 * Texts that a reply names by number: each is sent once.  Number 0 is "".
 */
struct text_table {
    struct arena *arena;
    struct map index;
    VEC(struct str) list;
};

void text_table_init(struct text_table *s, struct arena *a);

/* The number of a text; the text must live as long as the arena. */
uint32_t text_table_add(struct text_table *s, struct str text);

#endif

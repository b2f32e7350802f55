/*
 * Samples of the same stack by different threads become one.  Apart from
 * thread_labels.c, which a signal handler calls.
 */
#include "runtime/thread/strip_threads.h"

#include "runtime/thread/thread_labels.h"

bool labels_strip_threads(struct stack_table *table)
{
    const struct stack_record *r;
    struct stack_table plain;
    uint32_t at = 0;

    if (!stack_table_init(&plain, table->n_slots, table->cap * 8))
        return false;
    while ((r = stack_table_next(table, &at)) != NULL) {
        struct label_tag tag = label_tag_unpack(r->tag);
        struct stack_record *to;

        if (tag.tid)
            tag.set = labels_without_thread(tag.set);
        tag.tid = 0;
        to = stack_table_add(&plain, r->pcs, r->n, label_tag_pack(tag));
        for (unsigned i = 0; to && i < STACK_VALUES; i++)
            stack_record_count(to, i, atomic_load(&r->values[i]));
    }
    stack_table_release(table);
    *table = plain;
    return true;
}

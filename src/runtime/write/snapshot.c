/*
 * Snapshots of profiles: making an empty one, and what all kinds share.
 */
#include "runtime/write/snapshot.h"

#include "base/clock.h"

bool snapshot_begin(struct snapshot *s, const char *name, uint32_t slots,
                    size_t bytes, struct error *err)
{
    *s = (struct snapshot){.spec = {.name = name,
                                    .types = {{name, "count"}},
                                    .n_types = 1,
                                    .period_type = {name, "count"},
                                    .period = 1,
                                    .time_ns = clock_realtime_ns(),
                                    .comments = BUF_INIT(4096)}};
    return stack_table_init(&s->table, slots, bytes) ||
           error_set(err, "out of memory");
}

void snapshot_release(struct snapshot *s)
{
    stack_table_release(&s->table);
    threads_release(&s->threads);
    buf_release(&s->spec.comments);
}

bool snapshot_subtract(struct snapshot *after, const struct snapshot *before,
                       struct error *err)
{
    const struct stack_record *r;
    uint32_t at = 0;

    while ((r = stack_table_next(&before->table, &at)) != NULL) {
        struct stack_record *to =
            stack_table_add(&after->table, r->pcs, r->n, r->tag);

        if (!to)
            return error_set(err, "too many different stacks");
        for (unsigned i = 0; i < STACK_VALUES; i++)
            stack_record_count(to, i, -atomic_load(&r->values[i]));
    }
    after->spec.duration_ns = after->spec.time_ns - before->spec.time_ns;
    after->spec.default_type = NULL;
    return true;
}

bool snapshot_label_threads(struct snapshot *s, struct error *err)
{
    if (!s->threads.v.n)
        return true;
    stack_table_clear(&s->table);
    return threads_aggregate(&s->threads, true, &s->table) ||
           error_set(err, "too many different stacks");
}

bool snapshot_write(const struct snapshot *s, struct buf *out,
                    struct error *err)
{
    return profile_write(&s->spec, &s->table, out, err);
}

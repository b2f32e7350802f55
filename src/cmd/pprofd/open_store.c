/*
 * From settings to the options of the embedded store.  Here and nowhere else,
 * so that `serve` and the commands that work on a store without a server use
 * the same limits.
 */
#include "cmd/pprofd/open_store.h"

#include <unistd.h>

/* Sums that no rule keeps are not made. */
static unsigned levels_of(const struct settings *s)
{
    unsigned levels = 0;

    for (size_t i = 0; i < s->n_retention; i++)
        for (int level = STORE_MINUTE; level < STORE_LEVELS; level++)
            if (s->retention[i].max_age_ns[level] > 0)
                levels |= 1u << level;
    return levels;
}

struct store *open_store(const struct settings *s, struct arena *a,
                         struct error *err)
{
    struct store_options o = store_default_options;

    o.dir = arena_cstr(a, s->data);
    o.body_bytes = s->max_body;
    o.inflated_bytes = s->max_inflated;
    o.queue_profiles = s->max_queue;
    o.max_samples = s->max_samples;
    o.max_depth = s->max_stack_depth;
    o.max_label_values = (uint32_t)s->max_label_values;
    o.head_bytes = s->memory;
    o.max_disk_bytes = s->max_disk;
    o.retention = s->retention;
    o.n_retention = s->n_retention;
    o.levels = levels_of(s);
    return sqlite_store_open(&o, err);
}

bool find_store(const struct settings *s, struct arena *a, struct error *err)
{
    const char *head =
        arena_printf(a, "%" STR_FMT "/head.db", STR_ARG(s->data));

    if (access(head, F_OK) == 0)
        return true;
    return error_set(err,
                     "there is no store in %" STR_FMT
                     "; name its directory with --data",
                     STR_ARG(s->data));
}

struct store *open_kept_store(const struct settings *s, struct arena *a,
                              struct error *err)
{
    struct settings kept = *s;

    kept.n_retention = 0;
    kept.max_disk = 0;
    return open_store(&kept, a, err);
}

struct store *open_existing_store(const struct settings *s, struct arena *a,
                                  struct error *err)
{
    return find_store(s, a, err) ? open_kept_store(s, a, err) : NULL;
}

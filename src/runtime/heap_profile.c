#include "runtime/heap_profile.h"

#include <errno.h>

#include "pprof/pprof.h"
#include "runtime/api.h"
#include "runtime/heap.h"
#include "runtime/heap_math.h"
#include "runtime/state.h"

static const struct stack_record *stack_of(const struct stack_record *site)
{
    return (const struct stack_record *)(heap.stacks.arena + site->pcs[0]);
}

/* Those that have ever been met. */
uint64_t heap_count_sites(void)
{
    const struct stack_record *site;
    uint32_t at = 0;
    uint64_t n = 0;

    while (heap.sites.arena &&
           (site = stack_table_next(&heap.sites, &at)) != NULL)
        n += atomic_load(&site->values[SITE_ALLOCS]) != 0;
    return n;
}

static bool begin(struct snapshot *s, const char *name, struct error *err)
{
    const struct stack_record *site;
    size_t bytes = 1u << 20; /* for those that come meanwhile */
    uint32_t at = 0, slots = 4096;

    while (heap.sites.arena &&
           (site = stack_table_next(&heap.sites, &at)) != NULL)
        bytes += sizeof(*site) + stack_of(site)->n * sizeof(uint64_t);
    while (slots / 2 < atomic_load(&heap.sites.n))
        slots *= 2;
    if (!snapshot_begin(s, name, slots, bytes, err))
        return false;
    s->spec.n_types = 4;
    s->spec.types[HEAP_ALLOC_OBJECTS] =
        (struct profile_type){"alloc_objects", "count"};
    s->spec.types[HEAP_ALLOC_SPACE] =
        (struct profile_type){"alloc_space", "bytes"};
    s->spec.types[HEAP_INUSE_OBJECTS] =
        (struct profile_type){"inuse_objects", "count"};
    s->spec.types[HEAP_INUSE_SPACE] =
        (struct profile_type){"inuse_space", "bytes"};
    s->spec.period_type = (struct profile_type){"space", "bytes"};
    s->spec.period = (int64_t)heap_rate();
    s->spec.tag_label = "bytes";
    return true;
}

/* n blocks of a site stand for so many. */
static void count(struct stack_record *r, unsigned objects, int64_t n,
                  double probability)
{
    double blocks = (double)n / probability;

    stack_record_count(r, objects, (int64_t)blocks);
    stack_record_count(r, objects + 1, (int64_t)(blocks * (double)r->tag));
}

static bool copy_site(struct stack_table *out, const struct stack_record *site)
{
    const struct stack_record *stack = stack_of(site);
    uint64_t size = heap_tag_size(site->tag);
    uint64_t rate = atomic_load(&heap.rates[heap_tag_rate(site->tag)]);
    /* In this order: no more frees than allocations. */
    int64_t frees = atomic_load(&site->values[SITE_FREES]);
    int64_t allocs = atomic_load(&site->values[SITE_ALLOCS]);
    struct stack_record *r = stack_table_add(out, stack->pcs, stack->n, size);
    double p = heap_probability(size, rate);

    if (!r)
        return false;
    count(r, HEAP_ALLOC_OBJECTS, allocs, p);
    count(r, HEAP_INUSE_OBJECTS, allocs - frees, p);
    return true;
}

static void add_comments(struct buf *c)
{
    unsigned long long no_room = atomic_load(&heap.no_room);
    unsigned long long lost = atomic_load(&heap.lost);
    const char *off = heap_switched_off();

    if (off)
        buf_addf(c, "heap profile is off: %s\n", off);
    buf_addf(c, "heap samples: %llu, one every %llu bytes in the mean\n",
             (unsigned long long)atomic_load(&heap.samples),
             (unsigned long long)heap_rate());
    buf_addf(c,
             "stacks: %llu complete, %llu truncated, %llu without unwind "
             "data, %llu broken\n",
             (unsigned long long)heap.ends[UNWIND_COMPLETE],
             (unsigned long long)heap.ends[UNWIND_TRUNCATED],
             (unsigned long long)heap.ends[UNWIND_NO_DATA],
             (unsigned long long)heap.ends[UNWIND_BAD_FRAME]);
    if (no_room)
        buf_addf(c, "samples without room for their stack: %llu\n", no_room);
    if (lost)
        buf_addf(c, "samples lost: %llu\n", lost);
}

bool heap_take(struct snapshot *s, bool details, struct error *err)
{
    const struct stack_record *site;
    uint32_t at = 0;

    (void)details;
    if (!runtime_ready(err) || !begin(s, "heap", err))
        return false;
    while (heap.sites.arena &&
           (site = stack_table_next(&heap.sites, &at)) != NULL)
        if (!copy_site(&s->table, site))
            return error_set(err, "too many different stacks");
    add_comments(&s->spec.comments);
    return true;
}

bool heap_take_allocs(struct snapshot *s, bool details, struct error *err)
{
    if (!heap_take(s, details, err))
        return false;
    s->spec.name = "allocs";
    s->spec.default_type = "alloc_space";
    return true;
}

int pprof_set_mem_profile_rate(long long bytes)
{
    struct error err = {""};

    if (heap_set_rate(bytes > 0 ? (uint64_t)bytes : 0, &err))
        return 0;
    return api_fail(atomic_load(&heap.has_hooks) ? ENOMEM : ENOTSUP, &err);
}

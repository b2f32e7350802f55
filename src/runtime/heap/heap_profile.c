/*
 * From the sampler's counts to a snapshot.  A site is counted by stack, labels,
 * size and rate; the snapshot adds up sites that differ in the rate only, each
 * scaled by its own probability.
 */
#include "runtime/heap/heap_profile.h"

#include <assert.h>
#include <errno.h>

#include "pprof/pprof.h"
#include "runtime/heap/heap.h"
#include "runtime/heap/heap_math.h"
#include "runtime/state.h"
#include "runtime/thread/thread_labels.h"

static const struct stack_record *stack_of(const struct stack_record *site)
{
    return (const struct stack_record *)(heap.stacks.arena +
                                         site->pcs[SITE_STACK]);
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

static const struct profile_type types[] = {
    [HEAP_ALLOC_OBJECTS] = {"alloc_objects", "count"},
    [HEAP_ALLOC_SPACE] = {"alloc_space", "bytes"},
    [HEAP_INUSE_OBJECTS] = {"inuse_objects", "count"},
    [HEAP_INUSE_SPACE] = {"inuse_space", "bytes"},
    [HEAP_PEAK_OBJECTS] = {"peak_objects", "count"},
    [HEAP_PEAK_SPACE] = {"peak_space", "bytes"},
};

/* Which of the values above a profile has: those from `first` on. */
struct columns {
    unsigned first, n;
};

static bool begin(struct snapshot *s, const char *name, struct columns c,
                  struct error *err)
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
    assert(c.n % 2 == 0 && c.n <= STACK_VALUES);
    s->spec.n_types = c.n;
    for (unsigned i = 0; i < c.n; i++)
        s->spec.types[i] = types[c.first + i];
    s->spec.period_type = (struct profile_type){"space", "bytes"};
    s->spec.period = (int64_t)heap_rate();
    s->spec.size_label = "bytes";
    return true;
}

/* Sampled blocks of a site, in the order of the profile's pairs. */
static void blocks_of(const struct stack_record *site, int64_t out[3])
{
    /* In this order: no more frees than allocations. */
    int64_t frees = atomic_load(&site->values[SITE_FREES]);

    out[HEAP_ALLOC_OBJECTS / 2] = atomic_load(&site->values[SITE_ALLOCS]);
    out[HEAP_INUSE_OBJECTS / 2] = out[0] - frees;
    out[HEAP_PEAK_OBJECTS / 2] = atomic_load(&site->values[SITE_PEAK]);
}

static bool copy_site(struct stack_table *out, const struct stack_record *site,
                      struct columns c)
{
    const struct stack_record *stack = stack_of(site);
    uint64_t size = heap_tag_size(site->tag);
    uint64_t rate = atomic_load(&heap.rates[heap_tag_rate(site->tag)]);
    double p = heap_probability(size, rate);
    struct stack_record *r;
    int64_t blocks[3];

    blocks_of(site, blocks);
    if (blocks[0] == 0)
        return true; /* room that was reserved and not needed */
    r = stack_table_add(out, stack->pcs, stack->n,
                        size_tag_pack(size, (uint32_t)site->pcs[SITE_LABELS]));
    if (!r)
        return false;
    for (unsigned i = 0; i < c.n; i += 2) {
        double n = (double)blocks[(c.first + i) / 2] / p;

        stack_record_count(r, i, (int64_t)n);
        stack_record_count(r, i + 1, (int64_t)(n * (double)size));
    }
    return true;
}

static void add_comments(struct buf *c)
{
    unsigned long long no_room = atomic_load(&heap.no_room);
    unsigned long long unlabelled = atomic_load(&heap.unlabelled);
    unsigned long long lost = atomic_load(&heap.lost);
    const char *off = heap_switched_off();

    if (off)
        buf_addf(c, "heap profile is off: %s\n", off);
    buf_addf(c, "heap samples: %llu, on average one per %llu bytes\n",
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
    if (unlabelled)
        buf_addf(c, "samples without room for their labels: %llu\n",
                 unlabelled);
    if (lost)
        buf_addf(c, "samples lost: %llu\n", lost);
}

static bool take(struct snapshot *s, const char *name, struct columns c,
                 struct error *err)
{
    const struct stack_record *site;
    uint32_t at = 0;

    if (!runtime_ready(err) || !begin(s, name, c, err))
        return false;
    while (heap.sites.arena &&
           (site = stack_table_next(&heap.sites, &at)) != NULL)
        if (!copy_site(&s->table, site, c))
            return error_set(err, "too many different stacks");
    add_comments(&s->spec.comments);
    return true;
}

bool heap_take(struct snapshot *s, bool details, struct error *err)
{
    (void)details;
    return take(s, "heap", (struct columns){HEAP_ALLOC_OBJECTS, 4}, err);
}

bool heap_take_allocs(struct snapshot *s, bool details, struct error *err)
{
    if (!heap_take(s, details, err))
        return false;
    s->spec.name = "allocs";
    s->spec.default_type = "alloc_space";
    return true;
}

bool heap_take_peak(struct snapshot *s, bool details, struct error *err)
{
    (void)details;
    if (heap.sites.arena)
        heap_peak_settle(&heap.peak);
    if (!take(s, "peak", (struct columns){HEAP_PEAK_OBJECTS, 2}, err))
        return false;
    if (atomic_load(&heap.peak.time_ns))
        s->spec.time_ns = atomic_load(&heap.peak.time_ns);
    return true;
}

bool heap_take_run(struct snapshot *s, struct error *err)
{
    if (heap.sites.arena)
        heap_peak_settle(&heap.peak);
    if (!take(s, "heap", (struct columns){HEAP_ALLOC_OBJECTS, 6}, err))
        return false;
    s->spec.default_type = "peak_space";
    return true;
}

/*
 * The heap profile as text.  Sampled numbers as they are: readers scale them
 * by the rate in the head, which they halve, for historical reasons.  All
 * lines that start with # are for people.
 */
#include <stdlib.h>
#include <sys/resource.h>

#include "base/file.h"
#include "base/pages.h"
#include "runtime/heap/heap_math.h"
#include "runtime/heap/heap_profile.h"
#include "runtime/state.h"
#include "runtime/thread/thread_labels.h"
#include "runtime/write/stack_text.h"

struct entry {
    const struct stack_record *record;
    int64_t values[4]; /* before scaling, in the order of the profile */
};

/* How many blocks were sampled, from the bytes that they stand for: those
 * are rounded by less than a byte. */
static int64_t unscale(const struct stack_record *r, unsigned objects,
                       uint64_t rate)
{
    uint64_t size = size_tag_size(r->tag);
    double p = heap_probability(size, rate);
    int64_t space = atomic_load(&r->values[objects + 1]);

    if (size == 0)
        return atomic_load(&r->values[objects]);
    return (int64_t)((double)space * p / (double)size + 0.5);
}

static void fill(struct entry *e, const struct stack_record *r, uint64_t rate)
{
    e->record = r;
    for (unsigned i = 0; i < 4; i += 2) {
        e->values[i] = unscale(r, i, rate);
        e->values[i + 1] = e->values[i] * (int64_t)size_tag_size(r->tag);
    }
}

static int by_inuse(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->values[HEAP_INUSE_SPACE] != y->values[HEAP_INUSE_SPACE])
        return x->values[HEAP_INUSE_SPACE] > y->values[HEAP_INUSE_SPACE] ? -1
                                                                         : 1;
    if (x->values[HEAP_ALLOC_SPACE] != y->values[HEAP_ALLOC_SPACE])
        return x->values[HEAP_ALLOC_SPACE] > y->values[HEAP_ALLOC_SPACE] ? -1
                                                                         : 1;
    return (x->record->hash > y->record->hash) -
           (x->record->hash < y->record->hash);
}

/* "4: 4096 [9: 9216]": in use, then allocated. */
static void add_values(struct buf *out, const int64_t v[4])
{
    buf_addf(out, "%lld: %lld [%lld: %lld]", (long long)v[HEAP_INUSE_OBJECTS],
             (long long)v[HEAP_INUSE_SPACE], (long long)v[HEAP_ALLOC_OBJECTS],
             (long long)v[HEAP_ALLOC_SPACE]);
}

static void add_tail(struct buf *out, const struct snapshot *s)
{
    struct buf maps = BUF_INIT(4u << 20);
    struct str rest = buf_str(&s->spec.comments), line;
    struct rusage usage;
    struct error err;

    buf_add_char(out, '\n');
    while (str_next_line(&rest, &line))
        buf_addf(out, "# %" STR_FMT "\n", STR_ARG(line));
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        buf_addf(out, "# MaxRSS = %lld\n", (long long)usage.ru_maxrss * 1024);
    if (file_read("/proc/self/maps", &maps, &err)) {
        buf_add(out, STR("\nMAPPED_LIBRARIES:\n"));
        buf_add(out, buf_str(&maps));
    }
    buf_release(&maps);
}

static bool collect(const struct snapshot *s, struct pages_vec *v)
{
    const struct stack_record *r;
    uint32_t at = 0;

    while ((r = stack_table_next(&s->table, &at)) != NULL) {
        struct entry *e = pages_vec_push(v, 1);

        if (!e)
            return false;
        fill(e, r, (uint64_t)s->spec.period);
    }
    if (v->n)
        qsort(v->p, v->n, sizeof(struct entry), by_inuse);
    return true;
}

bool heap_write_text(const struct snapshot *s, struct buf *out,
                     struct error *err)
{
    struct pages_vec v = {.size = sizeof(struct entry)};
    const struct entry *e;
    int64_t total[4] = {0};
    struct names names;

    if (!collect(s, &v)) {
        pages_vec_release(&v);
        return error_set(err, "out of memory");
    }
    e = v.p;
    for (size_t i = 0; i < v.n; i++)
        for (unsigned k = 0; k < 4; k++)
            total[k] += e[i].values[k];
    /* Were both pairs alike, readers would take it for a profile with but
     * one of them. */
    if (total[HEAP_ALLOC_SPACE] == total[HEAP_INUSE_SPACE])
        total[HEAP_ALLOC_SPACE]++;
    buf_add(out, STR("heap profile: "));
    add_values(out, total);
    buf_addf(out, " @ heap/%lld\n", 2 * (long long)s->spec.period);
    runtime_lock();
    modules_refresh(&runtime.modules);
    names_init(&names, &runtime.modules);
    for (size_t i = 0; i < v.n; i++) {
        add_values(out, e[i].values);
        text_add_stack(out, &names, e[i].record,
                       size_tag_set(e[i].record->tag));
    }
    names_release(&names);
    runtime_unlock();
    pages_vec_release(&v);
    add_tail(out, s);
    return buf_ok(out) || error_set(err, "the profile is too big");
}

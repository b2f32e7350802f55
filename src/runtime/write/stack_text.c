/*
 * The text of debug=1.  Its shape is Go's, because people's scripts and
 * pprof's own legacy reader know it; the module stands in the place of file
 * and line.
 */
#include "runtime/write/stack_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/goformat.h"
#include "base/pages.h"
#include "runtime/own_code.h"
#include "runtime/state.h"
#include "runtime/thread/thread_labels.h"
#include "runtime/write/writer.h"

/* "#  0x55…  name+0x1c  /usr/bin/x" */
static void add_frame(struct buf *out, struct names *names, uint64_t pc)
{
    const char *pseudo = names_pseudo(pc);
    struct name name;

    if (pseudo) {
        buf_addf(out, "#\t0x0\t%s\n", pseudo);
        return;
    }
    buf_addf(out, "#\t0x%llx", (unsigned long long)pc);
    if (names_find(names, pc, &name)) {
        buf_add_char(out, '\t');
        names_pretty(names, name.mangled, out);
        buf_addf(out, "+0x%llx", (unsigned long long)(pc - name.start));
    }
    if (name.module)
        buf_addf(out, "\t%s", name.module->path);
    buf_add_char(out, '\n');
}

static int by_count(const void *a, const void *b)
{
    const struct stack_record *const *x = a, *const *y = b;
    int64_t m = atomic_load(&(*x)->values[0]),
            n = atomic_load(&(*y)->values[0]);
    uint32_t shorter = (*x)->n < (*y)->n ? (*x)->n : (*y)->n;

    if (m != n)
        return m > n ? -1 : 1;
    for (uint32_t i = 0; i < shorter; i++)
        if ((*x)->pcs[i] != (*y)->pcs[i])
            return (*x)->pcs[i] < (*y)->pcs[i] ? -1 : 1;
    return ((*x)->n > (*y)->n) - ((*x)->n < (*y)->n);
}

/* "# labels: {"k":"v", …}", as Go writes them. */
static void add_labels(struct buf *out, uint32_t set)
{
    struct label labels[LABELS_MAX];
    size_t n = labels_list(set, labels);

    if (!n)
        return;
    buf_add(out, STR("# labels: {"));
    for (size_t i = 0; i < n; i++) {
        buf_add(out, i ? STR(", ") : STR(""));
        goformat_quote(out, labels[i].key);
        buf_add_char(out, ':');
        goformat_quote(out, labels[i].value);
    }
    buf_add(out, STR("}\n"));
}

void text_add_stack(struct buf *out, struct names *names,
                    const struct stack_record *r, uint32_t set)
{
    buf_add(out, STR(" @"));
    /* Return addresses: readers subtract one. */
    for (uint32_t i = 0; i < r->n; i++)
        if (!own_code_hides(r->pcs, r->n, i))
            buf_addf(out, " 0x%llx",
                     (unsigned long long)(names_pseudo(r->pcs[i])
                                              ? 1
                                              : r->pcs[i] + 1));
    buf_add_char(out, '\n');
    add_labels(out, set);
    for (uint32_t i = 0; i < r->n; i++)
        if (!own_code_hides(r->pcs, r->n, i))
            add_frame(out, names, r->pcs[i]);
    buf_add_char(out, '\n');
}

static uint32_t labels_of(const struct profile_spec *spec, uint64_t tag)
{
    if (spec->size_label)
        return size_tag_set(tag);
    return spec->has_label_tags ? label_tag_unpack(tag).set : 0;
}

bool profile_write_text(const struct profile_spec *spec,
                        const struct stack_table *table, struct buf *out,
                        struct error *err)
{
    struct pages_vec v = {.size = sizeof(const struct stack_record *)};
    const struct stack_record *r, **all;
    struct names names;
    int64_t total = 0;
    uint32_t at = 0;
    bool ok = true;

    while (ok && (r = stack_table_next(table, &at)) != NULL) {
        const struct stack_record **to;

        if (atomic_load(&r->values[0]) == 0)
            continue;
        to = pages_vec_push(&v, 1);
        ok = to != NULL;
        if (to)
            *to = r;
        total += atomic_load(&r->values[0]);
    }
    all = v.p;
    if (v.n)
        qsort(all, v.n, sizeof(*all), by_count);
    runtime_lock();
    names_init(&names, &runtime.modules);
    buf_addf(out, "%s profile: total %lld\n", spec->name, (long long)total);
    for (size_t i = 0; i < v.n; i++) {
        buf_addf(out, "%lld", (long long)atomic_load(&all[i]->values[0]));
        text_add_stack(out, &names, all[i], labels_of(spec, all[i]->tag));
    }
    names_release(&names);
    runtime_unlock();
    pages_vec_release(&v);
    if (!ok)
        return error_set(err, "out of memory");
    return buf_ok(out) || error_set(err, "the profile is too big");
}

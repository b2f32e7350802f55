/*
 * The texts of debug=1 and debug=2.  Their shape is Go's, because people's
 * scripts and pprof's own legacy reader know it; file and line are not known
 * here, the module stands in their place.
 */
#include "runtime/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/goformat.h"
#include "base/pages.h"
#include "runtime/labels.h"
#include "runtime/state.h"
#include "runtime/threads.h"
#include "runtime/writer.h"

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
static void add_labels(struct buf *out, struct label_tag tag)
{
    struct label labels[LABELS_MAX];
    size_t n = labels_list(tag.set, labels);

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

static void add_stack(struct buf *out, struct names *names,
                      const struct stack_record *r, bool has_label_tags)
{
    buf_add(out, STR(" @"));
    /* Return addresses: readers subtract one. */
    for (uint32_t i = 0; i < r->n; i++)
        buf_addf(
            out, " 0x%llx",
            (unsigned long long)(names_pseudo(r->pcs[i]) ? 1 : r->pcs[i] + 1));
    buf_add_char(out, '\n');
    if (has_label_tags)
        add_labels(out, label_tag_unpack(r->tag));
    for (uint32_t i = 0; i < r->n; i++)
        add_frame(out, names, r->pcs[i]);
    buf_add_char(out, '\n');
}

void text_add_stack(struct buf *out, struct names *names,
                    const struct stack_record *r)
{
    add_stack(out, names, r, false);
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
        add_stack(out, &names, all[i], spec->has_label_tags);
    }
    names_release(&names);
    runtime_unlock();
    pages_vec_release(&v);
    if (!ok)
        return error_set(err, "out of memory");
    return buf_ok(out) || error_set(err, "the profile is too big");
}

static const char *state_word(char state)
{
    switch (state) {
    case 'R':
        return "running";
    case 'S':
        return "sleeping";
    case 'D':
        return "disk sleep";
    case 'T':
    case 't':
        return "stopped";
    case 'Z':
    case 'X':
        return "dead";
    case 'I':
        return "idle";
    default:
        return "unknown";
    }
}

static void add_thread(struct buf *out, struct names *names,
                       const struct threads *t, const struct thread_info *info)
{
    const uint64_t *pcs = (const uint64_t *)t->frames.p + info->first;
    struct label labels[LABELS_MAX];
    struct name name;
    size_t n;

    buf_addf(out, "thread %d [%s", info->tid, state_word(info->state));
    if (info->wchan[0])
        buf_addf(out, ", %s", info->wchan);
    buf_addf(out, "] {name: %s", info->name);
    n = labels_list(info->labels, labels);
    for (size_t i = 0; i < n; i++)
        buf_addf(out, ", %" STR_FMT ": %" STR_FMT, STR_ARG(labels[i].key),
                 STR_ARG(labels[i].value));
    buf_add(out, STR("}:\n"));
    if (!info->has_stack)
        buf_addf(out, "[no stack: the thread did not answer]\n");
    for (uint32_t i = 0; i < info->n; i++) {
        bool known = names_find(names, pcs[i], &name);

        if (known)
            names_pretty(names, name.mangled, out);
        else
            buf_addf(out, "0x%llx", (unsigned long long)pcs[i]);
        buf_addf(
            out, "(...)\n\t%s +0x%llx\n",
            name.module ? name.module->path : "[unknown]",
            (unsigned long long)(name.module ? pcs[i] - name.module->bias : 0));
    }
    if (info->has_stack && info->end == UNWIND_TRUNCATED)
        buf_addf(out, "[truncated]\n");
}

bool threads_write_text(const struct threads *t, struct buf *out,
                        struct error *err)
{
    const struct thread_info *v = t->v.p;
    struct names names;
    bool first = true;

    runtime_lock();
    names_init(&names, &runtime.modules);
    /* Who asked comes first, as in Go. */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < t->v.n; i++) {
            if (v[i].is_caller != (pass == 0))
                continue;
            if (!first)
                buf_add_char(out, '\n');
            first = false;
            add_thread(out, &names, t, &v[i]);
        }
    }
    names_release(&names);
    runtime_unlock();
    return buf_ok(out) || error_set(err, "the dump is too big");
}

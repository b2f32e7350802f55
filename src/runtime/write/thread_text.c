/*
 * The text of debug=2: a paragraph for each thread, in the shape of Go's
 * goroutine dumps.  Under each function stands its file and line if debug
 * information is found (line_lookup.h), otherwise the module and the address
 * in it.
 */
#include <stdio.h>

#include "runtime/own_code.h"
#include "runtime/state.h"
#include "runtime/thread/thread_labels.h"
#include "runtime/thread/threads.h"
#include "runtime/write/addresses.h"
#include "runtime/write/function_names.h"
#include "runtime/write/line_lookup.h"

struct thread_text {
    const struct threads *t;
    struct buf *out;
    struct names names;
    struct line_lookup *lookup; /* NULL: none */
    const struct lines *lines;  /* its lines, or NULL */
    struct pages_vec addresses; /* of uint64_t, see addresses.h */
};

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

static void add_head(struct buf *out, const struct thread_info *info)
{
    struct label labels[LABELS_MAX];
    size_t n = labels_list(info->labels, labels);

    buf_addf(out, "thread %d [%s", info->tid, state_word(info->state));
    if (info->wchan[0])
        buf_addf(out, ", %s", info->wchan);
    buf_addf(out, "] {name: %s", info->name);
    for (size_t i = 0; i < n; i++)
        buf_addf(out, ", %" STR_FMT ": %" STR_FMT, STR_ARG(labels[i].key),
                 STR_ARG(labels[i].value));
    buf_add(out, STR("}:\n"));
    if (!info->has_stack)
        buf_addf(out, "[no stack: %s]\n",
                 info->state == 'R' ? "the thread runs and did not answer"
                                    : "the kernel does not show it");
}

/* The functions at an address, innermost first; the outermost has its name
 * from the symbol table if it is there.  False: not known. */
static bool add_lines(struct thread_text *d, uint64_t pc,
                      const struct name *outermost)
{
    struct line_place place =
        lines_at(d->lines, addresses_index(&d->addresses, pc));
    const struct line_frame *f = lines_frames(d->lines, place);

    for (size_t i = 0; i < place.n; i++) {
        const struct line_function *function =
            lines_function(d->lines, f[i].function);

        names_pretty(&d->names,
                     i + 1 == place.n && outermost
                         ? outermost->mangled
                         : lines_text(d->lines, function->name),
                     d->out);
        buf_addf(d->out, "(...)\n\t%" STR_FMT ":%lld\n",
                 STR_ARG(lines_text(d->lines, function->file)),
                 (long long)f[i].line);
    }
    return place.n > 0;
}

static void add_frame(struct thread_text *d, uint64_t pc)
{
    struct name name;
    bool known = names_find(&d->names, pc, &name);

    if (add_lines(d, pc, known ? &name : NULL))
        return;
    if (known)
        names_pretty(&d->names, name.mangled, d->out);
    else
        buf_addf(d->out, "0x%llx", (unsigned long long)pc);
    buf_addf(d->out, "(...)\n\t%s +0x%llx\n",
             name.module ? name.module->path : "[unknown]",
             (unsigned long long)(name.module ? pc - name.module->bias : 0));
}

static void add_thread(struct thread_text *d, const struct thread_info *info)
{
    const uint64_t *pcs = (const uint64_t *)d->t->frames.p + info->first;

    add_head(d->out, info);
    for (uint32_t i = 0; i < info->n; i++)
        if (!own_code_hides(pcs, info->n, i))
            add_frame(d, pcs[i]);
    if (info->has_stack && info->end == UNWIND_TRUNCATED)
        buf_addf(d->out, "[truncated]\n");
}

/* Who asked comes first, as in Go. */
static void add_threads(struct thread_text *d)
{
    const struct thread_info *v = d->t->v.p;
    bool first = true;

    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < d->t->v.n; i++) {
            if (v[i].is_caller != (pass == 0))
                continue;
            if (!first)
                buf_add_char(d->out, '\n');
            first = false;
            add_thread(d, &v[i]);
        }
    }
}

/* Out of memory: a text without lines.  With the lock, which is given up
 * while files are read. */
static void find_lines(struct thread_text *d)
{
    const uint64_t *frames = d->t->frames.p;
    uint64_t *to = pages_vec_push(&d->addresses, d->t->frames.n);

    d->lookup = to ? line_lookup_new() : NULL;
    if (!d->lookup)
        return;
    for (size_t i = 0; i < d->t->frames.n; i++)
        to[i] = frames[i];
    addresses_sort(&d->addresses);
    if (!line_lookup_plan(d->lookup, &runtime.modules, d->addresses.p,
                          d->addresses.n))
        return;
    runtime_unlock();
    if (!line_lookup_run(d->lookup))
        d->lookup = NULL;
    d->lines = d->lookup ? &d->lookup->lines : NULL;
    runtime_lock();
}

bool threads_write_text(const struct threads *t, struct buf *out,
                        struct error *err)
{
    struct thread_text d = {
        .t = t, .out = out, .addresses = {.size = sizeof(uint64_t)}};
    bool with_lines = t->frames.n > 0 && lines_wanted();

    runtime_lock();
    modules_refresh(&runtime.modules);
    if (with_lines)
        find_lines(&d);
    names_init(&d.names, &runtime.modules);
    add_threads(&d);
    names_release(&d.names);
    runtime_unlock();
    line_lookup_free(d.lookup);
    pages_vec_release(&d.addresses);
    return buf_ok(out) || error_set(err, "the dump is too big");
}

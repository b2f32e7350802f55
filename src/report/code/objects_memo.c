#include "report/code/objects_memo.h"

#include <string.h>

#include "base/clock.h"

static bool has_time(const struct objects_memo *m, struct error *err)
{
    return clock_monotonic_ns() < m->end_ns ||
           error_set(err, "the time limit for reading binaries is exceeded");
}

/* ---- binaries ---- */

static bool same_mapping(struct object_mapping a, struct object_mapping b)
{
    return a.start == b.start && a.limit == b.limit && a.offset == b.offset &&
           str_eq(a.kernel_symbol, b.kernel_symbol);
}

static struct object *open_once(void *arg, const char *path,
                                struct object_mapping mapping,
                                struct error *err)
{
    struct objects_memo *m = arg;
    struct object *o;

    for (size_t i = 0; i < m->opened.n; i++)
        if (same_mapping(m->opened.v[i].mapping, mapping) &&
            strcmp(m->opened.v[i].path, path) == 0)
            return m->opened.v[i].object;
    o = has_time(m, err) ? m->from->open(m->from->arg, path, mapping, err)
                         : NULL;
    if (!o)
        return NULL;
    mapping.kernel_symbol = arena_str(m->arena, mapping.kernel_symbol);
    *vec_push(m->arena, &m->opened) =
        (struct memo_opened){arena_cstr(m->arena, str_from(path)), mapping, o};
    return o;
}

/* The next report wants it, too. */
static void close_later(void *arg, struct object *o)
{
    (void)arg, (void)o;
}

/* ---- code ---- */

static bool disassemble_once(void *arg, struct object *o, struct arena *a,
                             uint64_t start, uint64_t end, bool intel_syntax,
                             struct instructions *out, struct error *err)
{
    struct objects_memo *m = arg;
    struct memo_code made = {o, start, end, intel_syntax, {{0}}};

    (void)a; /* the report's own, which ends before us */
    for (size_t i = 0; i < m->code.n; i++) {
        const struct memo_code *c = &m->code.v[i];

        if (c->object == o && c->start == start && c->end == end &&
            c->intel_syntax == intel_syntax) {
            *out = c->instructions;
            return true;
        }
    }
    if (!has_time(m, err) ||
        !m->from->disassemble(m->from->arg, o, m->arena, start, end,
                              intel_syntax, &made.instructions, err))
        return false;
    *vec_push(m->arena, &m->code) = made;
    *out = made.instructions;
    return true;
}

/* ---- the rest is asked for each time ---- */

static bool file_address(void *arg, struct object *o, uint64_t address,
                         uint64_t *out, struct error *err)
{
    const struct objects *from = ((struct objects_memo *)arg)->from;

    return from->file_address(from->arg, o, address, out, err);
}

static bool symbols(void *arg, struct object *o, struct arena *a,
                    struct symbol_groups *out, struct error *err)
{
    const struct objects *from = ((struct objects_memo *)arg)->from;

    return from->symbols(from->arg, o, a, out, err);
}

static bool resolve(void *arg, struct object *o, const uint64_t *addresses,
                    size_t n, symbol_found *found, void *found_arg,
                    struct error *err)
{
    const struct objects *from = ((struct objects_memo *)arg)->from;

    return from->resolve(from->arg, o, addresses, n, found, found_arg, err);
}

void objects_memo_init(struct objects_memo *m, const struct objects *from,
                       struct arena *a)
{
    *m = (struct objects_memo){
        .objects = {.arg = m,
                    .open = open_once,
                    .close = close_later,
                    .file_address = file_address,
                    .symbols = symbols,
                    .disassemble = disassemble_once,
                    .resolve = resolve},
        .from = from,
        .arena = a,
    };
}

void objects_memo_allow(struct objects_memo *m, int64_t ns)
{
    m->end_ns = clock_monotonic_ns() + ns;
}

void objects_memo_release(struct objects_memo *m)
{
    for (size_t i = 0; i < m->opened.n; i++)
        m->from->close(m->from->arg, m->opened.v[i].object);
    m->opened.n = 0;
}

/*
 * For each symbol that matches and has samples, the instructions that objdump
 * prints are walked in step with the addresses of the graph's nodes.  A sample
 * between two instructions counts for the one before it.
 */
#include "report/code/annotated_instructions.h"

#include <stdlib.h>

#include "base/i64.h"
#include "base/path.h"
#include "report/code/code.h"
#include "report/graph/graph.h"
#include "symbol/demangle.h"

/* A symbol that was chosen, and the nodes in it. */
struct routine {
    struct object *object;
    struct str *names;
    size_t n_names;
    uint64_t start, end;
    VEC(uint32_t) nodes;
    int64_t flat, cum; /* of the nodes */
};

struct maker {
    struct report *report;
    const struct objects *objects;
    struct graph graph;
    bool by_address;
    uint64_t address;
    VEC(struct routine) routines;
    VEC(struct object *) opened;
};

/* --- which symbols ------------------------------------------------------ */

/* The form of the name that matches, from `a`; "" if none does. */
static struct str matching_name(struct report *r, struct str name)
{
    static const enum demangle_mode modes[] = {
        DEMANGLE_FULL, DEMANGLE_TEMPLATES, DEMANGLE_SIMPLE};
    struct buf readable = arena_buf(r->arena);
    struct str found = STR("");

    /* A copy: the binary is closed before the names are printed. */
    if (!r->argument || regex_matches(r->argument, name))
        return arena_str(r->arena, name);
    for (size_t i = 0; i < 3 && found.n == 0; i++) {
        buf_clear(&readable);
        if (demangle_name(name, modes[i], &readable) &&
            regex_matches(r->argument, buf_str(&readable)))
            found = buf_str(&readable);
    }
    return found;
}

static bool choose(struct maker *p, const struct symbol_group *g,
                   struct routine *out)
{
    struct arena *a = p->report->arena;

    out->names = arena_new_array(a, struct str, g->n_names);
    if (p->by_address && p->address != 0 && p->address >= g->start &&
        p->address <= g->end) {
        for (; out->n_names < g->n_names; out->n_names++)
            out->names[out->n_names] = arena_str(a, g->names[out->n_names]);
        return true;
    }
    for (size_t i = 0; i < g->n_names; i++) {
        out->names[0] = matching_name(p->report, g->names[i]);
        if (out->names[0].n) {
            out->n_names = 1;
            return true;
        }
    }
    return false;
}

static bool mapping_is_wanted(const struct maker *p, const bool *has_match,
                              const struct mapping *m)
{
    return has_match[m->file] ||
           (p->by_address && m->start <= p->address && p->address <= m->limit);
}

/* Files in which a node matches, by the string id of their name. */
static bool *matched_files(struct maker *p)
{
    struct report *r = p->report;
    bool *matched = arena_new_array(r->arena, bool, r->profile->strings.n);
    struct graph *g = &p->graph;

    for (size_t i = 0; i < g->n_shown; i++) {
        uint32_t info = g->nodes.v[g->shown[i]].info;
        string_id object = g->table.infos.v[info].object;

        if (object && !matched[object] &&
            (!r->argument ||
             regex_matches(r->argument, graph_name(g, g->shown[i]))))
            matched[object] = true;
    }
    return matched;
}

static void add_symbols(struct maker *p, struct object *o)
{
    struct report *r = p->report;
    struct symbol_groups groups = {0};
    struct error ignored;

    if (!p->objects->symbols(p->objects->arg, o, r->arena, &groups, &ignored))
        return;
    for (size_t i = 0; i < groups.list.n; i++) {
        struct routine routine = {.object = o,
                                  .start = groups.list.v[i].start,
                                  .end = groups.list.v[i].end};

        if (choose(p, &groups.list.v[i], &routine))
            *vec_push(r->arena, &p->routines) = routine;
    }
}

static void find_symbols(struct maker *p)
{
    struct report *r = p->report;
    const struct profile *pr = r->profile;
    bool *matched = matched_files(p);

    for (size_t i = 0; i < pr->mappings.n && p->objects; i++) {
        const struct mapping *m = &pr->mappings.v[i];
        struct object *o;
        struct error err;

        if (!mapping_is_wanted(p, matched, m))
            continue;
        o = p->objects->open(
            p->objects->arg, arena_cstr(r->arena, profile_str(pr, m->file)),
            (struct object_mapping){m->start, m->limit, m->offset, STR("")},
            &err);
        if (!o) {
            if (r->request->aside)
                buf_addf(r->request->aside, "%s\n", err.text);
            continue;
        }
        *vec_push(r->arena, &p->opened) = o;
        add_symbols(p, o);
    }
}

/* --- the nodes of a symbol ---------------------------------------------- */

static bool node_address(struct maker *p, const struct routine *s,
                         uint32_t node, uint64_t *out)
{
    uint32_t info = p->graph.nodes.v[node].info;
    struct error ignored;

    return p->objects->file_address(p->objects->arg, s->object,
                                    p->graph.table.infos.v[info].address, out,
                                    &ignored);
}

/* The nodes of an object by their address in it. */
struct placed {
    uint64_t address;
    uint32_t node;
};

static int by_place(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;

    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static struct placed *place_nodes(struct maker *p, const struct routine *s,
                                  size_t *n_out)
{
    struct graph *g = &p->graph;
    struct placed *v =
        arena_new_array(p->report->arena, struct placed, g->n_shown);
    size_t n = 0;

    for (size_t i = 0; i < g->n_shown; i++)
        if (node_address(p, s, g->shown[i], &v[n].address))
            v[n++].node = g->shown[i];
    qsort(v, n, sizeof(*v), by_place);
    *n_out = n;
    return v;
}

static void fill_routines(struct maker *p)
{
    struct placed *v = NULL;
    size_t n = 0;

    for (size_t i = 0; i < p->routines.n; i++) {
        struct routine *s = &p->routines.v[i];

        if (i == 0 || s->object != p->routines.v[i - 1].object)
            v = place_nodes(p, s, &n);
        for (size_t k = 0; k < n && v[k].address < s->end; k++)
            if (v[k].address >= s->start)
                *vec_push(p->report->arena, &s->nodes) = v[k].node;
    }
}

static void sum_nodes(const struct maker *p, struct routine *s)
{
    for (size_t i = 0; i < s->nodes.n; i++) {
        const struct node *n = &p->graph.nodes.v[s->nodes.v[i]];

        s->flat = i64_add(s->flat, node_flat(n));
        s->cum = i64_add(s->cum, node_cum(n));
    }
}

/* Symbols without samples are not shown. */
static void keep_sampled(struct maker *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->routines.n; i++) {
        if (p->routines.v[i].nodes.n == 0)
            continue;
        p->routines.v[n] = p->routines.v[i];
        sum_nodes(p, &p->routines.v[n++]);
    }
    p->routines.n = n;
}

/* --- instructions ------------------------------------------------------- */

/* What the nodes up to the next instruction add to this one. */
static void take_nodes(struct maker *p, const struct routine *s, uint64_t next,
                       size_t *at, struct node *sum, struct disassembled *where)
{
    for (; *at < s->nodes.n; ++*at) {
        const struct node *n = &p->graph.nodes.v[s->nodes.v[*at]];
        struct frame f = node_frame(&p->graph.table, n->info);
        uint64_t address;

        if (!node_address(p, s, s->nodes.v[*at], &address) || address >= next)
            return;
        sum->flat = i64_add(sum->flat, n->flat);
        sum->cum = i64_add(sum->cum, n->cum);
        sum->flat_div = i64_add(sum->flat_div, n->flat_div);
        sum->cum_div = i64_add(sum->cum_div, n->cum_div);
        if (f.file.n && where->file.n == 0)
            where->file = path_base(f.file);
        if (f.line && where->line == 0)
            where->line = f.line;
        if (f.name.n && where->function.n == 0)
            where->function = f.name;
    }
}

static void add_instructions(struct maker *p, const struct routine *s,
                             const struct instructions *in,
                             struct disassembled_symbol *out)
{
    size_t at = 0;

    for (size_t i = 0; i < in->list.n; i++) {
        const struct instruction *x = &in->list.v[i];
        uint64_t next =
            i + 1 < in->list.n ? in->list.v[i + 1].address : UINT64_MAX;
        struct disassembled *to =
            vec_push(p->report->arena, &out->instructions);
        struct node sum = {0};

        *to = (struct disassembled){
            .address = x->address,
            .text = x->text,
            .function = x->function,
            .file = x->file.n ? path_base(x->file) : STR(""),
            .line = x->line,
        };
        take_nodes(p, s, next, &at, &sum, to);
        to->flat = node_flat(&sum);
        to->cum = node_cum(&sum);
    }
}

static bool add_routine(struct maker *p, const struct routine *s,
                        struct disassembly *out, struct error *err)
{
    struct report *r = p->report;
    struct instructions in = {0};
    struct disassembled_symbol *to;

    if (!p->objects->disassemble(p->objects->arg, s->object, r->arena, s->start,
                                 s->end, r->config.intel_syntax, &in, err))
        return false;
    to = vec_push(r->arena, &out->symbols);
    *to = (struct disassembled_symbol){.names = s->names,
                                       .n_names = s->n_names,
                                       .flat = s->flat,
                                       .cum = s->cum};
    add_instructions(p, s, &in, to);
    return true;
}

static int by_name(const void *a, const void *b)
{
    const struct routine *x = a, *y = b;
    int c = str_cmp(x->names[0], y->names[0]);

    return c ? c : (x->start > y->start) - (x->start < y->start);
}

static int by_flat(const void *a, const void *b)
{
    const struct routine *x = a, *y = b;

    if (x->flat != y->flat)
        return x->flat < y->flat ? 1 : -1;
    return by_name(a, b);
}

static bool add_all(struct maker *p, struct disassembly *out, struct error *err)
{
    qsort(p->routines.v, p->routines.n, sizeof(*p->routines.v), by_name);
    for (size_t i = 0; i < p->routines.n; i++)
        if (!add_routine(p, &p->routines.v[i], out, err))
            return false;
    return true;
}

/* One that cannot be disassembled does not take the others with it. */
static bool add_costliest(struct maker *p, size_t most, struct disassembly *out,
                          struct error *err)
{
    qsort(p->routines.v, p->routines.n, sizeof(*p->routines.v), by_flat);
    for (size_t i = 0; i < p->routines.n && i < most; i++)
        add_routine(p, &p->routines.v[i], out, err);
    out->n_left_out = p->routines.n - out->symbols.n;
    return out->symbols.n > 0;
}

static bool nothing_found(const struct maker *p, size_t n_symbols,
                          struct error *err)
{
    if (!p->by_address)
        return error_set(err, "no matches found for regexp %" STR_FMT,
                         STR_ARG(p->report->request->argument));
    if (n_symbols == 0)
        return error_set(err, "no matches found for address 0x%llx",
                         (unsigned long long)p->address);
    return error_set(err,
                     "address 0x%llx found in binary, but the corresponding "
                     "symbols do not have samples in the profile",
                     (unsigned long long)p->address);
}

bool disassembly_make(struct report *r, int max_symbols,
                      struct disassembly *out, struct error *err)
{
    struct maker p = {.report = r, .objects = r->request->objects};
    size_t n_symbols;
    bool ok;

    *out = (struct disassembly){0};
    p.by_address = code_argument_address(r, &p.address);
    graph_init(&p.graph, r);
    find_symbols(&p);
    fill_routines(&p);
    n_symbols = p.routines.n;
    keep_sampled(&p);
    if (p.routines.n == 0)
        ok = nothing_found(&p, n_symbols, err);
    else if (max_symbols <= 0)
        ok = add_all(&p, out, err);
    else
        ok = add_costliest(&p, (size_t)max_symbols, out, err);
    for (size_t i = 0; i < p.opened.n; i++)
        p.objects->close(p.objects->arg, p.opened.v[i]);
    return ok;
}

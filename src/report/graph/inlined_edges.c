/*
 * A large profile has 23 million frames, and this is a walk over all of them.
 * It takes no branch that the processor cannot predict: a bit for each pair of
 * caller and callee says that nothing is left to learn from a call between
 * them, and after the first few thousand samples that is so nearly always.  The
 * bits of pairs that are of no interest are set from the beginning.
 *
 * Only weights that are not negative allow it: with them, an edge that has
 * reached the cut cannot become lighter.
 */
#include "report/graph/inlined_edges.h"

#include "base/i64.h"
#include "report/graph/edge_matrix.h"

/* What a location is: the rank of its node that is left, and these. */
enum code {
    RANK = 0x7ff,
    GONE = 0x7ff,    /* no node is left */
    INLINED = 0x800, /* it is not the outermost one of the location */
    LIST = 0x1000,   /* several nodes are left */
};

struct cell {
    int64_t weight;
    uint32_t last_sample; /* + 1; 0: no call */
    bool called;          /* not inlined, in some sample */
};

struct table {
    struct graph *graph;
    int64_t cut;
    size_t n;                  /* nodes that are left; as a rank: no caller */
    uint32_t *node;            /* of a rank */
    uint16_t *rank;            /* of a node, or GONE */
    uint16_t *codes;           /* of the locations */
    size_t n_rows;             /* 0 is for nodes that are not wanted */
    uint32_t row[GONE + 1];    /* of a rank: the first cell and the first bit */
    uint32_t row_rank[GONE];   /* of a row */
    bool has_called[GONE + 1]; /* by rank: an edge with calls and the cut */
    struct cell *cells;        /* rows by destination, of `stride` sources */
    size_t stride;
    uint64_t *done; /* a bit for each cell */
};

static void set_done(struct table *t, size_t cell)
{
    t->done[cell / 64] |= (uint64_t)1 << cell % 64;
}

static void give_ranks(struct table *t, const bool *into)
{
    const struct graph *g = t->graph;
    struct arena *a = g->arena;

    t->node = arena_new_array(a, uint32_t, GONE);
    t->rank = arena_new_array(a, uint16_t, g->nodes.n);
    t->n_rows = 1;
    for (uint32_t node = 0; node < g->nodes.n; node++) {
        t->rank[node] = GONE;
        if (g->is_gone[node])
            continue;
        t->node[t->n] = node;
        t->rank[node] = (uint16_t)t->n;
        if (into[node]) {
            t->row_rank[t->n_rows] = (uint32_t)t->n;
            t->row[t->n] = (uint32_t)t->n_rows++;
        }
        t->n++;
    }
}

/* No call is looked at into a node that is not wanted, from no caller, and
 * from the node itself. */
static void make_rows(struct table *t)
{
    struct arena *a = t->graph->arena;

    t->stride = t->n + 1;
    t->cells = arena_new_array(a, struct cell, t->n_rows * t->stride);
    t->done = arena_new_array(a, uint64_t, t->n_rows * t->stride / 64 + 1);
    for (size_t i = 0; i < t->n; i++)
        t->row[i] *= (uint32_t)t->stride;
    for (size_t from = 0; from < t->stride; from++)
        set_done(t, from);
    for (size_t row = 1; row < t->n_rows; row++) {
        set_done(t, row * t->stride + t->n);
        set_done(t, row * t->stride + t->row_rank[row]);
    }
}

static unsigned rank_of(const struct table *t, uint32_t node)
{
    return node == NO_NODE ? GONE : t->rank[node];
}

static unsigned code_of(const struct table *t, uint32_t location)
{
    struct node_span span = node_table_at(&t->graph->table, location);
    unsigned code = GONE;

    for (size_t k = 0; k < span.n; k++) {
        unsigned rank = rank_of(t, span.ids[k]);

        if (rank == GONE)
            continue;
        code = code == GONE ? rank | (k > 0 ? INLINED : 0) : LIST;
    }
    return code;
}

static void make_codes(struct table *t)
{
    size_t n = t->graph->report->profile->locations.n;

    t->codes = arena_new_array(t->graph->arena, uint16_t, n);
    for (size_t i = 0; i < n; i++)
        t->codes[i] = (uint16_t)code_of(t, (uint32_t)i);
}

/* Not inlined for this function: it is called for a few samples of a node. */
__attribute__((noinline)) static void add_call(struct table *t, unsigned from,
                                               unsigned code, size_t sample)
{
    unsigned to = code & RANK;
    size_t at = t->row[to] + from;
    struct cell *cell = &t->cells[at];

    if (cell->last_sample == (uint32_t)sample + 1)
        return; /* the first call of a sample says whether it is inlined */
    cell->last_sample = (uint32_t)sample + 1;
    cell->weight =
        i64_add(cell->weight, report_value(t->graph->report, sample));
    cell->called |= !(code & INLINED);
    if (!cell->called)
        return;
    t->has_called[to] |= cell->weight >= t->cut;
    if (t->has_called[to])
        set_done(t, at);
}

static inline bool is_done(const struct table *t, size_t cell)
{
    return t->done[cell / 64] >> cell % 64 & 1;
}

static unsigned add_list(struct table *t, unsigned from, uint32_t location,
                         size_t sample)
{
    struct node_span span = node_table_at(&t->graph->table, location);

    for (size_t k = 0; k < span.n; k++) {
        unsigned rank = rank_of(t, span.ids[k]);

        if (rank == GONE)
            continue;
        if (!is_done(t, t->row[rank] + from))
            add_call(t, from, rank | (k > 0 ? INLINED : 0), sample);
        from = rank;
    }
    return from;
}

static void add_sample(struct table *t, size_t sample)
{
    const struct profile *p = t->graph->report->profile;
    size_t start = p->loc_start[sample], i = p->loc_start[sample + 1];
    unsigned from = (unsigned)t->n;

    while (i-- > start) {
        unsigned code = t->codes[p->stack[i]], to = code & RANK;

        if (__builtin_expect(code & LIST, 0)) {
            from = add_list(t, from, p->stack[i], sample);
            continue;
        }
        if (__builtin_expect(!is_done(t, t->row[to] + from), 0))
            add_call(t, from, code, sample);
        from = to == GONE ? from : to;
    }
}

static void add_edges(const struct table *t)
{
    struct edges *e = &t->graph->edges;

    for (size_t row = 1; row < t->n_rows; row++) {
        for (size_t from = 0; from < t->n; from++) {
            const struct cell *cell = &t->cells[row * t->stride + from];

            if (cell->last_sample == 0)
                continue;
            *vec_push(e->arena, &e->all) =
                (struct edge){.src = t->node[from],
                              .dst = t->node[t->row_rank[row]],
                              .weight = cell->weight,
                              .inlined = !cell->called};
        }
    }
}

static bool has_negative(const struct report *r)
{
    int64_t all = 0;

    for (size_t i = 0; i < r->profile->n_samples; i++)
        all |= report_value(r, i);
    return all < 0;
}

bool inlined_edges_connect(struct graph *g, const bool *into, int64_t cut)
{
    const struct profile *p = g->report->profile;
    struct table *t;

    if (g->is_tree || !edge_matrix_fits(g) || has_negative(g->report))
        return false;
    edges_init(&g->edges, g->arena);
    t = arena_alloc(g->arena, sizeof(*t));
    t->graph = g;
    t->cut = cut;
    give_ranks(t, into);
    make_rows(t);
    make_codes(t);
    for (size_t i = 0; i < p->n_samples; i++)
        if (report_value(g->report, i) != 0)
            add_sample(t, i);
    add_edges(t);
    edges_link(&g->edges, g->nodes.n);
    return true;
}

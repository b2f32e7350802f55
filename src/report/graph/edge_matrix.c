/*
 * The nodes that are left get ranks, 0, 1, 2 …, of 16 bits, so that the rank
 * of every location fits into the processor's second cache, where the node
 * table of a large profile does not.
 *
 * Most frames are of no interest: their node was taken out, or none of its
 * edges is wanted.  A walk from the root to the leaf then only has to know
 * the last node that is left.
 */
#include "report/graph/edge_matrix.h"

#include "base/i64.h"

enum {
    MAX_RANKS = 1536, /* 36 MB of cells if all edges are wanted */
};

/*
 * What a location is for the walk: the rank of its innermost node that is
 * left, and these.
 */
enum code {
    RANK = 0x0fff,
    GONE = 0x0fff,      /* no node is left */
    GAP = 0x1000,       /* nodes inside the innermost one are gone */
    LOOK = 0x2000,      /* edges of the node may be wanted */
    LOOK_LIST = 0x4000, /* the same for one of several nodes */
};

struct cell {
    int64_t weight;
    uint32_t last_sample; /* + 1; 0: no call */
    bool called;          /* not inlined, in some sample */
    bool residual;
};

struct matrix {
    struct graph *graph;
    size_t n;            /* nodes that are left */
    uint32_t *node;      /* of a rank */
    uint16_t *rank;      /* of a node, or GONE */
    uint16_t *codes;     /* of the locations */
    bool *into, *out_of; /* wanted, by rank */
    bool any_out_of;
    uint16_t *row;      /* of a destination */
    uint32_t *row_node; /* and back */
    size_t n_rows;
    struct cell *cells; /* rows by destination, of n sources each */
};

/* Where a walk is. */
struct place {
    unsigned rank; /* of the last node, or GONE */
    bool gap;      /* nodes behind it are gone */
};

static bool is_left(const struct graph *g, uint32_t node)
{
    return !g->is_gone[node];
}

static size_t count_left(const struct graph *g)
{
    size_t n = 0;

    for (size_t i = 0; i < g->nodes.n; i++)
        n += is_left(g, (uint32_t)i);
    return n;
}

bool edge_matrix_fits(const struct graph *g)
{
    const struct profile *p = g->report->profile;
    size_t n = count_left(g);

    return n <= MAX_RANKS && n * n <= p->loc_start[p->n_samples] &&
           !g->report->config.mean;
}

static void give_ranks(struct matrix *m, const struct graph_wanted *wanted)
{
    const struct graph *g = m->graph;
    struct arena *a = g->arena;

    m->n = count_left(g);
    m->node = arena_new_array(a, uint32_t, m->n);
    m->rank = arena_new_array(a, uint16_t, g->nodes.n);
    m->into = arena_new_array(a, bool, m->n);
    m->out_of = arena_new_array(a, bool, m->n);
    for (uint32_t node = 0, rank = 0; node < g->nodes.n; node++) {
        m->rank[node] = GONE;
        if (!is_left(g, node))
            continue;
        m->node[rank] = node;
        m->into[rank] = wanted->into[node];
        m->out_of[rank] = wanted->out_of[node];
        m->any_out_of |= m->out_of[rank];
        m->rank[node] = (uint16_t)rank++;
    }
}

/* A row for each node that has a wanted edge into it. */
static void make_rows(struct matrix *m)
{
    struct arena *a = m->graph->arena;

    m->row = arena_new_array(a, uint16_t, m->n);
    m->row_node = arena_new_array(a, uint32_t, m->n);
    for (size_t rank = 0; rank < m->n; rank++) {
        if (!m->any_out_of && !m->into[rank])
            continue;
        m->row_node[m->n_rows] = m->node[rank];
        m->row[rank] = (uint16_t)m->n_rows++;
    }
    m->cells = arena_new_array(a, struct cell, m->n_rows * m->n);
}

static unsigned rank_of(const struct matrix *m, uint32_t node)
{
    return node == NO_NODE ? GONE : m->rank[node];
}

static unsigned code_of(const struct matrix *m, uint32_t location)
{
    struct node_span span = node_table_at(&m->graph->table, location);
    unsigned code = GONE;
    bool look = false;

    for (size_t k = 0; k < span.n; k++) {
        unsigned rank = rank_of(m, span.ids[k]);

        if (rank == GONE) {
            code |= GAP;
            continue;
        }
        code = rank;
        look |= m->any_out_of || m->into[rank];
    }
    return code | (!look ? 0 : span.n > 1 ? LOOK_LIST : LOOK);
}

static void make_codes(struct matrix *m)
{
    size_t n = m->graph->report->profile->locations.n;

    m->codes = arena_new_array(m->graph->arena, uint16_t, n);
    for (size_t i = 0; i < n; i++)
        m->codes[i] = (uint16_t)code_of(m, (uint32_t)i);
}

/* A call from the place to a node that is left. */
static inline void add_call(const struct matrix *m, struct place from,
                            unsigned to, bool inlined, size_t sample)
{
    struct cell *cell;

    if (from.rank == GONE || from.rank == to ||
        !(m->into[to] | m->out_of[from.rank]))
        return;
    cell = &m->cells[m->row[to] * m->n + from.rank];
    if (cell->last_sample == (uint32_t)sample + 1)
        return;
    cell->last_sample = (uint32_t)sample + 1;
    cell->weight =
        i64_add(cell->weight, report_value(m->graph->report, sample));
    cell->called |= !inlined;
    cell->residual |= from.gap;
}

static struct place add_list(const struct matrix *m, struct place at,
                             uint32_t location, size_t sample)
{
    struct node_span span = node_table_at(&m->graph->table, location);

    for (size_t k = 0; k < span.n; k++) {
        unsigned rank = rank_of(m, span.ids[k]);

        at.gap |= rank == GONE;
        if (rank == GONE)
            continue;
        add_call(m, at, rank, k > 0, sample);
        at = (struct place){.rank = rank};
    }
    return at;
}

static void add_sample(const struct matrix *m, size_t sample)
{
    const struct profile *p = m->graph->report->profile;
    size_t start = p->loc_start[sample], i = p->loc_start[sample + 1];
    struct place at = {.rank = GONE};

    while (i-- > start) {
        unsigned code = m->codes[p->stack[i]], rank = code & RANK;

        if (code & LOOK_LIST) {
            at = add_list(m, at, p->stack[i], sample);
            continue;
        }
        if (code & LOOK)
            add_call(m, at, rank, false, sample);
        at.gap = code & GAP || (at.gap && rank == GONE);
        at.rank = rank == GONE ? at.rank : rank;
    }
}

static void add_edges(const struct matrix *m)
{
    struct edges *e = &m->graph->edges;

    for (size_t i = 0; i < m->n_rows * m->n; i++) {
        const struct cell *cell = &m->cells[i];

        if (cell->last_sample == 0)
            continue;
        *vec_push(e->arena, &e->all) =
            (struct edge){.src = m->node[i % m->n],
                          .dst = m->row_node[i / m->n],
                          .weight = cell->weight,
                          .inlined = !cell->called,
                          .residual = cell->residual};
    }
}

void edge_matrix_connect(struct graph *g, const struct graph_wanted *wanted)
{
    const struct profile *p = g->report->profile;
    struct matrix m = {.graph = g};

    give_ranks(&m, wanted);
    make_codes(&m);
    make_rows(&m);
    for (size_t i = 0; i < p->n_samples; i++)
        if (report_value(g->report, i) != 0)
            add_sample(&m, i);
    add_edges(&m);
    arena_release(g->arena, m.cells, m.n_rows * m.n * sizeof(*m.cells));
}

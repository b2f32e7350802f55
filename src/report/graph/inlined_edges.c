/*
 * A large profile has 23 million frames, and this is a walk over all of them.
 * It takes no branch that the processor cannot predict: bits for each pair of
 * caller and callee say that nothing is left to learn from a call between
 * them, and after the first few thousand samples that is so nearly always.
 * The bits of pairs that are of no interest are set from the beginning.
 *
 * Only weights that are not negative allow it: with them, an edge that has
 * reached the cut cannot become lighter.
 */
#include "report/graph/inlined_edges.h"

#include "base/i64.h"
#include "report/graph/edge_matrix.h"

/*
 * What a location is for the walk: the row of bits of its outermost node that
 * is left, the rank of its innermost one, and whether calls inside it have to
 * be looked at.
 */
enum code {
    ROW = 0xfff,
    INNERMOST_SHIFT = 12,
    GONE = 0x7ff, /* instead of a rank: no node is left */
    OPEN = 1 << 23,
};

struct cell {
    int64_t weight;
    uint32_t last_sample; /* + 1; 0: no call */
    bool called;          /* not inlined, in some sample */
};

/* Where a walk is. */
struct place {
    size_t sample, frame; /* the frame is an index of the stack */
    unsigned from;        /* rank of the last node */
};

struct call_to_add {
    struct place place;
    struct cell *cell;
    uint16_t row;
    bool inlined;
};

enum { WAITING = 32 };

struct table {
    struct graph *graph;
    int64_t cut;
    size_t n;                /* nodes that are left; as a rank: no caller */
    uint32_t *node;          /* of a rank */
    uint16_t *rank;          /* of a node, or GONE */
    uint32_t *codes;         /* of the locations */
    uint16_t row[GONE];      /* of a rank; 0 is for nodes that are not wanted */
    uint16_t row_rank[GONE]; /* of a row */
    size_t n_rows;
    bool has_called[GONE]; /* by row: an edge with calls and the cut */
    struct cell *cells;    /* rows by destination, of `stride` sources */
    size_t stride;
    /* Two bits for each cell, in rows of their own: nothing is left to learn
     * from calls, and from inlined ones. */
    uint64_t *done;
    /* Calls wait until their cells have come from memory. */
    struct call_to_add waiting[WAITING];
    size_t n_waiting;
};

static size_t bit_of(const struct table *t, size_t row, bool inlined,
                     size_t from)
{
    return (2 * row + inlined) * t->stride + from;
}

static inline bool is_done(const struct table *t, size_t bit)
{
    return t->done[bit / 64] >> bit % 64 & 1;
}

static void set_done(struct table *t, size_t bit)
{
    t->done[bit / 64] |= (uint64_t)1 << bit % 64;
}

static void set_both_done(struct table *t, size_t row, size_t from)
{
    set_done(t, bit_of(t, row, false, from));
    set_done(t, bit_of(t, row, true, from));
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
            t->row_rank[t->n_rows] = (uint16_t)t->n;
            t->row[t->n] = (uint16_t)t->n_rows++;
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
    t->done = arena_new_array(a, uint64_t, 2 * t->n_rows * t->stride / 64 + 1);
    for (size_t from = 0; from < t->stride; from++)
        set_both_done(t, 0, from);
    for (size_t row = 1; row < t->n_rows; row++) {
        set_both_done(t, row, t->n);
        set_both_done(t, row, t->row_rank[row]);
    }
}

static unsigned rank_of(const struct table *t, uint32_t node)
{
    return node == NO_NODE ? GONE : t->rank[node];
}

static uint32_t code_of(const struct table *t, uint32_t location)
{
    struct node_span span = node_table_at(&t->graph->table, location);
    unsigned row = 0, innermost = GONE, n_wanted = 0;

    for (size_t k = 0; k < span.n; k++) {
        unsigned rank = rank_of(t, span.ids[k]);

        if (rank == GONE)
            continue;
        if (innermost == GONE)
            row = 2 * t->row[rank] + (k > 0);
        else
            n_wanted += t->row[rank] != 0;
        innermost = rank;
    }
    return row | innermost << INNERMOST_SHIFT | (n_wanted ? OPEN : 0);
}

static void make_codes(struct table *t)
{
    size_t n = t->graph->report->profile->locations.n;

    t->codes = arena_new_array(t->graph->arena, uint32_t, n);
    for (size_t i = 0; i < n; i++)
        t->codes[i] = code_of(t, (uint32_t)i);
}

/* Was `to` inlined into `from` in the sample, before the walk came here? */
static bool inlined_before(const struct table *t, const struct place *here,
                           unsigned to)
{
    const struct profile *p = t->graph->report->profile;
    unsigned from = (unsigned)t->n;

    for (size_t i = p->loc_start[here->sample + 1]; i-- > here->frame + 1;) {
        struct node_span span = node_table_at(&t->graph->table, p->stack[i]);

        for (size_t k = 0; k < span.n; k++) {
            unsigned rank = rank_of(t, span.ids[k]);

            if (rank == GONE)
                continue;
            if (k > 0 && rank == to && from == here->from)
                return true;
            from = rank;
        }
    }
    return false;
}

/* The first call of a sample says whether it is inlined.  Inlined ones may
 * have been passed over before. */
static bool is_first(const struct table *t, const struct call_to_add *c)
{
    if (c->cell->last_sample == (uint32_t)c->place.sample + 1)
        return false;
    return c->inlined || !is_done(t, bit_of(t, c->row, true, c->place.from)) ||
           !inlined_before(t, &c->place, t->row_rank[c->row]);
}

static void add_waiting(struct table *t, const struct call_to_add *c)
{
    bool first = is_first(t, c), *has_called = &t->has_called[c->row];
    struct cell *cell = c->cell;

    cell->last_sample = (uint32_t)c->place.sample + 1;
    if (!first)
        return;
    cell->weight =
        i64_add(cell->weight, report_value(t->graph->report, c->place.sample));
    cell->called |= !c->inlined;
    *has_called |= cell->called && cell->weight >= t->cut;
    if (cell->called && *has_called)
        set_both_done(t, c->row, c->place.from);
    else if (!cell->called && cell->weight >= t->cut)
        set_done(t, bit_of(t, c->row, true, c->place.from));
}

static void add_all_waiting(struct table *t)
{
    for (size_t i = 0; i < t->n_waiting; i++)
        add_waiting(t, &t->waiting[i]);
    t->n_waiting = 0;
}

static void add_call(struct table *t, const struct place *place, size_t row,
                     bool inlined)
{
    struct cell *cell = &t->cells[row * t->stride + place->from];

    __builtin_prefetch(cell);
    t->waiting[t->n_waiting++] =
        (struct call_to_add){*place, cell, (uint16_t)row, inlined};
    if (t->n_waiting == WAITING)
        add_all_waiting(t);
}

/* Adds the calls of a location with several nodes. */
static unsigned add_location(struct table *t, struct place here)
{
    uint32_t location = t->graph->report->profile->stack[here.frame];
    struct node_span span = node_table_at(&t->graph->table, location);
    bool is_open = false, is_outermost = true;

    for (size_t k = 0; k < span.n; k++) {
        unsigned rank = rank_of(t, span.ids[k]);

        if (rank == GONE)
            continue;
        if (!is_done(t, bit_of(t, t->row[rank], k > 0, here.from)))
            add_call(t, &here, t->row[rank], k > 0);
        is_open |= !is_outermost &&
                   !is_done(t, bit_of(t, t->row[rank], true, here.from));
        is_outermost = false;
        here.from = rank;
    }
    if (!is_open)
        t->codes[location] &= ~(uint32_t)OPEN;
    return here.from;
}

static void add_sample(struct table *t, size_t sample)
{
    const struct profile *p = t->graph->report->profile;
    size_t start = p->loc_start[sample], i = p->loc_start[sample + 1];
    struct place here = {.sample = sample, .from = (unsigned)t->n};

    while (i-- > start) {
        uint32_t code = t->codes[p->stack[i]];
        unsigned row = code & ROW, innermost = code >> INNERMOST_SHIFT & GONE;

        here.frame = i;
        if (__builtin_expect(code & OPEN, 0)) {
            here.from = add_location(t, here);
            continue;
        }
        if (__builtin_expect(!is_done(t, row * t->stride + here.from), 0))
            add_call(t, &here, row / 2, row % 2);
        here.from = innermost == GONE ? here.from : innermost;
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
    add_all_waiting(t);
    add_edges(t);
    edges_link(&g->edges, g->nodes.n);
    return true;
}

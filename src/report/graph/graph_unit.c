#include "report/graph/graph_unit.h"

#include "base/i64.h"

#define FAR_LARGER 100

static int64_t smallest_value(const struct graph *g)
{
    int64_t smallest = 0;

    for (size_t i = 0; i < g->n_shown; i++) {
        const struct node *n = &g->nodes.v[g->shown[i]];
        int64_t value = i64_abs(node_flat(n));

        if (value == 0)
            value = i64_abs(node_cum(n));
        if (value > 0 && (smallest == 0 || value < smallest))
            smallest = value;
    }
    return smallest;
}

static struct str unit_of(const struct report *r, int64_t value)
{
    struct str unit;

    measure_scale(value, r->sample_unit, STR("minimum"), &unit);
    return unit;
}

void report_choose_unit(struct report *r, const struct graph *g)
{
    int64_t largest = r->total, smallest;
    struct str unit;

    if (!str_eq(r->output_unit, STR("minimum")) || g->n_shown == 0)
        return;
    smallest = smallest_value(g);
    if (smallest == 0)
        smallest = largest;
    smallest = report_divided(r, smallest);
    largest = report_divided(r, largest);
    unit = unit_of(r, smallest);
    /* Callgrind files hold integers: nothing may be scaled below one. */
    if (!str_eq(unit, unit_of(r, largest)) &&
        i64_mul(smallest, FAR_LARGER) < largest &&
        r->request->format != REPORT_CALLGRIND)
        unit = unit_of(r, i64_mul(FAR_LARGER, smallest));
    r->output_unit = unit.n ? unit : r->sample_unit;
}

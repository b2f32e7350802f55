#include "report/graph/sample_walk.h"

/* Without branches that no processor could predict: a step is written always
 * and counted if its node is left. */
void walk_sample(struct walk *w, const struct node_table *t, size_t sample)
{
    const struct profile *p = t->profile;
    size_t start = p->loc_start[sample], end = p->loc_start[sample + 1];
    struct step *steps;
    bool residual = false;
    size_t n = 0;

    w->steps.n = 0;
    vec_reserve(t->arena, &w->steps, (end - start) * t->longest_list + 1);
    steps = w->steps.v;
    while (end-- > start) {
        struct node_span span = node_table_at(t, p->stack[end]);

        for (size_t k = 0; k < span.n; k++) {
            bool left = span.ids[k] != NO_NODE;

            steps[n] = (struct step){
                .node = span.ids[k], .inlined = k > 0, .residual = residual};
            n += left;
            residual = !left;
        }
    }
    w->steps.n = n;
    w->leaf_removed = residual;
}

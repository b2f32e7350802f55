/* The one number about a change that can stop a build. */
#include "report/stack/growth.h"

#include <math.h>

static double share(int64_t part, int64_t total)
{
    return total != 0 ? (double)part / (double)total : 0;
}

static struct growth total_growth(struct amounts total)
{
    double grew = (double)total.after - (double)total.before;

    if (total.before != 0)
        grew /= fabs((double)total.before);
    else if (total.after != 0)
        grew = INFINITY;
    return (struct growth){.of = GROWTH_OF_COST,
                           .grew = grew,
                           .of_total = true,
                           .before = (double)total.before,
                           .after = (double)total.after};
}

static void keep_larger(struct growth *g, const struct changes *c,
                        struct amounts a, struct str name, bool own)
{
    bool shares = g->of == GROWTH_OF_SHARES;
    double before = share(a.before, c->total.before);
    double after = share(a.after, shares ? c->total.after : c->total.before);

    if (after - before > g->grew)
        *g = (struct growth){.of = g->of,
                             .grew = after - before,
                             .name = name,
                             .own = own,
                             .before = before,
                             .after = after};
}

struct growth growth_find(const struct changes *c,
                          const struct report_stacks *t, enum growth_of of)
{
    struct growth g = total_growth(c->total);

    /* Shares of nothing say nothing. */
    if (c->total.before == 0 || c->total.after == 0)
        return g;
    if (of == GROWTH_OF_SHARES)
        g = (struct growth){.of = of, .grew = -INFINITY};
    for (size_t i = 0; i < c->n; i++)
        keep_larger(&g, c, c->functions[i].own, t->names.v[i].name, true);
    for (size_t i = 0; i < c->n; i++)
        keep_larger(&g, c, c->functions[i].all, t->names.v[i].name, false);
    return g;
}

void growth_describe(const struct growth *g, struct buf *out)
{
    double percent = g->grew * 100;

    if (g->of_total && isinf(g->grew)) {
        buf_add(out, STR("total grew from nothing"));
    } else if (g->of_total) {
        buf_addf(out, "total %s by %.2f%%", percent < 0 ? "shrank" : "grew",
                 fabs(percent));
    } else {
        bool shares = g->of == GROWTH_OF_SHARES;

        buf_add(out, shares ? STR("share of ") : STR("cost of "));
        buf_add(out, g->name);
        if (!g->own)
            buf_add(out, STR(" and what it calls"));
        buf_addf(out, " grew by %.2f%s, from %.2f%% to %.2f%%", percent,
                 shares ? " points" : "% of the base's total", g->before * 100,
                 g->after * 100);
    }
}

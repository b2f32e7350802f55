#include "cmd/pprof/gate.h"

#include "base/goformat.h"
#include "cmd/pprof/ui.h"
#include "report/report.h"

static void tell(const struct growth *g, const char *flag, double limit)
{
    struct buf b = BUF_INIT(BUF_OF_TOOL);

    growth_describe(g, &b);
    buf_addf(&b, "; -%s allows ", flag);
    goformat_float(&b, limit * 100);
    ui_complain("pprof: %s%%", buf_cstr(&b));
    buf_release(&b);
}

static enum gate check(const struct options *o, const struct profile *p,
                       enum growth_of of, struct error *err)
{
    bool shares = of == GROWTH_OF_SHARES;
    double limit = shares ? o->fail_above_share : o->fail_above;
    enum gate result = GATE_PASSED;
    struct growth growth;
    struct profile *copy;
    struct arena *a;

    if (limit < 0)
        return GATE_PASSED;
    a = arena_new();
    copy = profile_copy(p);
    if (!report_growth(copy, &o->config, of, a, &growth, err)) {
        result = GATE_FAILED;
    } else if (growth.grew > limit) {
        tell(&growth, shares ? "fail_above_share" : "fail_above", limit);
        result = GATE_CLOSED;
    }
    profile_free(copy);
    arena_free(a);
    return result;
}

enum gate gate_check(const struct options *o, const struct profile *p,
                     struct error *err)
{
    enum gate cost = check(o, p, GROWTH_OF_COST, err);

    if (cost == GATE_FAILED)
        return cost;
    enum gate shares = check(o, p, GROWTH_OF_SHARES, err);

    return shares == GATE_PASSED ? cost : shares;
}

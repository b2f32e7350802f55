#include "cmd/pprof/gate.h"

#include "base/goformat.h"
#include "cmd/pprof/ui.h"
#include "report/explain.h"

static void tell(const struct options *o, const struct growth *g)
{
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    growth_describe(g, &b);
    buf_add(&b, STR("; -fail_above allows "));
    goformat_float(&b, o->fail_above * 100);
    ui_complain("pprof: %s%%", buf_cstr(&b));
    buf_release(&b);
}

enum gate gate_check(const struct options *o, const struct profile *p,
                     struct error *err)
{
    struct arena *a = arena_new();
    struct profile *copy;
    struct growth growth;
    enum gate result = GATE_PASSED;

    if (o->fail_above < 0)
        goto out;
    copy = profile_copy(p);
    if (!report_growth(copy, &o->config, a, &growth, err)) {
        result = GATE_FAILED;
    } else if (growth.grew > o->fail_above) {
        tell(o, &growth);
        result = GATE_CLOSED;
    }
    profile_free(copy);
out:
    arena_free(a);
    return result;
}

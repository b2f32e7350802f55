/* The table of functions: the rows of -top, all of them. */
#include "base/i64.h"
#include "page/data.h"
#include "page/json_fields.h"
#include "report/format/top.h"

static void add_row(struct json *j, const struct report *r,
                    const struct top_row *row, int64_t flat_sum)
{
    static const struct str inlined[] = {
        [TOP_NOT_INLINED] = STR_INIT(""),
        [TOP_PARTLY_INLINED] = STR_INIT("(partial-inline)"),
        [TOP_INLINED] = STR_INIT("(inline)"),
    };

    json_open(j, '{');
    json_add_text(j, "name", row->name);
    json_add_text(j, "inline", inlined[row->inlined]);
    json_add_costs(j, r, row->flat, row->cum);
    json_add_percent_text(j, "flat_pct", r, row->flat);
    json_add_percent_text(j, "sum_pct", r, flat_sum);
    json_add_percent_text(j, "cum_pct", r, row->cum);
    json_close(j, '}');
}

bool data_top(struct report *r, struct buf *out, struct error *err)
{
    struct json j = json_start(out, 0);
    struct top_table t;
    int64_t flat_sum = 0;

    (void)err;
    top_make(&t, r);
    json_open(&j, '{');
    json_add_i64(&j, "total", r->total);
    json_add_value_text(&j, "total_text", r, r->total);
    json_add_legend(&j, r, &t.counts);
    json_key(&j, STR("rows"));
    json_open(&j, '[');
    for (size_t i = 0; i < t.n; i++) {
        flat_sum = i64_add(flat_sum, t.rows[i].flat);
        add_row(&j, r, &t.rows[i], flat_sum);
    }
    json_close(&j, ']');
    json_close(&j, '}');
    return true;
}

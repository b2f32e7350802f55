/* -text and -top: a table of nodes, the costliest first. */
#include "base/i64.h"
#include "report/format/top.h"

#define VALUE_WIDTH 10

static void add_row(const struct report *r, const struct top_row *row,
                    int64_t flat_sum, struct buf *out)
{
    report_add_value_right(r, out, row->flat, VALUE_WIDTH);
    buf_add_char(out, ' ');
    report_add_percent(r, out, row->flat);
    buf_add_char(out, ' ');
    report_add_percent(r, out, flat_sum);
    buf_add_char(out, ' ');
    report_add_value_right(r, out, row->cum, VALUE_WIDTH);
    buf_add_char(out, ' ');
    report_add_percent(r, out, row->cum);
    buf_add(out, STR("  "));
    buf_add(out, row->name);
    if (row->inlined == TOP_INLINED)
        buf_add(out, STR(" (inline)"));
    else if (row->inlined == TOP_PARTLY_INLINED)
        buf_add(out, STR(" (partial-inline)"));
    buf_add_char(out, '\n');
}

bool format_text(struct report *r, struct buf *out, struct error *err)
{
    struct header_lines h = {0};
    struct top_table t;
    int64_t flat_sum = 0;

    (void)err;
    top_make(&t, r);
    if (!r->config.compact_labels)
        header_add_profile(&h, r);
    header_add_graph(&h, r, &t.counts);
    header_print(&h, out);
    buf_add(out, STR("      flat  flat%   sum%        cum   cum%\n"));
    for (size_t i = 0; i < t.n; i++) {
        flat_sum = i64_add(flat_sum, t.rows[i].flat);
        add_row(r, &t.rows[i], flat_sum, out);
    }
    return true;
}

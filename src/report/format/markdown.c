/*
 * -markdown: the table of -top, to paste into a pull request.  Columns are
 * padded, so that the text reads well before it is rendered, too.
 */
#include "base/i64.h"
#include "base/number.h"
#include "base/utf8.h"
#include "report/format/top.h"
#include "report/stack/change.h"
#include "report/total.h"

#define COLUMNS 6

struct markdown {
    const struct report *report;
    bool is_change;        /* values are differences from a base */
    VEC(struct str) cells; /* COLUMNS a row; the first row is the heading */
};

/* The text that was appended to b, as the next cell; empties b. */
static void end_cell(struct markdown *m, struct buf *b)
{
    struct arena *a = m->report->arena;

    *vec_push(a, &m->cells) = arena_str(a, str_trim(buf_str(b)));
    buf_clear(b);
}

static void add_value(const struct markdown *m, struct buf *out, int64_t value)
{
    if (m->is_change && value > 0)
        buf_add_char(out, '+');
    report_add_value(m->report, out, value);
}

static void add_percent(const struct markdown *m, struct buf *out,
                        int64_t value)
{
    struct buf text = BUF_INIT(128);

    report_add_percent(m->report, &text, value);
    if (m->is_change && value != 0)
        buf_add_char(out, value > 0 ? '+' : '-');
    buf_add(out, str_trim(buf_str(&text)));
    buf_release(&text);
}

/* A name as code: a pipe would end the cell, a backtick the code. */
static void add_code(struct buf *out, struct str name)
{
    struct str fence = str_contains(name, STR("`")) ? STR("``") : STR("`");

    buf_add(out, fence);
    if (fence.n > 1)
        buf_add_char(out, ' ');
    for (size_t i = 0; i < name.n; i++) {
        char c = name.s[i];

        if (c == '|')
            buf_add_char(out, '\\');
        buf_add_char(out, c == '\n' || c == '\r' ? ' ' : c);
    }
    if (fence.n > 1)
        buf_add_char(out, ' ');
    buf_add(out, fence);
}

static void add_heading(struct markdown *m, struct buf *b)
{
    static const char *const plain[] = {"flat", "flat%", "sum%",
                                        "cum",  "cum%",  "function"};
    static const char *const change[] = {"flat ±", "flat% ±", "sum% ±",
                                         "cum ±",  "cum% ±",  "function"};

    for (int i = 0; i < COLUMNS; i++) {
        buf_add(b, str_from(m->is_change ? change[i] : plain[i]));
        end_cell(m, b);
    }
}

static void add_row(struct markdown *m, struct buf *b,
                    const struct top_row *row, int64_t flat_sum)
{
    add_value(m, b, row->flat);
    end_cell(m, b);
    add_percent(m, b, row->flat);
    end_cell(m, b);
    add_percent(m, b, flat_sum);
    end_cell(m, b);
    add_value(m, b, row->cum);
    end_cell(m, b);
    add_percent(m, b, row->cum);
    end_cell(m, b);
    add_code(b, row->name);
    if (row->inlined != TOP_NOT_INLINED)
        buf_add(b, row->inlined == TOP_INLINED ? STR(" (inline)")
                                               : STR(" (partial-inline)"));
    end_cell(m, b);
}

static void print_table(const struct markdown *m, struct buf *out)
{
    size_t widths[COLUMNS] = {0};

    for (size_t i = 0; i < m->cells.n; i++) {
        size_t n = utf8_count(m->cells.v[i]);

        if (n > widths[i % COLUMNS])
            widths[i % COLUMNS] = n;
    }
    for (size_t i = 0; i < m->cells.n; i++) {
        size_t column = i % COLUMNS;
        bool is_name = column == COLUMNS - 1;

        buf_add(out, STR("| "));
        if (is_name)
            buf_add_left(out, m->cells.v[i], widths[column]);
        else
            buf_add_right(out, m->cells.v[i], widths[column]);
        buf_add(out, is_name ? STR(" |\n") : STR(" "));
        if (i != COLUMNS - 1)
            continue;
        for (column = 0; column < COLUMNS; column++) {
            is_name = column == COLUMNS - 1;
            buf_add(out, is_name ? STR("|:") : STR("|-"));
            buf_add_pad(out, '-', widths[column]);
            buf_add(out, is_name ? STR("-|\n") : STR(":"));
        }
    }
}

/* Adds up what the samples of base and profile are worth. */
static struct amounts sums(const struct report *r)
{
    const struct profile *p = r->profile;
    struct base_mark mark = base_mark_find(p);
    struct amounts a = {0};

    for (size_t i = 0; i < p->n_samples; i++) {
        int64_t value = report_value(r, i);

        if (base_mark_on(&mark, p, i))
            a.before = i64_sub(a.before, value);
        else
            a.after = i64_add(a.after, value);
    }
    return a;
}

/* "**cpu**: 1.12s in 10s, of `app`", or how it changed. */
static void add_title(const struct markdown *m, struct buf *out)
{
    const struct report *r = m->report;
    struct amounts total = sums(r);

    buf_add(out, STR("**"));
    buf_add(out, r->sample_type);
    buf_add(out, STR("**"));
    if (r->title.n > 0) {
        buf_add(out, STR(" of "));
        add_code(out, r->title);
    }
    buf_add(out, STR(": "));
    if (m->is_change) {
        report_add_value(r, out, total.before);
        buf_add(out, STR(" → "));
        report_add_value(r, out, total.after);
        if (total.before != 0)
            buf_addf(out, " (%+.2f%%)",
                     (double)amounts_grew(total) * 100 / (double)total.before);
    } else {
        report_add_value(r, out, r->total);
        buf_add(out, STR(" total"));
        if (r->profile->duration_ns != 0) {
            buf_add(out, STR(" in "));
            measure_label(out, r->profile->duration_ns, STR("nanoseconds"),
                          STR("auto"));
        }
    }
    buf_add(out, STR("\n\n"));
}

static void add_footer(const struct markdown *m, struct buf *out,
                       const struct header_counts *c)
{
    size_t all = c->candidates + c->dropped_nodes;

    if (c->shown >= all)
        return;
    buf_addf(out, "\nThe top %zu of %zu", c->shown, all);
    if (!m->is_change) {
        struct buf share = BUF_INIT(128);

        report_add_percent(m->report, &share, c->flat_sum);
        buf_add(out, STR(", "));
        buf_add(out, str_trim(buf_str(&share)));
        buf_add(out, STR(" of the total"));
        buf_release(&share);
    }
    buf_add(out, STR(".\n"));
}

bool format_markdown(struct report *r, struct buf *out, struct error *err)
{
    struct markdown m = {.report = r};
    struct buf cell = arena_buf(r->arena);
    struct top_table t;
    int64_t flat_sum = 0;

    (void)err;
    m.is_change = base_mark_find(r->profile).key != NO_INDEX;
    top_make(&t, r);
    add_title(&m, out);
    add_heading(&m, &cell);
    for (size_t i = 0; i < t.n; i++) {
        flat_sum = i64_add(flat_sum, t.rows[i].flat);
        add_row(&m, &cell, &t.rows[i], flat_sum);
    }
    print_table(&m, out);
    add_footer(&m, out, &t.counts);
    buf_release(&cell);
    return true;
}

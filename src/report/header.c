/*
 * The wording and order of the lines are google/pprof's.  They are kept as a
 * list, because -dot puts them into a box of the graph.
 */
#include "report/header.h"

#include "base/goformat.h"
#include "base/i64.h"
#include "base/number.h"
#include "base/path.h"

#define LONGEST_FILTER 80 /* bytes of a filter that are shown */

/* A line that is being written; `close_line` adds it to the header. */
static struct buf open_line(const struct report *r)
{
    return arena_buf(r->arena);
}

static void close_line(struct header_lines *h, const struct report *r,
                       struct buf line)
{
    *vec_push(r->arena, &h->lines) = buf_str(&line);
}

static void add_pair(struct header_lines *h, const struct report *r,
                     const char *name, struct str value)
{
    struct buf line = open_line(r);

    buf_addf(&line, "%s: ", name);
    buf_add(&line, value);
    close_line(h, r, line);
}

static void add_time(struct header_lines *h, const struct report *r)
{
    struct buf line = open_line(r);

    buf_add(&line, STR("Time: "));
    goformat_time_seconds(&line, r->profile->time_ns);
    close_line(h, r, line);
}

/* "Duration: 10s, Total samples = 1.12s (11.20%)": the share only where the
 * total is a time; the space before it stays. */
static void add_duration(struct header_lines *h, const struct report *r)
{
    int64_t duration = r->profile->duration_ns;
    struct buf line = open_line(r);
    struct str unit;
    double total;

    buf_add(&line, STR("Duration: "));
    measure_label(&line, duration, STR("nanoseconds"), STR("auto"));
    buf_add(&line, STR(", Total samples = "));
    report_add_value(r, &line, r->total);
    buf_add_char(&line, ' ');
    total = measure_scale(r->total, r->sample_unit, STR("nanoseconds"), &unit);
    if (str_eq(unit, STR("ns")) && total != 0) {
        buf_add_char(&line, '(');
        measure_percentage(&line, number_trunc(total), duration);
        buf_add_char(&line, ')');
    }
    close_line(h, r, line);
}

void header_add_profile(struct header_lines *h, const struct report *r)
{
    const struct profile *p = r->profile;

    if (p->mappings.n > 0) {
        const struct mapping *m = &p->mappings.v[0];

        if (m->file)
            add_pair(h, r, "File", path_base(profile_str(p, m->file)));
        if (m->build_id)
            add_pair(h, r, "Build ID", profile_str(p, m->build_id));
    }
    for (size_t i = 0; i < p->comments.n; i++) {
        struct str comment = profile_str(p, p->comments.v[i]);

        if (!str_has_prefix(comment, STR("#")))
            *vec_push(r->arena, &h->lines) = comment;
    }
    if (r->sample_type.n)
        add_pair(h, r, "Type", r->sample_type);
    if (p->doc_url)
        add_pair(h, r, "Doc", profile_str(p, p->doc_url));
    if (p->time_ns)
        add_time(h, r);
    if (p->duration_ns)
        add_duration(h, r);
}

static void add_filters(struct header_lines *h, const struct report *r)
{
    const struct report_config *c = &r->config;
    const struct {
        const char *name;
        struct str value;
    } filters[] = {
        {"focus", c->focus},         {"ignore", c->ignore},
        {"hide", c->hide},           {"show", c->show},
        {"show_from", c->show_from}, {"tagfocus", c->tagfocus},
        {"tagignore", c->tagignore}, {"tagshow", c->tagshow},
        {"taghide", c->taghide},
    };
    bool any = false;

    for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++) {
        struct buf line = open_line(r);
        const size_t indent = 3;

        if (filters[i].value.n == 0)
            continue;
        if (!any)
            *vec_push(r->arena, &h->lines) = STR("Active filters:");
        any = true;
        buf_add_pad(&line, ' ', indent);
        buf_addf(&line, "%s=", filters[i].name);
        buf_add(&line, filters[i].value);
        if (line.len > indent + LONGEST_FILTER) {
            line.len = indent + LONGEST_FILTER;
            buf_add(&line, STR("…"));
        }
        close_line(h, r, line);
    }
}

static void add_accounting(struct header_lines *h, const struct report *r,
                           int64_t flat_sum)
{
    struct buf line = open_line(r), share = open_line(r);

    buf_add(&line, STR("Showing nodes accounting for "));
    report_add_value(r, &line, flat_sum);
    buf_add(&line, STR(", "));
    measure_percentage(&share, flat_sum, r->total);
    buf_add(&line, str_trim(buf_str(&share)));
    buf_add(&line, STR(" of "));
    report_add_value(r, &line, r->total);
    buf_add(&line, STR(" total"));
    buf_release(&share);
    close_line(h, r, line);
}

static void add_dropped(struct header_lines *h, const struct report *r,
                        size_t n, const char *what, const char *measured,
                        double fraction)
{
    struct buf line = open_line(r);

    buf_addf(&line, "Dropped %zu %s%s (%s <= ", n, what, n > 1 ? "s" : "",
             measured);
    report_add_value(r, &line,
                     i64_abs(number_trunc((double)r->total * fraction)));
    buf_add_char(&line, ')');
    close_line(h, r, line);
}

void header_add_graph(struct header_lines *h, const struct report *r,
                      const struct header_counts *counts)
{
    add_filters(h, r);
    add_accounting(h, r, counts->flat_sum);
    if (r->total == 0)
        return;
    if (counts->dropped_nodes > 0)
        add_dropped(h, r, counts->dropped_nodes, "node", "cum",
                    r->config.nodefraction);
    if (counts->dropped_edges > 0)
        add_dropped(h, r, counts->dropped_edges, "edge", "freq",
                    r->config.edgefraction);
    if (counts->shown > 0 && counts->shown < counts->candidates) {
        struct buf line = open_line(r);

        buf_addf(&line, "Showing top %zu nodes out of %zu", counts->shown,
                 counts->candidates);
        close_line(h, r, line);
    }
}

void header_print(const struct header_lines *h, struct buf *out)
{
    for (size_t i = 0; i < h->lines.n; i++) {
        buf_add(out, h->lines.v[i]);
        buf_add_char(out, '\n');
    }
}

void report_add_profile_labels(const struct report *r, struct buf *out)
{
    struct header_lines h = {0};

    header_add_profile(&h, r);
    header_print(&h, out);
}

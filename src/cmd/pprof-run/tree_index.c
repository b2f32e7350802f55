/*
 * The links have the form of Go's page, so that `pprof URL` and other tools
 * find the profiles of a tree as they find those of a process.
 */
#include "cmd/pprof-run/tree_index.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/html.h"
#include "fetch/index.h"

struct row {
    struct str name;
    uint64_t count;
};

struct rows {
    VEC(struct row) list;
};

static void add_row(struct arena *a, struct rows *rows,
                    const struct index_entry *e)
{
    uint64_t count = 0;

    str_to_u64(e->count, 10, &count);
    for (size_t i = 0; i < rows->list.n; i++) {
        if (str_eq(rows->list.v[i].name, e->name)) {
            rows->list.v[i].count += count;
            return;
        }
    }
    *vec_push(a, &rows->list) = (struct row){e->name, count};
}

static void collect(const struct tree_reply *pages, size_t n, struct arena *a,
                    struct rows *out)
{
    for (size_t i = 0; i < n; i++) {
        struct index_entries found = {0};

        if (!pages[i].is_answered || pages[i].reply.status != 200 ||
            !index_parse(a, buf_str(&pages[i].reply.body), &found))
            continue;
        for (size_t k = 0; k < found.list.n; k++)
            add_row(a, out, &found.list.v[k]);
    }
}

static void write_processes(const struct tree_reply *pages, size_t n,
                            struct buf *out)
{
    buf_add(out, STR("<table>\n<thead><td>Process</td><td>Command</td>"
                     "</thead>\n"));
    for (size_t i = 0; i < n; i++) {
        const struct tree_process *p = pages[i].process;

        buf_addf(out, "<tr><td><a href='?pid=%d'>%d</a></td><td>", p->pid,
                 p->pid);
        buf_add_html(out, p->command.n ? p->command : p->name);
        buf_add(out, STR("</td></tr>\n"));
    }
    buf_add(out, STR("</table>\n"));
}

/* The form of a row is what tools made for Go look for. */
static void write_row(const struct row *row, const char *more, struct buf *out)
{
    buf_addf(out, "<tr><td>%" PRIu64 "</td><td><a href='", row->count);
    buf_add_html(out, row->name);
    buf_addf(out, "?debug=1%s'>", more);
    buf_add_html(out, row->name);
    buf_add(out, STR("</a></td></tr>\n"));
}

void tree_index_write(const struct tree_reply *pages, size_t n, int pid,
                      struct arena *a, struct buf *out)
{
    struct rows rows = {0};
    char more[32] = "";

    if (pid)
        snprintf(more, sizeof(more), "&amp;pid=%d", pid);
    collect(pages, n, a, &rows);
    buf_add(out, STR("<html>\n<head>\n<title>/debug/pprof/</title>\n</head>\n"
                     "<body>\n/debug/pprof/\n<br>\n"));
    if (pid)
        buf_addf(out, "<p>Process %d; <a href='.'>all processes</a></p>\n",
                 pid);
    else
        buf_addf(out,
                 "<p>%zu processes. Without <code>pid=</code> a profile is "
                 "the sum of all of them, with the labels <code>pid</code> "
                 "and <code>process</code>; text comes one process after the "
                 "other.</p>\n",
                 n);
    buf_add(out, STR("Profiles:\n<table>\n<thead><td>Count</td>"
                     "<td>Profile</td></thead>\n"));
    for (size_t i = 0; i < rows.list.n; i++)
        write_row(&rows.list.v[i], more, out);
    buf_add(out, STR("</table>\n<br>\n"));
    write_processes(pages, n, out);
    buf_add(out, STR("</body>\n</html>\n"));
}

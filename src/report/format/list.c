/*
 * -list: the source of every function whose name matches, each line with
 * what it costs.
 */
#include <stdlib.h>

#include "base/i64.h"
#include "base/number.h"
#include "base/utf8.h"
#include "report/code/source_files.h"
#include "report/context.h"
#include "report/graph/graph.h"

#define VALUE_WIDTH 10
#define MARGIN      5 /* lines shown around those with a cost */

/* A line of a matching function. */
struct item {
    struct str name, file;
    int64_t start_line, line;
    int64_t flat, cum;
    size_t place; /* in the graph; first nodes have a say in the range */
};

struct listing {
    const struct report *report;
    struct buf *out;
    struct source_files sources;
};

static int compare_items(const void *x, const void *y)
{
    const struct item *a = x, *b = y;
    int c = str_cmp(a->name, b->name);

    if (c == 0)
        c = str_cmp(a->file, b->file);
    return c ? c : (a->place > b->place) - (a->place < b->place);
}

static int compare_lines(const void *x, const void *y)
{
    const struct item *a = x, *b = y;

    return (a->line > b->line) - (a->line < b->line);
}

static struct item *find_items(const struct report *r, const struct graph *g,
                               size_t *n_out)
{
    struct item *items = arena_new_array(r->arena, struct item, g->n_shown);
    size_t n = 0;

    for (size_t i = 0; i < g->n_shown; i++) {
        const struct node *node = &g->nodes.v[g->shown[i]];
        struct frame f = node_frame(&g->table, node->info);

        if (r->argument && !regex_matches(r->argument, f.name))
            continue;
        items[n++] = (struct item){
            .name = f.name,
            .file = f.file,
            .start_line = f.start_line,
            .line = f.line,
            .flat = node->flat,
            .cum = node->cum,
            .place = i,
        };
    }
    if (n > 0)
        qsort(items, n, sizeof(*items), compare_items);
    *n_out = n;
    return items;
}

struct range {
    int64_t start, end;
};

static struct range range_of(const struct item *i)
{
    return (struct range){
        .start = i->start_line ? i->start_line : i64_sub(i->line, MARGIN),
        .end = i64_add(i->line, MARGIN),
    };
}

/* A line that lowers the start does not raise the end: the original's way,
 * by which listings can be a little short. */
static struct range lines_to_show(const struct item *items, size_t n)
{
    struct range shown = range_of(&items[0]);

    for (size_t i = 0; i < n; i++) {
        struct range r = range_of(&items[i]);

        if (r.start < shown.start)
            shown.start = r.start;
        else if (r.end > shown.end)
            shown.end = r.end;
    }
    if (shown.start < 1)
        shown.start = 1;
    return shown;
}

static void add_cost(struct listing *l, int64_t value)
{
    report_add_value_or_dot(l->report, l->out, value, VALUE_WIDTH);
    buf_add_char(l->out, ' ');
}

static void add_lines(struct listing *l, const struct source_file *f,
                      struct range shown, struct item *items, size_t n)
{
    size_t next = 0;
    struct str text;

    qsort(items, n, sizeof(*items), compare_lines);
    for (int64_t line = shown.start;
         line <= shown.end && source_line(f, line, &text); line++) {
        int64_t flat = 0, cum = 0;

        for (; next < n && items[next].line <= line; next++) {
            if (items[next].line < line)
                continue;
            flat = i64_add(flat, items[next].flat);
            cum = i64_add(cum, items[next].cum);
        }
        add_cost(l, flat);
        add_cost(l, cum);
        buf_add_i64_right(l->out, line, 6);
        buf_add_char(l->out, ':');
        buf_add(l->out, text);
        buf_add_char(l->out, '\n');
    }
}

/* A function as far as it is in one file. */
static void add_routine(struct listing *l, struct item *items, size_t n)
{
    const struct report *r = l->report;
    struct range shown = lines_to_show(items, n);
    const struct source_file *f;
    int64_t flat = 0, cum = 0;

    for (size_t i = 0; i < n; i++) {
        flat = i64_add(flat, items[i].flat);
        cum = i64_add(cum, items[i].cum);
    }
    buf_add(l->out, STR("ROUTINE ======================== "));
    buf_add(l->out, items->name);
    buf_add(l->out, STR(" in "));
    buf_add(l->out, items->file);
    buf_add_char(l->out, '\n');
    report_add_value_right(r, l->out, flat, VALUE_WIDTH);
    buf_add_char(l->out, ' ');
    report_add_value_right(r, l->out, cum, VALUE_WIDTH);
    buf_add(l->out, STR(" (flat, cum) "));
    report_add_percent(r, l->out, cum);
    buf_add(l->out, STR(" of Total\n"));
    /* A file of which no line is wanted is not opened, nor missed. */
    if (shown.start > shown.end && !source_files_have(&l->sources, items->file))
        return;
    f = source_files_get(&l->sources, items->file);
    if (f->error.n == 0) {
        add_lines(l, f, shown, items, n);
        return;
    }
    buf_add(l->out, STR(" Error: "));
    buf_add(l->out, f->error);
    buf_add_char(l->out, '\n');
}

/* All files of the function that items[0] has; gives the number of items. */
static size_t add_function(struct listing *l, struct item *items, size_t n)
{
    size_t end = 0, start = 0, i;

    while (end < n && str_eq(items[end].name, items[0].name))
        end++;
    while (start < end && items[start].file.n == 0)
        start++;
    if (start == end) {
        buf_add(l->out, STR("No source information for "));
        buf_add(l->out, items[0].name);
        buf_add_char(l->out, '\n');
    }
    for (; start < end; start = i) {
        for (i = start; i < end && str_eq(items[i].file, items[start].file);)
            i++;
        add_routine(l, items + start, i - start);
    }
    return end;
}

bool format_list(struct report *r, struct buf *out, struct error *err)
{
    struct listing l = {.report = r, .out = out};
    struct item *items;
    struct graph g;
    size_t n;

    graph_init(&g, r);
    items = find_items(r, &g, &n);
    if (n == 0)
        return error_set(err, "no matches found for regexp: %" STR_FMT,
                         STR_ARG(r->request->argument));
    source_files_init(&l.sources, r->arena, r->config.source_path,
                      r->config.trim_path);
    buf_add(out, STR("Total: "));
    report_add_value(r, out, r->total);
    buf_add_char(out, '\n');
    for (size_t i = 0; i < n;)
        i += add_function(&l, items + i, n - i);
    return true;
}

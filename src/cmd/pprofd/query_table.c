/*
 * A table is filled cell by cell, then its columns are as wide as their widest
 * cell.  Numbers are what the API says; times are written out.
 */
#include "cmd/pprofd/query_table.h"

#include "base/clock.h"
#include "base/goparse.h"
#include "base/time_text.h"
#include "base/vec.h"
#include "config/document.h"
#include "config/getters.h"

#define COLUMNS_MAX 8

struct table {
    struct arena *arena;
    const char *const *titles; /* one that ends in '<' is aligned left */
    size_t n_columns;
    VEC(struct str) cells; /* row by row */
};

static struct table table_begin(struct arena *a, const char *const *titles)
{
    struct table t = {.arena = a, .titles = titles};

    while (titles[t.n_columns])
        t.n_columns++;
    return t;
}

static void add_cell(struct table *t, struct str text)
{
    *vec_push(t->arena, &t->cells) = text;
}

static bool is_left(const struct table *t, size_t column)
{
    return str_has_suffix(str_from(t->titles[column]), STR("<"));
}

static struct str title_of(const struct table *t, size_t column)
{
    struct str title = str_from(t->titles[column]);

    title.n -= is_left(t, column);
    return title;
}

static void write_row(const struct table *t, const size_t *widths,
                      const struct str *cells, struct buf *out)
{
    for (size_t i = 0; i < t->n_columns; i++) {
        struct str text = cells ? cells[i] : title_of(t, i);
        size_t pad = widths[i] > text.n ? widths[i] - text.n : 0;
        bool is_last = i + 1 == t->n_columns;

        if (!is_left(t, i))
            buf_add_pad(out, ' ', pad);
        buf_add(out, text);
        if (is_left(t, i) && !is_last)
            buf_add_pad(out, ' ', pad);
        buf_add(out, is_last ? STR("\n") : STR("  "));
    }
}

static void table_write(const struct table *t, struct buf *out)
{
    size_t widths[COLUMNS_MAX];

    for (size_t i = 0; i < t->n_columns; i++)
        widths[i] = title_of(t, i).n;
    for (size_t i = 0; i < t->cells.n; i++)
        if (t->cells.v[i].n > widths[i % t->n_columns])
            widths[i % t->n_columns] = t->cells.v[i].n;
    write_row(t, widths, NULL, out);
    for (size_t i = 0; i < t->cells.n; i += t->n_columns)
        write_row(t, widths, &t->cells.v[i], out);
}

/* --- cells ---------------------------------------------------------------- */

static struct str text_of(const struct node *n)
{
    return n && n->kind == NODE_SCALAR ? n->text : STR("");
}

static void add_text(struct table *t, const struct node *map, const char *key)
{
    add_cell(t, text_of(node_get(map, key)));
}

/* Unix seconds. */
static struct str time_of(struct arena *a, const struct node *n)
{
    struct buf out = arena_buf(a);
    double seconds = 0;

    goparse_float(text_of(n), &seconds);
    time_add_rfc3339(&out, (int64_t)(seconds * 1e9));
    return buf_str(&out);
}

static struct str labels_of(struct arena *a, const struct node *map)
{
    struct buf out = arena_buf(a);

    for (size_t i = 0; map && i < map->n; i++)
        buf_addf(&out, "%s%" STR_FMT "=%" STR_FMT, i ? "," : "",
                 STR_ARG(map->keys[i]), STR_ARG(text_of(map->items[i])));
    return buf_str(&out);
}

static struct str percent_of(struct arena *a, const struct node *n)
{
    double percent = 0;

    goparse_float(text_of(n), &percent);
    return str_from(arena_printf(a, "%.2f%%", percent));
}

/* --- replies -------------------------------------------------------------- */

static const struct node *read_reply(struct arena *a, struct str reply,
                                     struct error *err)
{
    const struct document_limits limits = {
        .bytes = reply.n, .nodes = reply.n + 1, .depth = 16};

    return document_read_json(a, (struct document_source){"the reply", reply},
                              &limits, err);
}

/* The list that the reply has under a key. */
static const struct node *read_list(struct arena *a, struct str reply,
                                    const char *key, struct error *err)
{
    const struct node *root = read_reply(a, reply, err), *list = NULL;

    if (!root || !node_list(root, key, &list, err))
        return NULL;
    if (!list)
        error_set(err, "the reply has no %s", key);
    return list;
}

static void add_counts(struct table *t, const struct node *count)
{
    add_text(t, count, "profiles");
    add_cell(t, time_of(t->arena, node_get(count, "first")));
    add_cell(t, time_of(t->arena, node_get(count, "last")));
}

bool query_table_services(struct arena *a, struct str reply, struct buf *out,
                          struct error *err)
{
    static const char *const titles[] = {"service<", "type<", "profiles",
                                         "first",    "last",  NULL};
    const struct node *list = read_list(a, reply, "services", err);
    struct table t = table_begin(a, titles);

    for (size_t i = 0; list && i < list->n; i++) {
        const struct node *types = node_get(list->items[i], "types");

        for (size_t k = 0; types && k < types->n; k++) {
            add_text(&t, list->items[i], "service");
            add_text(&t, types->items[k], "type");
            add_counts(&t, types->items[k]);
        }
    }
    if (list)
        table_write(&t, out);
    return list != NULL;
}

/* Names of labels, or the values of one. */
bool query_table_labels(struct arena *a, struct str reply, struct buf *out,
                        struct error *err)
{
    static const char *const names[] = {"label<", "profiles", "first", "last",
                                        NULL};
    static const char *const values[] = {"value<", "profiles", "first", "last",
                                         NULL};
    const struct node *root = read_reply(a, reply, err), *list;
    bool has_values = root && node_get(root, "values");
    struct table t = table_begin(a, has_values ? values : names);

    if (!root)
        return false;
    list = node_get(root, has_values ? "values" : "labels");
    for (size_t i = 0; list && i < list->n; i++) {
        add_text(&t, list->items[i], has_values ? "value" : "name");
        add_counts(&t, list->items[i]);
    }
    table_write(&t, out);
    return true;
}

bool query_table_profiles(struct arena *a, struct str reply, struct buf *out,
                          struct error *err)
{
    static const char *const titles[] = {"created<", "id<",     "service<",
                                         "type<",    "seconds", "samples",
                                         "bytes",    "labels<", NULL};
    const struct node *list = read_list(a, reply, "profiles", err);
    struct table t = table_begin(a, titles);

    for (size_t i = 0; list && i < list->n; i++) {
        const struct node *p = list->items[i];

        add_text(&t, p, "created_at");
        add_text(&t, p, "id");
        add_text(&t, p, "service");
        add_text(&t, p, "type");
        add_text(&t, p, "duration_seconds");
        add_text(&t, p, "samples");
        add_text(&t, p, "bytes");
        add_cell(&t, labels_of(a, node_get(p, "labels")));
    }
    if (list)
        table_write(&t, out);
    return list != NULL;
}

static void add_point(struct table *t, const struct node *point)
{
    add_cell(t, time_of(t->arena, point->n ? point->items[0] : NULL));
    for (size_t i = 1; i < point->n; i++)
        add_cell(t, text_of(point->items[i]));
}

bool query_table_series(struct arena *a, struct str reply, struct buf *out,
                        struct error *err)
{
    static const char *const titles[] = {"group<",  "type<", "unit<",
                                         "time",    "value", "profiles",
                                         "seconds", NULL};
    const struct node *list = read_list(a, reply, "groups", err);
    struct table t = table_begin(a, titles);

    for (size_t i = 0; list && i < list->n; i++) {
        const struct node *points = node_get(list->items[i], "points");

        for (size_t k = 0; points && k < points->n; k++) {
            if (points->items[k]->n != 4)
                return error_set(err, "a point of the reply is malformed");
            add_text(&t, list->items[i], "group");
            add_text(&t, list->items[i], "type");
            add_text(&t, list->items[i], "unit");
            add_point(&t, points->items[k]);
        }
    }
    if (list)
        table_write(&t, out);
    return list != NULL;
}

bool query_table_function(struct arena *a, struct str reply, struct buf *out,
                          struct error *err)
{
    static const char *const titles[] = {"time",  "flat",     "cum",
                                         "total", "profiles", NULL};
    const struct node *list = read_list(a, reply, "points", err);
    struct table t = table_begin(a, titles);

    for (size_t i = 0; list && i < list->n; i++) {
        if (list->items[i]->n != 5)
            return error_set(err, "a point of the reply is malformed");
        add_point(&t, list->items[i]);
    }
    if (list)
        table_write(&t, out);
    return list != NULL;
}

bool query_table_top(struct arena *a, struct str reply, struct buf *out,
                     struct error *err)
{
    static const char *const titles[] = {"flat", "flat%",     "cum",
                                         "cum%", "function<", NULL};
    const struct node *root = read_reply(a, reply, err), *rows;
    struct table t = table_begin(a, titles);

    if (!root)
        return false;
    buf_addf(out, "%" STR_FMT " in %" STR_FMT ", total %" STR_FMT "\n",
             STR_ARG(text_of(node_get(root, "type"))),
             STR_ARG(text_of(node_get(root, "unit"))),
             STR_ARG(text_of(node_get(root, "total"))));
    rows = node_get(root, "rows");
    for (size_t i = 0; rows && i < rows->n; i++) {
        const struct node *row = rows->items[i];

        add_text(&t, row, "flat");
        add_cell(&t, percent_of(a, node_get(row, "flat_percent")));
        add_text(&t, row, "cum");
        add_cell(&t, percent_of(a, node_get(row, "cum_percent")));
        add_text(&t, row, "name");
    }
    table_write(&t, out);
    return true;
}

struct str query_error_words(struct arena *a, struct str reply)
{
    struct error err;
    const struct node *root = read_reply(a, reply, &err);

    return root && root->kind == NODE_MAP ? text_of(node_get(root, "error"))
                                          : STR("");
}

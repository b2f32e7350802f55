/*
 * Time lines: totals by group and step, from descriptions alone; and one
 * function's share, from the samples.
 */
#include <stdlib.h>
#include <string.h>

#include "base/i64.h"
#include "store/grow.h"
#include "store/header.h"
#include "store/pack.h"
#include "store/read/read.h"
#include "store/sums.h"

static int64_t step_of(int64_t created_ns, int64_t step_ns)
{
    int64_t into;

    if (step_ns <= 0)
        return 0;
    into = created_ns % step_ns;
    return created_ns - into - (into < 0 ? step_ns : 0);
}

/*
 * Totals.
 */

/* Of the texts that make a group, in the order in which groups come. */
enum { OF_SERVICE, OF_PROFILE_TYPE, OF_LABEL, OF_TYPE, OF_UNIT, N_TEXTS };

struct point {
    uint32_t texts[N_TEXTS]; /* in `texts` of the lines */
    int64_t t_ns, sum, duration_ns, newest_ns;
    uint64_t profiles;
};

struct lines {
    const struct store_series *q;
    struct table texts;
    struct table keys; /* texts and time: number is the point's */
    struct point *points;
    size_t n, cap;
    struct buf key;
    struct store_label *labels;
    size_t labels_cap;
};

/* The texts of the group that a row belongs to; those of its value are there
 * already. */
static bool group_of(struct lines *k, const struct scan_row *row,
                     struct str *texts)
{
    size_t n;

    texts[OF_SERVICE] = k->q->by_service ? row->service : STR("");
    texts[OF_PROFILE_TYPE] = k->q->by_type ? row->type : STR("");
    texts[OF_LABEL] = STR("");
    if (k->q->group_by.n == 0)
        return true;
    if (!series_labels(row->labels, &k->labels, &k->labels_cap, &n))
        return false;
    for (size_t i = 0; i < n; i++)
        if (str_eq(k->labels[i].key, k->q->group_by))
            texts[OF_LABEL] = k->labels[i].value;
    return true;
}

static struct point *point_for(struct lines *k, const struct str *texts,
                               int64_t t_ns)
{
    struct point p = {.t_ns = t_ns, .newest_ns = INT64_MIN};
    uint32_t id;

    buf_clear(&k->key);
    for (size_t i = 0; i < N_TEXTS; i++) {
        if (!table_intern(&k->texts, texts[i], &p.texts[i]))
            return NULL;
        wire_add_varint(&k->key, p.texts[i]);
    }
    pack_signed(&k->key, t_ns);
    if (!buf_ok(&k->key) || !table_intern(&k->keys, buf_str(&k->key), &id) ||
        !grow(&k->points, &k->cap, (size_t)id + 1))
        return NULL;
    if (id == k->n)
        k->points[k->n++] = p;
    return &k->points[id];
}

/* How the row counts in one type. */
static int64_t value_of(const struct scan_row *row, size_t type,
                        enum store_values values)
{
    const struct row_meta *m = row->meta;

    if (values == STORE_AS_SENT || type >= 64 || !(row->cumulative >> type & 1))
        return m->totals[type];
    return m->flags & ROW_CHANGES ? m->changes[type] : 0;
}

static bool add(void *arg, const struct scan_row *row, struct error *err)
{
    struct lines *k = arg;
    const struct row_meta *m = row->meta;
    struct str texts[N_TEXTS];
    struct point *p;
    size_t i;

    if (m->flags & ROW_OPAQUE ||
        !dict_header_find_type(row->d, m->header, k->q->value_type, &i) ||
        !dict_header_type(row->d, m->header, i, &texts[OF_TYPE],
                          &texts[OF_UNIT]))
        return true;
    p = group_of(k, row, texts)
            ? point_for(k, texts, step_of(m->created_ns, k->q->step_ns))
            : NULL;
    if (!p)
        return error_set(err, "out of memory");
    if (p->newest_ns < m->created_ns)
        p->newest_ns = m->created_ns;
    p->sum = i64_add(p->sum, value_of(row, i, k->q->values));
    p->duration_ns = i64_add(p->duration_ns, m->duration_ns);
    p->profiles += m->profiles;
    return true;
}

static int compare(const void *x, const void *y, void *arg)
{
    const struct point *a = x, *b = y;
    const struct lines *k = arg;

    for (size_t i = 0; i < N_TEXTS; i++)
        if (a->texts[i] != b->texts[i])
            return str_cmp(table_get(&k->texts, a->texts[i]),
                           table_get(&k->texts, b->texts[i]));
    return (a->t_ns > b->t_ns) - (a->t_ns < b->t_ns);
}

static void hand_out(struct lines *k, store_each_point *each, void *arg)
{
    if (k->n)
        qsort_r(k->points, k->n, sizeof(*k->points), compare, k);
    for (size_t i = 0; i < k->n; i++) {
        const struct point *p = &k->points[i];
        struct str texts[N_TEXTS];

        for (size_t j = 0; j < N_TEXTS; j++)
            texts[j] = table_get(&k->texts, p->texts[j]);
        if (!each(arg, &(struct store_point){
                           .service = texts[OF_SERVICE],
                           .profile_type = texts[OF_PROFILE_TYPE],
                           .group = texts[OF_LABEL],
                           .type = texts[OF_TYPE],
                           .unit = texts[OF_UNIT],
                           .t_ns = p->t_ns,
                           .sum = p->sum,
                           .profiles = p->profiles,
                           .duration_ns = p->duration_ns,
                           .newest_ns = p->newest_ns,
                       }))
            return;
    }
}

enum store_status engine_series(struct store *s, const struct store_series *q,
                                const struct store_budget *budget,
                                store_each_point *each, void *arg,
                                struct store_progress *progress,
                                struct error *err)
{
    struct lines k = {.q = q, .key = BUF_INIT(STORE_BUF_BYTES)};
    struct scan c = {.s = s,
                     .q = &q->query,
                     .budget = budget,
                     .progress = progress,
                     .with_changes = q->values == STORE_CHANGES,
                     .step_ns = q->step_ns,
                     .use_sums = true,
                     .row = add,
                     .arg = &k};
    enum store_status status = scan_run(&c, err);

    if (status == STORE_OK)
        hand_out(&k, each, arg);
    table_release(&k.texts);
    table_release(&k.keys);
    free(k.points);
    free(k.labels);
    buf_release(&k.key);
    return status;
}

/*
 * One function.  Parents have lower numbers than children, so that one pass
 * over the nodes says in which stacks the function is.
 */
enum { IS_FLAT = 1, IS_CUM = 2 };

struct tracing {
    const struct store_function *q;
    unsigned char *nodes, *locations;
    size_t nodes_cap, locations_cap;
    struct store_function_point *points;
    size_t n, cap;
};

static bool has_name(const struct dict *d, uint32_t function, struct str name)
{
    struct wire_reader r = unpack_begin(dict_get(d, DICT_FUNCTION, function));
    uint32_t id;

    return unpack_u32(&r, &id) && str_eq(dict_get(d, DICT_STRING, id), name);
}

/* What a location contributes: the first line is the innermost. */
static unsigned char flags_of(const struct dict *d, uint32_t location,
                              struct str name)
{
    struct wire_reader r = unpack_begin(dict_get(d, DICT_LOCATION, location));
    uint64_t ignored;
    uint32_t function;
    unsigned char flags = 0;

    if (!wire_read_varint(&r, &ignored) || !wire_read_varint(&r, &ignored))
        return 0;
    for (bool first = true; wire_more(&r); first = false) {
        if (!unpack_u32(&r, &function) || !wire_read_varint(&r, &ignored) ||
            !wire_read_varint(&r, &ignored))
            return flags;
        if (has_name(d, function, name))
            flags |= first ? IS_FLAT | IS_CUM : IS_CUM;
    }
    return flags;
}

static bool mark(void *arg, const struct dict *d, struct error *err)
{
    struct tracing *k = arg;
    size_t locations = d->tables[DICT_LOCATION].n;

    if (!grow(&k->locations, &k->locations_cap, locations + 1) ||
        !grow(&k->nodes, &k->nodes_cap, d->n_nodes))
        return error_set(err, "out of memory");
    for (uint32_t i = 0; i < locations; i++)
        k->locations[i] = flags_of(d, i, k->q->name);
    k->nodes[0] = 0;
    for (size_t i = 1; i < d->n_nodes; i++)
        k->nodes[i] = (unsigned char)(k->locations[d->nodes[i].location] |
                                      (k->nodes[d->nodes[i].parent] & IS_CUM));
    return true;
}

static struct store_function_point *trace_point(struct tracing *k, int64_t t_ns)
{
    size_t i = k->n;

    while (i && k->points[i - 1].t_ns != t_ns) /* mostly the last one */
        i--;
    if (i)
        return &k->points[i - 1];
    if (!grow(&k->points, &k->cap, k->n + 1))
        return NULL;
    k->points[k->n] = (struct store_function_point){.t_ns = t_ns};
    return &k->points[k->n++];
}

/* Adds one column of a row, each value times `sign`. */
static void trace_row(const struct tracing *k, const struct row_samples *s,
                      size_t column, int64_t sign,
                      struct store_function_point *p)
{
    for (size_t i = 0; i < s->n; i++) {
        unsigned flags = k->nodes[s->nodes[i]];
        int64_t v = i64_mul(s->values[i * s->columns + column], sign);

        p->total = i64_add(p->total, v);
        if (flags & IS_CUM)
            p->cum = i64_add(p->cum, v);
        if (flags & IS_FLAT)
            p->flat = i64_add(p->flat, v);
    }
}

/* The column of a sum that holds the changes of a cumulative type. */
static size_t changes_column(const struct row_meta *m, uint64_t cumulative,
                             size_t type)
{
    uint64_t below = cumulative & (((uint64_t)1 << type) - 1);

    return m->n_totals + (size_t)__builtin_popcountll(below);
}

static bool trace(void *arg, const struct scan_row *row, struct error *err)
{
    struct tracing *k = arg;
    const struct row_meta *m = row->meta;
    struct store_function_point *p;
    size_t type;
    bool changes;

    if (m->flags & ROW_OPAQUE ||
        !dict_header_find_type(row->d, m->header, k->q->value_type, &type))
        return true;
    p = trace_point(k, step_of(m->created_ns, k->q->step_ns));
    if (!p)
        return error_set(err, "out of memory");
    p->profiles += m->profiles;
    changes = k->q->values == STORE_CHANGES && type < 64 &&
              row->cumulative >> type & 1;
    if (changes && m->flags & ROW_SUM)
        trace_row(k, row->samples, changes_column(m, row->cumulative, type), 1,
                  p);
    else if (!changes || m->flags & ROW_CHANGES)
        trace_row(k, row->samples, type, 1, p);
    if (changes && row->before && !(m->flags & (ROW_SUM | ROW_RESTART)))
        trace_row(k, row->before, type, -1, p);
    return true;
}

static int by_time(const void *x, const void *y)
{
    const struct store_function_point *a = x, *b = y;

    return (a->t_ns > b->t_ns) - (a->t_ns < b->t_ns);
}

enum store_status engine_function(struct store *s,
                                  const struct store_function *q,
                                  const struct store_budget *budget,
                                  store_each_function_point *each, void *arg,
                                  struct store_progress *progress,
                                  struct error *err)
{
    struct tracing k = {.q = q};
    struct scan c = {.s = s,
                     .q = &q->query,
                     .budget = budget,
                     .progress = progress,
                     .with_samples = true,
                     .with_changes = q->values == STORE_CHANGES,
                     .step_ns = q->step_ns,
                     .use_sums = true,
                     .segment = mark,
                     .row = trace,
                     .arg = &k};
    enum store_status status = scan_run(&c, err);

    if (status == STORE_OK && k.n) {
        qsort(k.points, k.n, sizeof(*k.points), by_time);
        for (size_t i = 0; i < k.n; i++)
            if (!each(arg, &k.points[i]))
                break;
    }
    free(k.nodes);
    free(k.locations);
    free(k.points);
    return status;
}

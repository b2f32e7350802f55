/*
 * Walking over a selection: services, then segments in memory, then day
 * files.
 */
#include <stdlib.h>

#include "store/build.h"
#include "store/pack.h"
#include "store/sqlite/scan_parts.h"

static bool in_range(const struct scan *c, const struct row_meta *m)
{
    return m->created_ns >= c->q->from_ns && m->created_ns <= c->q->to_ns;
}

/*
 * Memory.
 */

/* Times are beside the packed rows. */
static bool count_open_series(struct scan *c, const struct open_segment *g,
                              uint32_t series, const struct scan_row *row,
                              struct error *err)
{
    struct scan_count sum = {0};

    for (const struct open_row *r = g->series[series].first; r; r = r->next)
        if (r->state == ROW_DONE && r->created_ns >= c->q->from_ns &&
            r->created_ns <= c->q->to_ns)
            scan_add_count(
                &sum, &(struct scan_count){1, r->created_ns, r->created_ns});
    return scan_check(c, err) &&
           (!sum.profiles || c->count(c->arg, row, &sum, err));
}

static bool scan_open_series(struct scan *c, const struct open_segment *g,
                             struct str service, uint32_t series,
                             struct open_reader *r, struct error *err)
{
    struct scan_row row = {.service = service, .d = &g->d};
    size_t n;
    bool more;

    if (!series_text(&g->d, series, &row.type, &c->label_text) ||
        !series_labels(buf_str(&c->label_text), &c->labels, &c->labels_cap, &n))
        return error_set(err, "out of memory");
    if (!query_matches(c->q, service, row.type, c->labels, n))
        return true;
    row.labels = buf_str(&c->label_text);
    if (c->count)
        return count_open_series(c, g, series, &row, err);
    open_reader_begin(r, g, series, c->with_samples);
    while (open_reader_next(r, &more, err)) {
        if (!more)
            return true;
        if (in_range(c, &r->meta) &&
            !scan_deliver(c, &row, &r->meta,
                          c->with_samples ? &r->samples : NULL,
                          r->has_before ? &r->before : NULL, err))
            return false;
    }
    return false;
}

static bool scan_open(struct scan *c, const struct open_segment *g,
                      struct str service, struct error *err)
{
    struct open_reader r = {0};
    bool ok;

    if (!g || !g->n_rows)
        return true;
    ok = scan_begin_segment(c, &g->d, err);
    for (uint32_t i = 0; ok && i < g->n_series; i++)
        ok = !g->series[i].first || scan_open_series(c, g, service, i, &r, err);
    open_reader_release(&r);
    return ok && scan_end_segment(c, NULL, err);
}

/*
 * A service.
 */

/* With the service locked: its rows in memory, and a view of its files. */
static bool snapshot(struct service_scan *k, struct service *v,
                     struct error *err)
{
    bool ok = scan_plan(k, err);

    for (size_t i = 0; ok && i < k->n_days; i++)
        ok = day_scan_begin(&k->days[i], err);
    return ok && (!v || (scan_open(k->c, v->sealing, v->name, err) &&
                         scan_open(k->c, v->open, v->name, err)));
}

static bool scan_files(struct service_scan *k, bool ok, struct error *err)
{
    for (size_t i = 0; i < k->n_days; i++) {
        ok = ok && day_scan_run(&k->days[i], err);
        day_scan_release(&k->days[i]);
    }
    free(k->days);
    return ok;
}

static bool scan_service(struct scan *c, struct str name, struct error *err)
{
    struct service *v = service_get(engine_of(c->s), name, false);
    struct service_scan k = {.c = c, .name = name};
    bool ok;

    if (v)
        pthread_mutex_lock(&v->lock);
    ok = snapshot(&k, v, err);
    if (v) {
        pthread_mutex_unlock(&v->lock);
        service_put(engine_of(c->s), v);
    }
    return scan_files(&k, ok, err);
}

bool scan_day(struct scan *c, struct day *day, struct str service,
              struct error *err)
{
    struct service_scan k = {.c = c, .name = service};
    bool ok = scan_add_part(&k, day, c->q->from_ns, c->q->to_ns) ||
              error_set(err, "out of memory");

    c->label_text = BUF_INIT(STORE_BUF_BYTES);
    ok = ok && day_scan_begin(&k.days[0], err);
    ok = scan_files(&k, ok, err);
    free(c->labels);
    c->labels = NULL;
    c->labels_cap = 0;
    buf_release(&c->label_text);
    return ok;
}

enum store_status engine_scan(struct scan *c, struct error *err)
{
    struct table names = {0};
    bool ok;

    scan_begin(c);
    ok = scan_services(engine_of(c->s), c->q, &names, err);
    for (uint32_t i = 0; ok && i < names.n; i++)
        ok = scan_service(c, table_get(&names, i), err);
    table_release(&names);
    return scan_end(c, ok);
}

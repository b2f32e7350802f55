/*
 * Changes of cumulative values telescope: over a step, a series counts with
 * its last profile minus the one before its first (and so on at restarts).
 * Just those few are fetched and added here.
 */
#include "store/clickhouse/scan_changes.h"

#include <stdlib.h>
#include <string.h>

#include "base/i64.h"
#include "store/clickhouse/sql.h"
#include "store/grow.h"

enum { IDS_AT_ONCE = 2000 };

static int64_t step_of(const struct step_changes *u, int64_t created)
{
    int64_t step = u->k->c->step_ns;

    return step > 0 ? created - (created % step + step) % step : 0;
}

/* Adds to the last weight of the same profile and step: they come close to
 * each other. */
static bool add_weight(struct step_changes *u, size_t change, int64_t step,
                       int64_t weight)
{
    for (size_t i = u->n_weights; i-- && i + 4 > u->n_weights;)
        if (u->weights[i].change == change && u->weights[i].step == step) {
            u->weights[i].weight += weight;
            return true;
        }
    if (!grow(&u->weights, &u->weights_cap, u->n_weights + 1))
        return false;
    u->weights[u->n_weights++] = (struct weight){change, step, weight};
    return true;
}

static bool weigh(struct step_changes *u)
{
    const struct store_query *q = u->k->c->q;
    size_t kept = 0;

    for (size_t i = 0; i < u->changes.n; i++) {
        const struct change *c = &u->changes.v[i];

        if (c->created < q->from_ns || c->created > q->to_ns || !c->is_source ||
            !(c->flags & ROW_CHANGES) || c->n > 4)
            continue;
        if (!(c->flags & ROW_RESTART) &&
            !add_weight(u, c->before, step_of(u, c->created), -1))
            return false;
        if (!add_weight(u, i, step_of(u, c->created), 1))
            return false;
    }
    for (size_t i = 0; i < u->n_weights; i++)
        if (u->weights[i].weight)
            u->weights[kept++] = u->weights[i];
    u->n_weights = kept;
    return true;
}

static void write_rows(struct step_changes *u, size_t first, size_t n,
                       struct buf *sql)
{
    int64_t from = INT64_MAX, to = INT64_MIN;

    for (size_t i = first; i < first + n; i++) {
        int64_t created = u->changes.v[u->weights[i].change].created;

        from = created < from ? created : from;
        to = created > to ? created : to;
    }
    buf_add(sql, STR("SELECT " ROW_COLUMNS OF_PROFILES ROW_SAMPLES
                     " FROM pprofd_profiles WHERE "));
    sql_range(sql, from, to);
    buf_add(sql, buf_str(&u->k->matchers));
    buf_add(sql, STR(" AND id IN ("));
    for (size_t i = first; i < first + n; i++) {
        if (i > first)
            buf_add_char(sql, ',');
        sql_id(sql, &u->changes.v[u->weights[i].change].id);
    }
    buf_add(sql, STR(") LIMIT 1 BY id FORMAT RowBinary"));
}

static int by_id(const void *x, const void *y)
{
    const struct ch_row *a = x, *b = y;

    return memcmp(&a->id, &b->id, sizeof(a->id));
}

static bool read_rows(struct step_changes *u)
{
    struct wire_reader r = unpack_begin(buf_str(&u->rows_reply));

    while (wire_more(&r)) {
        struct ch_row row;

        if (!ch_row_read(&r, true, &row) ||
            !grow(&u->rows, &u->rows_cap, u->n_rows + 1) ||
            !ch_row_want(&row, true, u->l))
            return false;
        u->rows[u->n_rows++] = row;
    }
    if (u->n_rows)
        qsort(u->rows, u->n_rows, sizeof(*u->rows), by_id);
    return true;
}

bool step_changes_ask(struct step_changes *u, struct error *err)
{
    struct scan *c = u->k->c;
    struct buf sql = BUF_INIT((size_t)16 << 20);
    bool ok;

    c->status = ch_changes_load(&u->changes, u->k->s, buf_str(&u->k->matchers),
                                buf_str(&u->k->source), c->q->from_ns,
                                c->q->to_ns, c->budget, err);
    ok = c->status == STORE_OK && (weigh(u) || scan_damaged(err));
    for (size_t i = 0; ok && i < u->n_weights; i += IDS_AT_ONCE) {
        size_t n = u->n_weights - i;

        buf_clear(&sql);
        write_rows(u, i, n < IDS_AT_ONCE ? n : IDS_AT_ONCE, &sql);
        ok = selection_ask(u->k, &sql, &u->rows_reply, err);
    }
    buf_release(&sql);
    return ok && (read_rows(u) || scan_damaged(err));
}

static bool add_row_changes(const struct step_changes *u,
                            const struct ch_row *row, int64_t weight,
                            uint64_t cumulative, size_t n_totals,
                            struct sums *sums)
{
    for (size_t i = 0; i < row->stacks.n; i++) {
        uint32_t node, labels = 0;
        size_t extra = n_totals;
        int64_t *sum;

        if (!loader_number(u->l, KIND_STACK, unrow_at(&row->stacks, i),
                           &node) ||
            (row->labels.n &&
             !loader_number(u->l, DICT_LABELS, unrow_at(&row->labels, i),
                            &labels)) ||
            !(sum = sums_at(sums, node, labels)))
            return false;
        for (size_t c = 0; c < n_totals; c++)
            if (cumulative >> c & 1) {
                sum[extra] = i64_add(sum[extra],
                                     i64_mul(weight, ch_row_value(row, i, c)));
                extra++;
            }
    }
    return true;
}

bool step_changes_add(const struct step_changes *u, int64_t step,
                      uint64_t header, uint64_t cumulative, size_t n_totals,
                      struct sums *sums)
{
    for (size_t i = 0; i < u->n_weights; i++) {
        const struct weight *w = &u->weights[i];
        struct ch_row key, *row;

        if (w->step != step)
            continue;
        key.id = u->changes.v[w->change].id;
        row = u->n_rows
                  ? bsearch(&key, u->rows, u->n_rows, sizeof(*u->rows), by_id)
                  : NULL;
        if (row && row->header == header &&
            !add_row_changes(u, row, w->weight, cumulative, n_totals, sums))
            return false;
    }
    return true;
}

void step_changes_init(struct step_changes *u, struct selection *k,
                       struct loader *l)
{
    *u = (struct step_changes){
        .k = k, .l = l, .rows_reply = BUF_INIT(STORE_BUF_BYTES)};
}

void step_changes_release(struct step_changes *u)
{
    ch_changes_release(&u->changes);
    buf_release(&u->rows_reply);
    free(u->weights);
    free(u->rows);
}

/*
 * One profile by its id, and all of a selection with their bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory_scope.h"
#include "profile/encode.h"
#include "store/grow.h"
#include "store/header.h"
#include "store/pack.h"
#include "store/rebuild.h"
#include "store/read/read.h"

struct got {
    struct profile *p;
    bool is_opaque;
    int64_t created_ns;
};

static bool take(void *arg, const struct scan_row *row, struct error *err)
{
    struct got *got = arg;

    got->created_ns = row->meta->created_ns;
    got->is_opaque = row->meta->flags & ROW_OPAQUE;
    if (got->is_opaque)
        return true;
    got->p = rebuild_profile(row->d, row->meta, row->samples, err);
    return got->p != NULL;
}

enum store_status engine_get(struct store *s, const struct store_id *id,
                             struct profile **out, struct error *err)
{
    struct got got = {0};
    enum store_status status = s->scans->find(s, id, take, &got, err);

    if (status == STORE_OK && got.is_opaque) {
        error_set(err, "the profile is kept as opaque bytes");
        return STORE_INVALID;
    }
    if (status == STORE_OK)
        *out = got.p;
    return status;
}

struct encoding {
    struct profile *p;
    struct buf *out;
    struct error *err;
    bool ok;
};

static void run_encode(void *arg)
{
    struct encoding *e = arg;

    e->ok = profile_encode_gzip(e->p, e->out, e->err);
}

/* In a scope of its own: the service may be locked. */
static enum store_status encode(struct profile *p, struct buf *out,
                                struct error *err)
{
    struct encoding e = {.p = p, .out = out, .err = err};
    bool ok = memory_scope_run(MEMORY_UNLIMITED, run_encode, &e, err) && e.ok;

    profile_free(p);
    return ok ? STORE_OK : STORE_FAILED;
}

enum store_status engine_get_bytes(struct store *s, const struct store_id *id,
                                   struct buf *out, struct error *err)
{
    struct got got = {0};
    enum store_status status = s->scans->find(s, id, take, &got, err);

    if (status != STORE_OK)
        return status;
    if (got.is_opaque)
        return s->scans->blob(s, id, got.created_ns, out, err);
    return encode(got.p, out, err);
}

bool describe_row(struct description *d, const struct scan_row *row)
{
    const struct row_meta *m = row->meta;
    struct store_profile *p = &d->p;

    *p = (struct store_profile){
        .id = m->id,
        .service = row->service,
        .type = row->type,
        .created_at_ns = m->created_ns,
        .duration_ns = m->duration_ns,
        .posted_bytes = m->posted_bytes,
        .samples = m->samples,
        .n_totals = m->n_totals,
        .is_opaque = m->flags & ROW_OPAQUE,
    };
    if (!series_labels(row->labels, &d->labels, &d->labels_cap, &p->n_labels) ||
        !grow(&d->totals, &d->totals_cap, m->n_totals))
        return false;
    for (size_t i = 0; i < m->n_totals; i++) {
        bool cumulative = i < 64 && row->cumulative >> i & 1;
        struct store_total *t = &d->totals[i];

        if (!dict_header_type(row->d, m->header, i, &t->type, &t->unit))
            return false;
        if (!row->cumulative && type_counts_from_start(t->type))
            p->is_delta = true;
        t->sum = t->change = m->totals[i];
        if (cumulative)
            t->change = m->flags & ROW_CHANGES ? m->changes[i] : 0;
    }
    p->labels = d->labels;
    p->totals = d->totals;
    return true;
}

void description_release(struct description *d)
{
    free(d->labels);
    free(d->totals);
}

struct describing {
    store_each_profile *each;
    void *arg;
    struct description d;
};

static bool describe_one(void *arg, const struct scan_row *row,
                         struct error *err)
{
    struct describing *k = arg;

    if (!describe_row(&k->d, row))
        return error_set(err, "out of memory");
    k->each(k->arg, &k->d.p);
    return true;
}

enum store_status engine_describe(struct store *s, const struct store_id *id,
                                  store_each_profile *each, void *arg,
                                  struct error *err)
{
    struct describing k = {.each = each, .arg = arg};
    enum store_status status = s->scans->find(s, id, describe_one, &k, err);

    description_release(&k.d);
    return status;
}

/*
 * Export.
 */

struct exporting {
    struct store *s;
    store_each_export *each;
    void *arg;
    struct description d;
    struct buf bytes;
    bool stopped;
};

static bool export_row(void *arg, const struct scan_row *row, struct error *err)
{
    struct exporting *k = arg;
    const struct row_meta *m = row->meta;
    struct profile *p;

    buf_clear(&k->bytes);
    if (!describe_row(&k->d, row))
        return error_set(err, "out of memory");
    if (m->flags & ROW_OPAQUE) {
        if (k->s->scans->blob(k->s, &m->id, m->created_ns, &k->bytes, err) !=
            STORE_OK)
            return false;
    } else {
        p = rebuild_profile(row->d, m, row->samples, err);
        if (!p)
            return false;
        if (encode(p, &k->bytes, err) != STORE_OK)
            return false;
    }
    k->stopped = !k->each(k->arg, &k->d.p, buf_str(&k->bytes));
    return !k->stopped;
}

enum store_status engine_export(struct store *s, const struct store_query *q,
                                const struct store_budget *budget,
                                store_each_export *each, void *arg,
                                struct store_progress *progress,
                                struct error *err)
{
    struct exporting k = {.s = s, .each = each, .arg = arg};
    struct scan c = {.s = s,
                     .q = q,
                     .budget = budget,
                     .progress = progress,
                     .with_samples = true,
                     .row = export_row,
                     .arg = &k};
    enum store_status status;

    k.bytes = BUF_INIT(STORE_BUF_BYTES);
    status = scan_run(&c, err);
    buf_release(&k.bytes);
    description_release(&k.d);
    return k.stopped ? STORE_OK : status;
}

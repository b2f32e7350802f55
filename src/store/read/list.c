/*
 * Listings.  Descriptions are kept packed until all have been seen; with a
 * limit, what cannot be among the first is dropped as it goes, so that
 * memory follows the page and not the selection.
 */
#include <stdlib.h>
#include <string.h>

#include "store/grow.h"
#include "store/pack.h"
#include "store/read/read.h"

struct item {
    int64_t created_ns;
    struct store_id id;
    char *packed;
    size_t n;
};

struct listing {
    const struct store_page *page;
    struct item *items;
    size_t n, cap;
    struct description d;
    struct buf packed;
};

static int compare(const void *x, const void *y)
{
    const struct item *a = x, *b = y;

    if (a->created_ns != b->created_ns)
        return a->created_ns < b->created_ns ? -1 : 1;
    return memcmp(&a->id, &b->id, sizeof(a->id));
}

static int compare_newest(const void *x, const void *y)
{
    return compare(y, x);
}

static void sort(struct listing *k)
{
    if (k->n)
        qsort(k->items, k->n, sizeof(*k->items),
              k->page && k->page->newest_first ? compare_newest : compare);
}

static void cut(struct listing *k, size_t n)
{
    while (k->n > n)
        free(k->items[--k->n].packed);
}

/* Returns true if it is after the page's cursor. */
static bool is_behind(const struct listing *k, const struct row_meta *m)
{
    struct item at, row = {.created_ns = m->created_ns, .id = m->id};
    int c;

    if (!k->page || !k->page->after_ns)
        return true;
    at =
        (struct item){.created_ns = k->page->after_ns, .id = k->page->after_id};
    c = compare(&row, &at);
    return k->page->newest_first ? c < 0 : c > 0;
}

static void pack(const struct store_profile *p, struct buf *out)
{
    pack_bytes(out, p->service);
    pack_bytes(out, p->type);
    pack_signed(out, p->duration_ns);
    wire_add_varint(out, p->posted_bytes);
    wire_add_varint(out, p->samples);
    wire_add_varint(out, p->is_opaque);
    wire_add_varint(out, p->is_delta);
    wire_add_varint(out, p->n_labels);
    for (size_t i = 0; i < p->n_labels; i++) {
        pack_bytes(out, p->labels[i].key);
        pack_bytes(out, p->labels[i].value);
    }
    wire_add_varint(out, p->n_totals);
    for (size_t i = 0; i < p->n_totals; i++) {
        pack_bytes(out, p->totals[i].type);
        pack_bytes(out, p->totals[i].unit);
        pack_signed(out, p->totals[i].sum);
        pack_signed(out, p->totals[i].change);
    }
}

static bool unpack_labels(struct wire_reader *r, struct description *d)
{
    uint64_t n = 0;

    if (!wire_read_varint(r, &n) || !grow(&d->labels, &d->labels_cap, n))
        return false;
    for (uint64_t i = 0; i < n; i++)
        if (!unpack_bytes(r, &d->labels[i].key) ||
            !unpack_bytes(r, &d->labels[i].value))
            return false;
    d->p.labels = d->labels;
    d->p.n_labels = n;
    return true;
}

static bool unpack(const struct item *item, struct description *d)
{
    struct wire_reader r = unpack_begin(str_of(item->packed, item->n));
    struct store_profile *p = &d->p;
    uint64_t opaque = 0, delta = 0, n = 0;

    *p = (struct store_profile){.id = item->id};
    p->created_at_ns = item->created_ns;
    if (!unpack_bytes(&r, &p->service) || !unpack_bytes(&r, &p->type) ||
        !unpack_signed(&r, &p->duration_ns) ||
        !wire_read_varint(&r, &p->posted_bytes) ||
        !wire_read_varint(&r, &p->samples) || !wire_read_varint(&r, &opaque) ||
        !wire_read_varint(&r, &delta) || !unpack_labels(&r, d) ||
        !wire_read_varint(&r, &n) || !grow(&d->totals, &d->totals_cap, n))
        return false;
    p->is_opaque = opaque;
    p->is_delta = delta;
    p->totals = d->totals;
    p->n_totals = n;
    for (uint64_t i = 0; i < n; i++) {
        struct store_total *t = &d->totals[i];

        if (!unpack_bytes(&r, &t->type) || !unpack_bytes(&r, &t->unit) ||
            !unpack_signed(&r, &t->sum) || !unpack_signed(&r, &t->change))
            return false;
    }
    return true;
}

static bool add(void *arg, const struct scan_row *row, struct error *err)
{
    struct listing *k = arg;
    size_t limit = k->page ? k->page->limit : 0;
    struct item item = {.created_ns = row->meta->created_ns,
                        .id = row->meta->id};

    if (!is_behind(k, row->meta))
        return true;
    buf_clear(&k->packed);
    if (!describe_row(&k->d, row))
        return error_set(err, "out of memory");
    pack(&k->d.p, &k->packed);
    item.n = k->packed.len;
    item.packed = buf_ok(&k->packed) ? malloc(item.n) : NULL;
    if (!item.packed || !grow(&k->items, &k->cap, k->n + 1)) {
        free(item.packed);
        return error_set(err, "out of memory");
    }
    memcpy(item.packed, k->packed.data, item.n);
    k->items[k->n++] = item;
    if (limit && k->n >= 2 * limit + 1024) {
        sort(k);
        cut(k, limit);
    }
    return true;
}

enum store_status engine_list(struct store *s, const struct store_query *q,
                              const struct store_page *page,
                              const struct store_budget *budget,
                              store_each_profile *each, void *arg,
                              struct store_progress *progress,
                              struct error *err)
{
    struct listing k = {.page = page, .packed = BUF_INIT(STORE_BUF_BYTES)};
    struct scan c = {.s = s,
                     .q = q,
                     .budget = budget,
                     .progress = progress,
                     .with_changes = true,
                     .page = page,
                     .row = add,
                     .arg = &k};
    enum store_status status = scan_run(&c, err);

    sort(&k);
    if (page && page->limit)
        cut(&k, page->limit);
    for (size_t i = 0; status == STORE_OK && i < k.n; i++) {
        if (!unpack(&k.items[i], &k.d))
            status = store_no_memory(err);
        else if (!each(arg, &k.d.p))
            break;
    }
    cut(&k, 0);
    free(k.items);
    buf_release(&k.packed);
    description_release(&k.d);
    return status;
}

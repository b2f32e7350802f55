/*
 * Only put and close do something of their own; the rest is passed on.
 */
#include "store/archive/archived_store.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/gzip.h"

struct archived {
    struct store base;
    struct store *inner;
    struct archive *archive;
    uint64_t memory_bytes;
    int64_t patience_ns;
    atomic_ullong held_bytes; /* copies of profiles that are being stored */
};

#define INNER(s) (((struct archived *)(s))->inner)

/* --- put ------------------------------------------------------------------ */

/* A profile on its way into the inner store; one allocation. */
struct pending {
    struct archived *store;
    store_done *done;
    void *arg;
    struct store_profile profile; /* what the key says of it */
    bool is_delta;
    struct str bytes;
    size_t size;
    struct store_label labels[];
};

static struct str copy(char **to, struct str text)
{
    struct str out = str_of(*to, text.n);

    if (text.n)
        memcpy(*to, text.s, text.n);
    *to += text.n;
    return out;
}

static int by_key(const void *x, const void *y)
{
    const struct store_label *a = x, *b = y;

    return str_cmp(a->key, b->key);
}

/* NULL: no memory, or too much of it is in use. */
static struct pending *hold(struct archived *s, const struct store_put *put,
                            struct str bytes)
{
    size_t size = sizeof(struct pending) +
                  put->n_labels * sizeof(struct store_label) + put->service.n +
                  put->type.n + bytes.n;
    unsigned long long held; /* one alone may be larger than the limit */
    struct pending *p;
    char *to;

    for (size_t i = 0; i < put->n_labels; i++)
        size += put->labels[i].key.n + put->labels[i].value.n;
    held = atomic_fetch_add(&s->held_bytes, size);
    if ((held > 0 && held + size > s->memory_bytes) || !(p = malloc(size))) {
        atomic_fetch_sub(&s->held_bytes, size);
        return NULL;
    }
    *p = (struct pending){.store = s, .is_delta = put->is_delta, .size = size};
    to = (char *)&p->labels[put->n_labels];
    for (size_t i = 0; i < put->n_labels; i++)
        p->labels[i] = (struct store_label){copy(&to, put->labels[i].key),
                                            copy(&to, put->labels[i].value)};
    if (put->n_labels)
        qsort(p->labels, put->n_labels, sizeof(*p->labels), by_key);
    p->profile = (struct store_profile){.service = copy(&to, put->service),
                                        .type = copy(&to, put->type),
                                        .labels = p->labels,
                                        .n_labels = put->n_labels,
                                        .is_opaque = put->is_opaque};
    p->bytes = copy(&to, bytes);
    return p;
}

static void let_go(struct pending *p)
{
    atomic_fetch_sub(&p->store->held_bytes, p->size);
    free(p);
}

static void stored(void *arg, enum store_status status,
                   const struct store_receipt *receipt, const struct error *err)
{
    struct pending *p = arg;

    if (status == STORE_OK && !receipt->was_there) {
        p->profile.id = receipt->id;
        p->profile.created_at_ns = receipt->created_at_ns;
        archive_add(p->store->archive, &p->profile, p->is_delta, p->bytes);
    }
    p->done(p->arg, status, receipt, err);
    let_go(p);
}

static enum store_status put_held(struct archived *s,
                                  const struct store_put *put, struct str bytes,
                                  store_done *done, void *arg,
                                  struct error *err)
{
    struct pending *p = hold(s, put, bytes);
    enum store_status status;

    if (!p) {
        error_set(err, "too many profiles wait for the disk");
        return STORE_BUSY;
    }
    p->done = done;
    p->arg = arg;
    status = store_put(s->inner, put, stored, p, err);
    if (status != STORE_OK)
        let_go(p);
    return status;
}

/* Objects are gzipped, as their names say. */
static enum store_status archived_put(struct store *store,
                                      const struct store_put *put,
                                      store_done *done, void *arg,
                                      struct error *err)
{
    struct archived *s = (struct archived *)store;
    struct buf packed = BUF_INIT(put->bytes.n + 4096);
    struct str bytes = put->bytes;
    enum store_status status;
    struct error why;

    if (!put->is_opaque && !gzip_detect(bytes) &&
        gzip_deflate(bytes, &packed, &why))
        bytes = buf_str(&packed);
    status = put_held(s, put, bytes, done, arg, err);
    buf_release(&packed);
    return status;
}

/* --- the rest ------------------------------------------------------------- */

static enum store_status archived_get(struct store *s,
                                      const struct store_id *id,
                                      struct profile **out, struct error *err)
{
    return store_get(INNER(s), id, out, err);
}

static enum store_status archived_get_bytes(struct store *s,
                                            const struct store_id *id,
                                            struct buf *out, struct error *err)
{
    return store_get_bytes(INNER(s), id, out, err);
}

static enum store_status archived_describe(struct store *s,
                                           const struct store_id *id,
                                           store_each_profile *each, void *arg,
                                           struct error *err)
{
    return store_describe(INNER(s), id, each, arg, err);
}

static enum store_status
archived_list(struct store *s, const struct store_query *q,
              const struct store_page *page, const struct store_budget *budget,
              store_each_profile *each, void *arg,
              struct store_progress *progress, struct error *err)
{
    return store_list(INNER(s), q, page, budget, each, arg, progress, err);
}

static enum store_status
archived_merge(struct store *s, const struct store_query *q,
               enum store_values values, const struct store_budget *budget,
               struct profile **out, struct store_progress *progress,
               struct error *err)
{
    return store_merge(INNER(s), q, values, budget, out, progress, err);
}

static enum store_status
archived_series(struct store *s, const struct store_series *q,
                const struct store_budget *budget, store_each_point *each,
                void *arg, struct store_progress *progress, struct error *err)
{
    return store_series(INNER(s), q, budget, each, arg, progress, err);
}

static enum store_status
archived_function(struct store *s, const struct store_function *q,
                  const struct store_budget *budget,
                  store_each_function_point *each, void *arg,
                  struct store_progress *progress, struct error *err)
{
    return store_function(INNER(s), q, budget, each, arg, progress, err);
}

static enum store_status archived_services(struct store *s,
                                           const struct store_query *q,
                                           const struct store_budget *budget,
                                           store_each_count *each, void *arg,
                                           struct error *err)
{
    return store_services(INNER(s), q, budget, each, arg, err);
}

static enum store_status archived_label_names(struct store *s,
                                              const struct store_query *q,
                                              const struct store_budget *budget,
                                              store_each_count *each, void *arg,
                                              struct error *err)
{
    return store_label_names(INNER(s), q, budget, each, arg, err);
}

static enum store_status
archived_label_values(struct store *s, const struct store_query *q,
                      struct str key, const struct store_budget *budget,
                      store_each_count *each, void *arg, struct error *err)
{
    return store_label_values(INNER(s), q, key, budget, each, arg, err);
}

static enum store_status archived_version(struct store *s,
                                          const struct store_query *q,
                                          const struct store_budget *budget,
                                          struct store_version *out,
                                          struct error *err)
{
    return store_get_version(INNER(s), q, budget, out, err);
}

static uint64_t archived_changes(struct store *s, int64_t from_ns,
                                 int64_t to_ns)
{
    return store_changes(INNER(s), from_ns, to_ns);
}

static enum store_status
archived_export(struct store *s, const struct store_query *q,
                const struct store_budget *budget, store_each_export *each,
                void *arg, struct store_progress *progress, struct error *err)
{
    return store_export(INNER(s), q, budget, each, arg, progress, err);
}

static void archived_stats(struct store *s, struct store_stats *out)
{
    store_get_stats(INNER(s), out);
}

static enum store_status archived_usage(struct store *s, store_each_usage *each,
                                        void *arg, struct error *err)
{
    return store_get_usage(INNER(s), each, arg, err);
}

static void archived_close(struct store *store)
{
    struct archived *s = (struct archived *)store;

    store_close(s->inner);
    archive_free(s->archive, s->patience_ns);
    free(s);
}

static const struct store_ops ops = {
    .put = archived_put,
    .get = archived_get,
    .get_bytes = archived_get_bytes,
    .describe = archived_describe,
    .list = archived_list,
    .merge = archived_merge,
    .series = archived_series,
    .changes = archived_changes,
    .function = archived_function,
    .services = archived_services,
    .label_names = archived_label_names,
    .label_values = archived_label_values,
    .version = archived_version,
    .export_all = archived_export,
    .stats = archived_stats,
    .usage = archived_usage,
    .close = archived_close,
};

struct store *archived_store_new(struct store *inner, struct archive *archive,
                                 uint64_t memory_bytes, int64_t patience_ns)
{
    struct archived *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->base.ops = &ops;
    s->inner = inner;
    s->archive = archive;
    s->memory_bytes = memory_bytes;
    s->patience_ns = patience_ns;
    return &s->base;
}

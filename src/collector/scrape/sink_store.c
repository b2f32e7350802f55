#include "collector/scrape/sink_store.h"

#include "base/log.h"
#include "profile/encode.h"
#include "profile/read.h"

#define KEPT_MAX ((size_t)64 << 20)

static void stored(void *arg, enum store_status status,
                   const struct store_receipt *receipt, const struct error *err)
{
    struct sink_store *sink = arg;

    (void)receipt;
    if (status == STORE_OK)
        return;
    if (atomic_fetch_add(&sink->failed, 1) == 0)
        log_error("a scraped profile could not be written", log_failure(err));
}

static enum scrape_reason reason_of(enum store_status status)
{
    switch (status) {
    case STORE_OK:
        return SCRAPE_OK;
    case STORE_INVALID:
        return SCRAPE_INVALID;
    case STORE_TOO_LARGE:
        return SCRAPE_TOO_LARGE;
    default:
        return SCRAPE_STORE;
    }
}

/* --- sample types --------------------------------------------------------- */

static bool is_kept(const struct profile *p, size_t column,
                    const struct keys_sample_type *keep, size_t n)
{
    struct str type = profile_str(p, p->types.v[column].type);
    struct str unit = profile_str(p, p->types.v[column].unit);

    for (size_t i = 0; i < n; i++)
        if (str_eq(type, keep[i].type) &&
            (keep[i].unit.n == 0 || str_eq(unit, keep[i].unit)))
            return true;
    return false;
}

static void drop_columns(struct profile *p, const bool *kept, size_t n_kept)
{
    size_t columns = p->types.n, to = 0;

    for (size_t i = 0; i < p->n_samples; i++)
        for (size_t k = 0; k < columns; k++)
            if (kept[k])
                p->values[to++] = p->values[i * columns + k];
    to = 0;
    for (size_t k = 0; k < columns; k++)
        if (kept[k])
            p->types.v[to++] = p->types.v[k];
    p->types.n = n_kept;
}

bool sink_keep_types(struct str bytes, const struct keys_sample_type *keep,
                     size_t n, struct buf *out, struct error *err)
{
    struct profile *p = profile_read_memory(bytes, NULL, err);
    size_t n_kept = 0;
    bool *kept;

    if (!p)
        return false;
    kept = arena_new_array(p->arena, bool, p->types.n);
    for (size_t i = 0; i < p->types.n; i++)
        n_kept += kept[i] = is_kept(p, i, keep, n);
    if (n_kept == 0) {
        profile_free(p);
        return error_set(err, "the profile has none of the sample types that "
                              "keep_sample_type names");
    }
    drop_columns(p, kept, n_kept);
    profile_encode(p, out);
    profile_free(p);
    return buf_ok(out) || error_set(err, "the profile is too large");
}

/* --- delivery ------------------------------------------------------------- */

static enum scrape_reason put(struct sink_store *sink, const struct scraped *s,
                              struct str bytes, struct error *err)
{
    const struct label_set *labels = &s->target->labels;
    struct arena *a = arena_new();
    struct store_label *list =
        arena_new_array(a, struct store_label, labels->n);
    struct store_put put = {.service = s->target->service,
                            .type = s->profile->kind.type,
                            .labels = list,
                            .n_labels = labels->n,
                            .bytes = bytes,
                            .is_opaque = s->profile->kind.is_opaque,
                            .is_delta = s->is_delta,
                            .allow_empty = true};
    enum store_status status;

    for (size_t i = 0; i < labels->n; i++)
        list[i] = (struct store_label){labels->v[i].name, labels->v[i].value};
    status = store_put(sink->store, &put, stored, sink, err);
    if (status == STORE_INVALID)
        error_wrap(err, "what the target sent is not a profile");
    arena_free(a);
    return reason_of(status);
}

enum scrape_reason sink_store_deliver(void *arg, const struct scraped *s,
                                      struct error *err)
{
    struct buf kept = BUF_INIT(KEPT_MAX);
    enum scrape_reason reason = SCRAPE_INVALID;

    if (s->profile->n_keep == 0)
        return put(arg, s, s->bytes, err);
    if (sink_keep_types(s->bytes, s->profile->keep, s->profile->n_keep, &kept,
                        err))
        reason = put(arg, s, buf_str(&kept), err);
    buf_release(&kept);
    return reason;
}

/*
 * Reading what a put brings.  Inflating and reading happen outside any lock,
 * into buffers that are used again.
 */
#include "store/put_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/gzip.h"
#include "base/memory_scope.h"
#include "profile/read.h"
#include "store/grow.h"
#include "store/pack.h"

enum {
    SMALL_BYTES = 2 << 20, /* inflated; of larger profiles few are read at a
                              time, because each may need a lot of memory */
};

static enum store_status no_memory(struct error *err)
{
    error_set(err, "out of memory");
    return STORE_FAILED;
}

int64_t put_now(const struct store_options *o)
{
    return o->now_ns ? o->now_ns() : clock_realtime_ns();
}

struct scratch *scratch_new(void)
{
    struct scratch *c = calloc(1, sizeof(*c));

    if (c)
        c->row.max = c->in.inflated.max = STORE_BUF_BYTES;
    return c;
}

void scratch_free(struct scratch *c)
{
    intake_release(&c->in);
    interner_release(&c->intern);
    row_samples_release(&c->before);
    buf_release(&c->row);
    free(c->labels);
    free(c);
}

/*
 * Reading.
 */

static struct profile_limits limits_of(const struct store_options *o)
{
    return (struct profile_limits){
        .input_bytes = o->body_bytes,
        .inflated_bytes = o->inflated_bytes,
        .samples = o->max_samples,
        .string_bytes = o->inflated_bytes,
        .stack_depth = o->max_depth,
        .records = o->inflated_bytes / 8,
    };
}

/* Enters the few that may be large. */
static enum store_status become_large(const struct put_bounds *s,
                                      struct scratch *c, struct error *err)
{
    if (!c->is_large &&
        atomic_fetch_add(s->large_puts, 1) >= (int)s->opt->large_puts) {
        atomic_fetch_sub(s->large_puts, 1);
        error_set(err, "too many large profiles are being read; try again");
        return STORE_BUSY;
    }
    c->is_large = true;
    return STORE_OK;
}

static bool inflate_within(struct scratch *c, struct str bytes, size_t max,
                           bool *too_large, struct error *err)
{
    struct buf *out = &c->in.inflated;

    buf_clear(out);
    out->max = max;
    if (gzip_inflate(bytes, out, err))
        return true;
    /* The only words of gzip_inflate() that are about our limit. */
    *too_large =
        str_has_prefix(str_from(err->text), STR("more than the limit"));
    return false;
}

static enum store_status inflate(const struct put_bounds *s, struct scratch *c,
                                 struct str *bytes, struct error *err)
{
    size_t max = s->opt->inflated_bytes;
    size_t small = max < SMALL_BYTES ? max : SMALL_BYTES;
    bool too_large = false, ok;

    if (!gzip_detect(*bytes))
        return bytes->n > SMALL_BYTES ? become_large(s, c, err) : STORE_OK;
    ok = inflate_within(c, *bytes, small, &too_large, err);
    if (!ok && too_large && small < max) {
        enum store_status status = become_large(s, c, err);

        if (status != STORE_OK)
            return status;
        ok = inflate_within(c, *bytes, max, &too_large, err);
    }
    if (ok) {
        *bytes = buf_str(&c->in.inflated);
        return STORE_OK;
    }
    error_wrap(err, "decompressing profile");
    return too_large ? STORE_TOO_LARGE : STORE_INVALID;
}

struct model_read {
    struct str bytes;
    struct profile_limits limits;
    struct profile *p;
    struct error *err;
};

static void read_model(void *arg)
{
    struct model_read *r = arg;

    r->p = profile_read_memory(r->bytes, &r->limits, r->err);
}

/* Formats other than a plain profile.proto go through the model. */
static enum store_status read_other(const struct put_bounds *s,
                                    struct scratch *c, struct str bytes,
                                    struct error *err)
{
    struct model_read r = {
        .bytes = bytes, .limits = limits_of(s->opt), .err = err};
    size_t frames;

    r.limits.input_bytes = s->opt->inflated_bytes;
    if (!memory_scope_run(MEMORY_UNLIMITED, read_model, &r, err))
        return STORE_TOO_LARGE;
    c->model = r.p;
    if (!c->model)
        return STORE_INVALID;
    frames = c->model->loc_start[c->model->n_samples];
    if (frames > s->opt->max_nodes) {
        error_set(err, "%zu frames in all, the limit is %zu", frames,
                  s->opt->max_nodes);
        return STORE_TOO_LARGE;
    }
    return intake_profile(&c->in, c->model) ? STORE_OK : no_memory(err);
}

enum store_status put_read(const struct put_bounds *s,
                           const struct store_put *put, struct scratch *c,
                           struct error *err)
{
    struct intake_bounds bounds = {s->opt->max_samples, s->opt->max_depth,
                                   s->opt->max_nodes,
                                   limits_of(s->opt).records};
    struct str bytes = put->bytes;
    enum store_status status = inflate(s, c, &bytes, err);

    if (status != STORE_OK)
        return status;
    switch (intake_read(&c->in, bytes, &bounds, err)) {
    case INTAKE_OK:
        break;
    case INTAKE_TOO_LARGE:
        return STORE_TOO_LARGE;
    case INTAKE_NO_MEMORY:
        return STORE_FAILED;
    case INTAKE_OTHER:
        status = read_other(s, c, bytes, err);
        if (status != STORE_OK)
            return status;
    }
    if (c->in.samples.n == 0 && !put->allow_empty) {
        error_set(err, "profile is empty: no samples");
        return STORE_INVALID;
    }
    return STORE_OK;
}

/*
 * Description.
 */

enum store_status put_check(const struct put_bounds *s,
                            const struct store_put *put, struct error *err)
{
    size_t bytes = put->service.n + put->type.n;

    if (put->service.n == 0 || put->type.n == 0) {
        error_set(err, put->service.n ? "missing type" : "missing service");
        return STORE_INVALID;
    }
    for (size_t i = 0; i < put->n_labels; i++)
        bytes += put->labels[i].key.n + put->labels[i].value.n;
    if (put->n_labels > s->opt->max_labels || bytes > s->opt->max_label_bytes) {
        error_set(err,
                  "%zu labels, %zu bytes with service and type; the limits "
                  "are %zu labels and %zu bytes",
                  put->n_labels, bytes, s->opt->max_labels,
                  s->opt->max_label_bytes);
        return STORE_TOO_LARGE;
    }
    if (put->bytes.n > s->opt->body_bytes) {
        error_set(err, "profile of %zu bytes, the limit is %zu", put->bytes.n,
                  s->opt->body_bytes);
        return STORE_TOO_LARGE;
    }
    return STORE_OK;
}

bool put_sort_labels(struct scratch *c, const struct store_put *put)
{
    if (!grow(&c->labels, &c->labels_cap, put->n_labels))
        return false;
    for (size_t i = 0; i < put->n_labels; i++) {
        struct store_label label = put->labels[i];
        size_t at = i;

        for (; at && str_cmp(c->labels[at - 1].key, label.key) > 0; at--)
            c->labels[at] = c->labels[at - 1];
        c->labels[at] = label;
    }
    return true;
}

int64_t put_created_at(const struct put_bounds *s, const struct store_put *put,
                       const struct intake *in)
{
    int64_t own = put->is_opaque ? 0 : in->time_ns;

    if (put->created_at_ns && (put->created_at_wins || own <= 0))
        return put->created_at_ns;
    return own > 0 ? own : put_now(s->opt);
}

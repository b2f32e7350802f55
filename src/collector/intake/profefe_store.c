/*
 * The request's texts live in the call's arena, which ends with the handler;
 * what the reply needs after the commit is written down before: the reply
 * itself but for the id and the time, which the store decides.
 */
#include "collector/intake/profefe_store.h"

#include "base/time_text.h"
#include "collector/call.h"
#include "collector/context.h"
#include "collector/intake/label_text.h"
#include "collector/profefe_reply.h"
#include "collector/profile_type.h"

/* A profile on its way to the disk.  Freed when the exchange is released. */
struct pending {
    struct call call; /* its arena is this one's */
    struct store_profile reply;
};

static void release(void *data)
{
    struct pending *p = data;

    arena_free(p->call.arena);
}

static void stored(void *arg, enum store_status status,
                   const struct store_receipt *receipt, const struct error *err)
{
    struct pending *p = arg;
    struct http_exchange *x = p->call.x;

    if (status == STORE_OK) {
        p->reply.id = receipt->id;
        p->reply.created_at_ns = receipt->created_at_ns;
        buf_add(&x->body, STR("{\"code\":200,\"body\":"));
        profefe_add_profile(&x->body, &p->reply);
        buf_add(&x->body, STR("}\n"));
        call_json(&p->call);
    } else {
        call_fail_store(&p->call, status, NULL, err);
    }
    call_finish(&p->call);
}

static bool read_put(struct call *c, struct store_put *out)
{
    struct str label_text = call_param(c, STR("labels"));
    struct str created = call_param(c, STR("created_at"));
    struct labels labels;
    struct error err;

    *out = (struct store_put){.service = call_param(c, STR("service")),
                              .type = str_trim(call_param(c, STR("type"))),
                              .bytes = c->x->request->body};
    if (out->service.n == 0) {
        call_fail(c, 400, "bad request: missing \"service\"");
        return false;
    }
    if (!call_may(c, HTTP_MAY_WRITE, out->service))
        return false;
    if (!labels_parse(&labels, c->arena, label_text, &err)) {
        call_fail(c, 400, "bad request: bad \"labels\" \"%" STR_FMT "\": %s",
                  STR_ARG(label_text), err.text);
        return false;
    }
    if (created.n > 0 &&
        !time_parse_profefe(created, &out->created_at_ns, &err)) {
        call_fail(c, 400,
                  "bad request: bad \"created_at\" \"%" STR_FMT "\": %s",
                  STR_ARG(created), err.text);
        return false;
    }
    if (!profile_type_is_valid(out->type)) {
        call_fail(c, 400, "bad request: unknown profile type");
        return false;
    }
    out->labels = labels.v;
    out->n_labels = labels.n;
    out->is_opaque = profile_type_is_opaque(out->type);
    out->is_delta = str_eq(call_param(c, STR("delta")), STR("true"));
    return true;
}

void profefe_store(void *request)
{
    struct call *c = request;
    struct store_put put;
    struct pending *p;
    struct error err;
    enum store_status status;

    if (!read_put(c, &put))
        return;
    p = arena_alloc(c->arena, sizeof(*p));
    *p = (struct pending){.call = *c,
                          .reply = {.service = put.service,
                                    .type = put.type,
                                    .labels = put.labels,
                                    .n_labels = put.n_labels}};
    call_defer(c, release, p);
    /* Once it is queued, the commit may end the exchange and free `p`. */
    status = store_put(c->collector->options.store, &put, stored, p, &err);
    if (status == STORE_OK)
        return;
    if (status == STORE_INVALID)
        call_fail(&p->call, 400,
                  "malformed profile (could not parse pprof profile: %s)",
                  err.text);
    else
        call_fail_store(&p->call, status, NULL, &err);
    call_finish(&p->call);
}

/*
 * pprofd profiles itself with the public library and not with what is behind
 * it: what works here works in every program that mounts the handler.
 */
#include "cmd/pprofd/self_profile.h"

#include <pprof/pprof.h>

#include "base/arena.h"

static void set_status(void *arg, int status)
{
    ((struct http_exchange *)arg)->status = status;
}

static void add_header(void *arg, const char *name, const char *value)
{
    http_exchange_header(arg, name, str_from(value));
}

static void add_body(void *arg, const void *data, size_t bytes)
{
    buf_add_bytes(&((struct http_exchange *)arg)->body, data, bytes);
}

static int has_gone(void *arg)
{
    return !http_exchange_wait(arg, 0);
}

void self_profile(struct http_exchange *x)
{
    struct arena *a = arena_new();
    const struct http_request *r = x->request;
    struct pprof_request request = {
        .size = sizeof(request),
        .method = arena_cstr(a, r->method),
        .path = arena_cstr(a, r->path),
        .query = arena_cstr(a, r->query),
        .body = r->body.s,
        .body_bytes = r->body.n,
    };
    struct pprof_response response = {.size = sizeof(response),
                                      .arg = x,
                                      .status = set_status,
                                      .header = add_header,
                                      .body = add_body,
                                      .is_gone = has_gone};

    if (pprof_handle(&request, &response) != 0)
        http_exchange_refuse(x, 500, pprof_last_error());
    arena_free(a);
}

/* --- without a request ---------------------------------------------------- */

struct own {
    struct buf *body;
    int status;
    int (*is_gone)(void *arg);
    void *arg;
};

static void own_status(void *arg, int status)
{
    ((struct own *)arg)->status = status;
}

static void own_header(void *arg, const char *name, const char *value)
{
    (void)arg, (void)name, (void)value;
}

static void own_body(void *arg, const void *data, size_t bytes)
{
    buf_add_bytes(((struct own *)arg)->body, data, bytes);
}

static int own_is_gone(void *arg)
{
    struct own *o = arg;

    return o->is_gone(o->arg);
}

int self_profile_get(const char *path, const char *query, struct buf *body,
                     int (*is_gone)(void *arg), void *arg)
{
    struct own own = {
        .body = body, .status = 200, .is_gone = is_gone, .arg = arg};
    struct pprof_request request = {.size = sizeof(request),
                                    .method = "GET",
                                    .path = path,
                                    .query = query,
                                    .body = ""};
    struct pprof_response response = {.size = sizeof(response),
                                      .arg = &own,
                                      .status = own_status,
                                      .header = own_header,
                                      .body = own_body,
                                      .is_gone = own_is_gone};

    return pprof_handle(&request, &response) == 0 ? own.status : 500;
}

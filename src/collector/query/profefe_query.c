/*
 * Parameters are checked in profefe's order, so that a request with several
 * mistakes gets the same message.
 */
#include "collector/query/profefe_query.h"

#include <inttypes.h>

#include "base/goparse.h"
#include "base/percent.h"
#include "base/time_text.h"
#include "collector/call.h"
#include "collector/context.h"
#include "collector/go_json.h"
#include "collector/intake/label_text.h"
#include "collector/profefe_reply.h"
#include "collector/profile_type.h"
#include "profile/compatible.h"
#include "profile/merge.h"

/* Ids that one request may name. */
#define MAX_IDS 1000

/* A selection as profefe's parameters describe it. */
struct selection {
    struct store_matcher *matchers; /* service, labels, type */
    struct store_query query;
    struct str type; /* "": any */
    int64_t limit;   /* 0: none */
};

/* --- parameters ----------------------------------------------------------- */

static bool read_time(struct call *c, const char *name, int64_t *out)
{
    struct str text = call_param(c, str_from(name));
    struct error err;

    if (text.n == 0) {
        call_fail(c, 400, "bad request: missing \"%s\"", name);
        return false;
    }
    if (!time_parse_profefe(text, out, &err)) {
        call_fail(c, 400,
                  "bad request: bad \"%s\" timestamp \"%" STR_FMT "\": %s",
                  name, STR_ARG(text), err.text);
        return false;
    }
    return true;
}

static bool read_limit(struct call *c, int64_t *out)
{
    struct str text = call_param(c, STR("limit"));
    enum goparse result = GOPARSE_OK;

    *out = 0;
    if (text.n > 0)
        result = goparse_int(text, 10, 64, out);
    if (result != GOPARSE_OK) {
        call_fail(c, 400,
                  "bad request: bad \"limit\" \"%" STR_FMT
                  "\": strconv.Atoi: parsing \"%" STR_FMT "\": %s",
                  STR_ARG(text), STR_ARG(text), goparse_reason(result));
        return false;
    }
    if (*out < 0)
        *out = 0;
    return true;
}

static bool check_order(struct call *c, int64_t from, int64_t to)
{
    struct buf a = arena_buf(c->arena), b = arena_buf(c->arena);

    if (from <= to)
        return true;
    time_add_go(&a, from);
    time_add_go(&b, to);
    call_fail(c, 400, "bad request: CreatedAtMin after CreatedAtMax: %s, %s",
              buf_cstr(&a), buf_cstr(&b));
    return false;
}

static void add_matcher(struct selection *s, enum store_field field,
                        struct str key, struct str value)
{
    s->matchers[s->query.n_matchers++] = (struct store_matcher){
        .field = field, .op = STORE_EQUAL, .key = key, .value = value};
}

static bool read_selection(struct call *c, struct selection *out)
{
    struct str service = call_param(c, STR("service"));
    struct str label_text = call_param(c, STR("labels"));
    struct labels labels;
    struct error err;

    *out = (struct selection){0};
    if (service.n == 0) {
        call_fail(c, 400, "bad request: missing \"service\"");
        return false;
    }
    if (!call_may(c, HTTP_MAY_READ, service))
        return false;
    if (!labels_parse(&labels, c->arena, label_text, &err)) {
        call_fail(c, 400, "bad request: bad \"labels\" \"%" STR_FMT "\": %s",
                  STR_ARG(label_text), err.text);
        return false;
    }
    if (!read_time(c, "from", &out->query.from_ns) ||
        !read_time(c, "to", &out->query.to_ns) || !read_limit(c, &out->limit) ||
        !check_order(c, out->query.from_ns, out->query.to_ns))
        return false;
    out->matchers =
        arena_new_array(c->arena, struct store_matcher, labels.n + 2);
    out->query.matchers = out->matchers;
    add_matcher(out, STORE_SERVICE, STR(""), service);
    for (size_t i = 0; i < labels.n; i++)
        add_matcher(out, STORE_LABEL, labels.v[i].key, labels.v[i].value);
    out->type = str_trim(call_param(c, STR("type")));
    if (!profile_type_is_valid(out->type))
        out->type = STR("");
    if (out->type.n > 0)
        add_matcher(out, STORE_TYPE, STR(""), out->type);
    return true;
}

/* --- list ----------------------------------------------------------------- */

static bool add_to_list(void *arg, const struct store_profile *p)
{
    struct buf *out = arg;

    if (out->data[out->len - 1] != '[')
        buf_add_char(out, ',');
    profefe_add_profile(out, p);
    return buf_ok(out);
}

/* With a limit the newest count; the original lists them oldest first, so
 * the time of the oldest among them is found first. */
struct oldest {
    struct store_id id;
    int64_t ns;
    bool found;
};

static bool note_oldest(void *arg, const struct store_profile *p)
{
    *(struct oldest *)arg = (struct oldest){p->id, p->created_at_ns, true};
    return true;
}

static enum store_status newest_only(struct call *c, struct selection *s,
                                     const struct store_budget *budget,
                                     struct store_progress *progress,
                                     struct error *err)
{
    struct store_page page = {.limit = (size_t)s->limit, .newest_first = true};
    struct oldest oldest = {.found = false};
    enum store_status status =
        store_list(c->collector->options.store, &s->query, &page, budget,
                   note_oldest, &oldest, progress, err);

    if (status == STORE_OK && !oldest.found)
        return STORE_NOT_FOUND;
    if (status == STORE_OK)
        s->query.from_ns = oldest.ns;
    return status;
}

/* Profiles that arrive between the two steps, or share the oldest one's
 * nanosecond, would exceed the limit. */
struct limited_list {
    struct buf *out;
    int64_t left;
};

static bool add_within_limit(void *arg, const struct store_profile *p)
{
    struct limited_list *list = arg;

    return list->left-- > 0 && add_to_list(list->out, p);
}

void profefe_list(void *request)
{
    struct call *c = request;
    struct store_budget budget = call_budget(c);
    struct store_page page = {0};
    struct store_progress progress = {0};
    struct limited_list list = {&c->x->body, INT64_MAX};
    struct selection s;
    struct error err;
    enum store_status status = STORE_OK;

    if (!read_selection(c, &s))
        return;
    if (s.limit > 0) {
        list.left = s.limit;
        status = newest_only(c, &s, &budget, &progress, &err);
    }
    buf_add(list.out, STR("{\"code\":200,\"body\":["));
    if (status == STORE_OK)
        status = store_list(c->collector->options.store, &s.query, &page,
                            &budget, add_within_limit, &list, &progress, &err);
    if (status == STORE_OK && list.out->data[list.out->len - 1] == '[')
        status = STORE_NOT_FOUND;
    buf_add(list.out, STR("]}\n"));
    if (status != STORE_OK)
        call_fail_store(c, status, &progress, &err);
    else
        call_json(c);
}

/* --- merge ---------------------------------------------------------------- */

void profefe_merge(void *request)
{
    struct call *c = request;
    struct store_budget budget = call_budget(c);
    struct store_progress progress = {0};
    struct profile *merged;
    struct selection s;
    struct error err;
    enum store_status status = STORE_OK;

    if (!read_selection(c, &s))
        return;
    if (s.type.n == 0 || profile_type_is_opaque(s.type)) {
        call_fail(c, 405, "can't merge profiles of %s type",
                  s.type.n == 0 ? "unknown" : "trace");
        return;
    }
    if (s.limit > 0)
        status = newest_only(c, &s, &budget, &progress, &err);
    if (status == STORE_OK)
        status = store_merge(c->collector->options.store, &s.query,
                             STORE_AS_SENT, &budget, &merged, &progress, &err);
    if (status != STORE_OK)
        call_fail_store(c, status, &progress, &err);
    else
        call_send_profile(c, merged, s.type);
}

/* --- by id ---------------------------------------------------------------- */

static bool note_service(void *arg, const struct store_profile *p)
{
    struct call *c = arg;

    c->rest = arena_str(c->arena, p->service);
    return true;
}

/* False after the call has been answered; a profile that does not exist may
 * be read. */
static bool may_read(struct call *c, const struct store_id *id)
{
    struct error err;

    if (c->x->identity.services[0] == '\0' ||
        store_describe(c->collector->options.store, id, note_service, c,
                       &err) != STORE_OK)
        return true;
    return call_may(c, HTTP_MAY_READ, c->rest);
}

static void send_one(struct call *c, const struct store_id *id, struct str name)
{
    struct error err;
    enum store_status status =
        store_get_bytes(c->collector->options.store, id, &c->x->body, &err);

    if (status == STORE_OK)
        call_attachment(c, name);
    else
        call_fail_store(c, status, NULL, &err);
}

/* Adds the profile with this id to the sum; unknown ones are skipped. */
static enum store_status add_profile(struct call *c, const struct store_id *id,
                                     struct profile **sum, struct error *err)
{
    struct profile *pair[2] = {*sum, NULL}, *merged;
    enum store_status status =
        store_get(c->collector->options.store, id, &pair[1], err);

    if (status == STORE_NOT_FOUND)
        return STORE_OK;
    if (status != STORE_OK)
        return status;
    if (!*sum) {
        *sum = pair[1];
        return STORE_OK;
    }
    merged = profile_make_compatible(pair, 2, err) ? profile_merge(pair, 2, err)
                                                   : NULL;
    profile_free(pair[0]);
    profile_free(pair[1]);
    *sum = merged;
    return merged ? STORE_OK : STORE_INVALID;
}

static void send_sum(struct call *c, const struct store_id *ids, size_t n,
                     struct str name)
{
    struct profile *sum = NULL;
    enum store_status status = STORE_OK;
    struct error err;

    for (size_t i = 0; i < n && status == STORE_OK; i++)
        status = add_profile(c, &ids[i], &sum, &err);
    if (status == STORE_OK && !sum)
        status = STORE_NOT_FOUND;
    if (status != STORE_OK)
        call_fail_store(c, status, NULL, &err);
    else
        call_send_profile(c, sum, name);
}

static struct str trim_slashes(struct str s)
{
    while (s.n > 0 && s.s[0] == '/')
        s = str_skip(s, 1);
    while (s.n > 0 && s.s[s.n - 1] == '/')
        s = str_first(s, s.n - 1);
    return s;
}

/* The path is decoded twice: once as a URL, once more as in the original,
 * whose words for a bad escape quote the text in between. */
static bool decode(struct call *c, struct str text, struct str *out)
{
    for (int i = 0; i < 2; i++) {
        char *bytes = arena_alloc(c->arena, text.n + 1);
        ptrdiff_t n = percent_decode(text, false, bytes);

        if (n < 0) {
            call_fail(c, 400, "invalid URL escape \"%" STR_FMT "\"",
                      STR_ARG(text));
            return false;
        }
        text = str_of(bytes, (size_t)n);
    }
    *out = trim_slashes(text);
    return true;
}

void profefe_get(void *request)
{
    struct call *c = request;
    struct store_id *found;
    struct str name, rest, id;
    size_t n = 0;

    if (!decode(c, c->rest, &name))
        return;
    found = arena_new_array(c->arena, struct store_id, MAX_IDS);
    for (rest = name; str_split(&rest, '+', &id);) {
        if (n == MAX_IDS) {
            call_fail(c, 400, "more than %d ids", MAX_IDS);
            return;
        }
        if (!store_id_parse(id, &found[n++])) {
            call_fail(c, 404, "nothing found");
            return;
        }
    }
    for (size_t i = 0; i < n; i++)
        if (!may_read(c, &found[i]))
            return;
    if (n == 1)
        send_one(c, &found[0], name);
    else
        send_sum(c, found, n, name);
}

/* --- services and version ------------------------------------------------- */

struct service_list {
    struct buf *out;
    struct buf last; /* the service listed last: each has a row per type */
    size_t n;
};

static bool add_service(void *arg, const struct store_count *count)
{
    struct service_list *list = arg;

    if (list->n > 0 && str_eq(buf_str(&list->last), count->text))
        return true;
    buf_clear(&list->last);
    buf_add(&list->last, count->text);
    if (list->n++ > 0)
        buf_add_char(list->out, ',');
    go_json_string(list->out, count->text);
    return buf_ok(list->out);
}

void profefe_services(void *request)
{
    struct call *c = request;
    struct service_list list = {&c->x->body, arena_buf(c->arena), 0};
    struct store_matcher restriction;
    struct store_query all = {.matchers = &restriction,
                              .n_matchers = call_restriction(c, &restriction),
                              .from_ns = INT64_MIN,
                              .to_ns = INT64_MAX};
    struct store_budget budget = call_budget(c);
    struct error err;
    enum store_status status;

    buf_add(list.out, STR("{\"code\":200,\"body\":["));
    status = store_services(c->collector->options.store, &all, &budget,
                            add_service, &list, &err);
    buf_add(list.out, STR("]}\n"));
    if (status == STORE_OK && list.n == 0)
        status = STORE_NOT_FOUND;
    if (status != STORE_OK)
        call_fail_store(c, status, NULL, &err);
    else
        call_json(c);
}

void profefe_version(void *request)
{
    struct call *c = request;
    buf_add(&c->x->body, STR("{\"code\":200,\"body\":{\"version\":"));
    go_json_string(&c->x->body, str_from(c->collector->options.version));
    buf_add(&c->x->body, STR(",\"commit\":\"\",\"build_time\":\"\","
                             "\"go_version\":\"\"}}\n"));
    call_json(c);
}

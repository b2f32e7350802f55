/*
 * Everything that reads a reply of ClickHouse, behind a server that answers
 * what it likes.  The first byte is the question; then come the replies, each
 * behind its length in two bytes.  A reply that begins with "Code: " is an
 * exception.
 */
#include <stdlib.h>

#include "profile/check.h"
#include "store/clickhouse/attempt.h"
#include "store/clickhouse/engine.h"
#include "store/clickhouse/refusal.h"
#include "store/read/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct str replies;

/* In place of a request (-Wl,--wrap). */
enum store_status __wrap_ch_run(struct ch_client *c, struct ch_request *r,
                                struct error *err);

enum store_status __wrap_ch_run(struct ch_client *c, struct ch_request *r,
                                struct error *err)
{
    struct str reply = STR("");
    size_t n;

    (void)c;
    if (replies.n >= 2) {
        n = (unsigned char)replies.s[0] | (size_t)(unsigned char)replies.s[1]
                                              << 8;
        replies = str_skip(replies, 2);
        reply = str_first(replies, n < replies.n ? n : replies.n);
        replies = str_skip(replies, reply.n);
    }
    if (str_has_prefix(reply, STR("Code: "))) {
        struct refusal refusal = refusal_read(reply, 500);

        refusal_describe(&refusal, reply, "http://host:8123/", err);
        r->code = refusal.code;
        return refusal.status;
    }
    if (r->out)
        buf_add(r->out, reply);
    return STORE_OK;
}

static bool take_profile(void *arg, const struct store_profile *p)
{
    (void)arg;
    return p->n_labels < 1000;
}

static bool take_point(void *arg, const struct store_point *p)
{
    (void)arg;
    return p->group.n < 100000;
}

static bool take_function(void *arg, const struct store_function_point *p)
{
    (void)arg;
    return p->profiles < UINT64_MAX;
}

static bool take_count(void *arg, const struct store_count *c)
{
    (void)arg;
    return c->profiles < UINT64_MAX;
}

static bool take_usage(void *arg, const struct store_usage *u)
{
    (void)arg;
    return u->profiles < UINT64_MAX;
}

static bool is_name(void *arg, struct str value)
{
    (void)arg;
    return value.n > 0;
}

/* A profile that came out has to be one. */
static void check(enum store_status status, struct profile **p)
{
    struct error err;

    if (status == STORE_OK && !profile_check(*p, &err))
        abort();
    if (status == STORE_OK)
        profile_free(*p);
}

static void ask(struct store *s, unsigned question)
{
    const struct store_matcher matcher = {.field = STORE_SERVICE,
                                          .op = STORE_MATCH,
                                          .value = STR(".+"),
                                          .matches = is_name};
    const struct store_query q = {.matchers = &matcher,
                                  .n_matchers = question / 16 % 2,
                                  .to_ns = 1 << 30};
    const struct store_budget budget = {.profiles = 1000, .bytes = 1 << 20};
    enum store_values values =
        question / 32 % 2 ? STORE_CHANGES : STORE_AS_SENT;
    struct store_id id = {{0}};
    struct profile *p = NULL;
    struct buf bytes = BUF_INIT((size_t)1 << 20);
    struct store_version version;
    struct error err;

    switch (question % 16) {
    case 0:
        check(engine_merge(s, &q, values, &budget, &p, NULL, &err), &p);
        break;
    case 1:
        engine_list(s, &q, &(struct store_page){.limit = 10}, &budget,
                    take_profile, NULL, NULL, &err);
        break;
    case 2:
        engine_series(s,
                      &(struct store_series){q, 1000, true, true, STR("k"),
                                             STR(""), values},
                      &budget, take_point, NULL, NULL, &err);
        break;
    case 3:
        engine_function(
            s, &(struct store_function){q, 1000, STR("main"), STR(""), values},
            &budget, take_function, NULL, NULL, &err);
        break;
    case 4:
        engine_services(s, &q, &budget, take_count, NULL, &err);
        break;
    case 5:
        engine_label_values(s, &q, STR("k"), &budget, take_count, NULL, &err);
        break;
    case 6:
        check(engine_get(s, &id, &p, &err), &p);
        break;
    case 7:
        engine_get_bytes(s, &id, &bytes, &err);
        break;
    case 8:
        engine_version(s, &q, &budget, &version, &err);
        break;
    default:
        ch_usage(s, take_usage, NULL, &err);
        break;
    }
    buf_release(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct scan_ops scans = {
        .run = ch_scan, .find = ch_find, .blob = ch_blob};
    static struct ch_client client = {.address.database = STR_INIT("db")};
    struct ch_store s = {.base = {.scans = &scans}, .client = &client};

    if (size == 0)
        return 0;
    atomic_store(&s.is_prepared, true);
    replies = str_of((const char *)data + 1, size - 1);
    ask(&s.base, data[0]);
    return 0;
}

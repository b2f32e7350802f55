/*
 * export and import: profiles as files, and from another collector.  Buckets
 * of an object store are in s3_transfer.c.
 *
 * An exported directory holds a file for each profile, and index.jsonl with a
 * line for each: id, service, type, labels and time.  Importing it again
 * keeps the ids, so that doing it twice stores nothing twice.  The index is
 * written last: a directory without one was not exported completely.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/percent.h"
#include "base/time_text.h"
#include "cmd/pprofd/import_sink.h"
#include "cmd/pprofd/open_store.h"
#include "cmd/pprofd/s3_place.h"
#include "cmd/pprofd/s3_transfer.h"
#include "cmd/pprofd/store_commands.h"
#include "config/document.h"
#include "fetch/http_fetch.h"

#define INDEX_NAME  "index.jsonl"
#define INDEX_MAX   ((size_t)1 << 30)
#define REMOTE_FROM "1970-01-01T00:00:00"
#define REMOTE_TO   "2262-01-01T00:00:00"
#define REMOTE_MAX  ((size_t)1 << 30)
#define TIMEOUT_NS  INT64_C(60000000000)

static int fail(const struct error *err)
{
    fprintf(stderr, "pprofd: %s\n", err->text);
    return 1;
}

/* --- export --------------------------------------------------------------- */

struct export
{
    const char *dir;
    struct buf index;
    uint64_t n;
    struct error *err;
    bool failed;
};

static void add_index_line(struct buf *out, const struct store_profile *p,
                           const char *id)
{
    struct json j = json_start(out, 0);
    struct buf time = BUF_INIT(64);

    time_add_rfc3339_nanos(&time, p->created_at_ns);
    json_open(&j, '{');
    json_key(&j, STR("id"));
    json_string(&j, str_from(id));
    json_key(&j, STR("service"));
    json_string(&j, p->service);
    json_key(&j, STR("type"));
    json_string(&j, p->type);
    json_key(&j, STR("created_at"));
    json_string(&j, buf_str(&time));
    json_key(&j, STR("opaque"));
    json_bool(&j, p->is_opaque);
    json_key(&j, STR("delta"));
    json_bool(&j, p->is_delta);
    json_key(&j, STR("labels"));
    json_open(&j, '[');
    for (size_t i = 0; i < p->n_labels; i++) {
        json_open(&j, '[');
        json_string(&j, p->labels[i].key);
        json_string(&j, p->labels[i].value);
        json_close(&j, ']');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    buf_add_char(out, '\n');
    buf_release(&time);
}

static bool export_one(void *arg, const struct store_profile *p,
                       struct str bytes)
{
    struct export *e = arg;
    char id[STORE_ID_TEXT + 1], path[4096];

    store_id_format(&p->id, id);
    snprintf(path, sizeof(path), "%s/%s.%s", e->dir, id,
             p->is_opaque ? "bin" : "pb.gz");
    if (!file_write(path, bytes, e->err)) {
        e->failed = true;
        return false;
    }
    add_index_line(&e->index, p, id);
    import_say_progress(++e->n, "exported");
    return true;
}

static bool export_all(struct store *store, const char *dir, struct error *err)
{
    struct store_query all = {.from_ns = INT64_MIN, .to_ns = INT64_MAX};
    struct export e = {.dir = dir, .index = BUF_INIT(INDEX_MAX), .err = err};
    char path[4096];
    bool ok = mkdir(dir, 0777) == 0 || errno == EEXIST ||
              error_set_os(err, "mkdir", dir, errno);

    ok = ok &&
         store_export(store, &all, NULL, export_one, &e, NULL, err) ==
             STORE_OK &&
         !e.failed;
    snprintf(path, sizeof(path), "%s/" INDEX_NAME, dir);
    ok = ok && (buf_ok(&e.index) || error_set(err, "the index is too large"));
    ok = ok && file_write(path, buf_str(&e.index), err);
    if (ok)
        printf("exported %" PRIu64 " profiles to %s\n", e.n, dir);
    buf_release(&e.index);
    return ok;
}

int export_command(int argc, char **argv)
{
    struct arena *a = arena_new();
    struct store *store = NULL;
    struct settings s;
    struct error err = {.text = ""};
    int rest;
    bool ok = settings_read(&s, a, argv, argc, &rest, &err);

    if (ok && rest + 1 != argc)
        ok = error_set(&err, "usage: pprofd export [--data DIR] "
                             "TO-DIRECTORY|s3://BUCKET/PREFIX");
    if (ok)
        store = open_existing_store(&s, a, &err);
    if (store && s3_is_place(str_from(argv[rest])))
        ok = s3_export(store, argv[rest], s.s3_endpoint, &err);
    else
        ok = store && export_all(store, argv[rest], &err);
    store_close(store);
    arena_free(a);
    return ok ? 0 : fail(&err);
}

/* --- import --------------------------------------------------------------- */

static bool read_labels(const struct node *list, struct arena *a,
                        struct store_put *out, struct error *err)
{
    struct store_label *labels =
        arena_new_array(a, struct store_label, list->n + 1);

    for (size_t i = 0; i < list->n; i++) {
        const struct node *pair = list->items[i];

        if (!node_is_list(pair, err))
            return false;
        if (pair->n != 2)
            return node_fail(pair, err, "must be a key and a value");
        labels[i] =
            (struct store_label){pair->items[0]->text, pair->items[1]->text};
    }
    out->labels = labels;
    out->n_labels = list->n;
    return true;
}

/* A line of the index. */
static bool read_line(struct arena *a, const char *name, struct str line,
                      struct store_put *out, struct store_id *id,
                      struct error *err)
{
    const struct node *labels = NULL;
    struct str time = {0}, id_text = {0};
    const struct node *root = document_read_json(
        a, (struct document_source){name, line}, &document_default_limits, err);

    if (!root || !node_text(root, "id", &id_text, err) ||
        !node_text(root, "service", &out->service, err) ||
        !node_text(root, "type", &out->type, err) ||
        !node_text(root, "created_at", &time, err) ||
        !node_bool(root, "opaque", &out->is_opaque, err) ||
        !node_bool(root, "delta", &out->is_delta, err) ||
        !node_list(root, "labels", &labels, err) ||
        (labels && !read_labels(labels, a, out, err)) ||
        !time_parse(time, 0, &out->created_at_ns, err))
        return false;
    if (!store_id_parse(id_text, id))
        return error_set(err, "%s: \"%" STR_FMT "\" is not an id", name,
                         STR_ARG(id_text));
    out->created_at_wins = true;
    out->allow_empty = true;
    out->id = id;
    return true;
}

static bool import_line(struct import *m, const char *dir, struct str line,
                        struct error *err)
{
    struct arena *a = arena_new();
    struct store_put p = {0};
    struct store_id id;
    char text[STORE_ID_TEXT + 1], path[4096];
    struct buf bytes = arena_buf(a);
    bool ok = read_line(a, INDEX_NAME, line, &p, &id, err);

    if (ok) {
        store_id_format(&id, text);
        snprintf(path, sizeof(path), "%s/%s.%s", dir, text,
                 p.is_opaque ? "bin" : "pb.gz");
        ok = file_read(path, &bytes, err);
    }
    if (ok) {
        p.bytes = buf_str(&bytes);
        import_put(m, &p, path);
    }
    arena_free(a);
    return ok;
}

static bool import_dir(struct import *m, const char *dir, struct error *err)
{
    struct buf index = BUF_INIT(INDEX_MAX);
    struct str rest, line;
    char path[4096];
    bool ok;

    snprintf(path, sizeof(path), "%s/" INDEX_NAME, dir);
    ok = file_read(path, &index, err);
    rest = buf_str(&index);
    while (ok && str_next_line(&rest, &line))
        ok = line.n == 0 || import_line(m, dir, line, err);
    buf_release(&index);
    return ok;
}

/* --- from a running collector --------------------------------------------- */

static bool fetch(struct str url, struct http_reply *reply, struct error *err)
{
    struct http_options options = {.timeout_ns = TIMEOUT_NS,
                                   .max_reply = REMOTE_MAX};

    if (!http_fetch(url, false, STR(""), &options, reply, err))
        return false;
    if (reply->status == 200)
        return true;
    http_error_words(reply, err);
    buf_release(&reply->body);
    return false;
}

/* The `body` of a reply of profefe's API; NULL and err, or *is_empty if the
 * collector has nothing. */
static const struct node *ask(struct arena *a, const char *url, bool *is_empty,
                              struct error *err)
{
    const struct document_limits limits = {
        .bytes = REMOTE_MAX, .nodes = 100000000, .depth = 16};
    struct http_reply reply = {0};
    const struct node *root, *body = NULL;

    *is_empty = false;
    if (!fetch(str_from(url), &reply, err)) {
        *is_empty = reply.status == 404;
        return NULL;
    }
    root = document_read_json(
        a, (struct document_source){url, buf_str(&reply.body)}, &limits, err);
    buf_release(&reply.body);
    return root && node_list(root, "body", &body, err) ? body : NULL;
}

static bool import_remote_profile(struct import *m, const char *base,
                                  const struct node *profile, struct error *err)
{
    struct arena *a = arena_new();
    const struct node *list = NULL;
    struct store_label *labels;
    struct store_put p = {.allow_empty = true};
    struct http_reply reply = {0};
    struct store_id id;
    struct str id_text = {0}, time = {0};
    char *url;
    bool ok = node_text(profile, "id", &id_text, err) &&
              node_text(profile, "service", &p.service, err) &&
              node_text(profile, "type", &p.type, err) &&
              node_text(profile, "created_at", &time, err) &&
              node_list(profile, "labels", &list, err) &&
              time_parse(time, 0, &p.created_at_ns, err);

    labels = arena_new_array(a, struct store_label, list ? list->n + 1 : 1);
    for (size_t i = 0; ok && list && i < list->n; i++) {
        ok = node_text(list->items[i], "key", &labels[i].key, err) &&
             node_text(list->items[i], "value", &labels[i].value, err);
        p.n_labels = i + 1;
    }
    p.labels = labels;
    p.is_opaque = str_eq(p.type, STR("trace"));
    p.id = store_id_parse(id_text, &id) ? &id : NULL;
    url =
        arena_printf(a, "%s/api/0/profiles/%" STR_FMT, base, STR_ARG(id_text));
    ok = ok && fetch(str_from(url), &reply, err);
    if (ok) {
        p.bytes = buf_str(&reply.body);
        import_put(m, &p, url);
        buf_release(&reply.body);
    }
    arena_free(a);
    return ok;
}

static bool import_service(struct import *m, const char *base,
                           struct str service, struct error *err)
{
    struct arena *a = arena_new();
    struct buf url = arena_buf(a);
    const struct node *profiles;
    bool is_empty, ok = true;

    buf_addf(&url,
             "%s/api/0/profiles?from=" REMOTE_FROM "&to=" REMOTE_TO "&service=",
             base);
    percent_encode(&url, service, "");
    profiles = ask(a, buf_cstr(&url), &is_empty, err);
    for (size_t i = 0; profiles && ok && i < profiles->n; i++)
        ok = import_remote_profile(m, base, profiles->items[i], err);
    arena_free(a);
    return profiles ? ok : is_empty;
}

static bool import_collector(struct import *m, const char *base,
                             struct error *err)
{
    struct arena *a = arena_new();
    const struct node *services;
    bool is_empty, ok = true;

    services =
        ask(a, arena_printf(a, "%s/api/0/services", base), &is_empty, err);
    for (size_t i = 0; services && ok && i < services->n; i++)
        ok = import_service(m, base, services->items[i]->text, err);
    arena_free(a);
    return services ? ok : is_empty;
}

int import_command(int argc, char **argv)
{
    struct import m = IMPORT_INIT;
    struct arena *a = arena_new();
    struct settings s;
    struct error err = {.text = ""};
    int rest;
    bool ok = settings_read(&s, a, argv, argc, &rest, &err);

    if (ok && rest == argc)
        ok = error_set(&err, "usage: pprofd import [--data DIR] "
                             "EXPORTED-DIRECTORY|s3://BUCKET/PREFIX|"
                             "http://COLLECTOR …");
    if (ok)
        m.store = open_kept_store(&s, a, &err);
    ok = m.store != NULL;
    for (int i = rest; ok && i < argc; i++)
        ok = s3_is_place(str_from(argv[i]))
                 ? s3_import(&m, argv[i], s.s3_endpoint, &err)
             : strstr(argv[i], "://") ? import_collector(&m, argv[i], &err)
                                      : import_dir(&m, argv[i], &err);
    store_close(m.store);
    if (m.taken + m.refused > 0)
        printf("imported %" PRIu64 " profiles (%" PRIu64
               " of them were there already), %" PRIu64 " were refused\n",
               m.taken, m.known, m.refused);
    arena_free(a);
    return !ok ? fail(&err) : m.refused > 0;
}

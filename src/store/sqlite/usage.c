/*
 * What uses the space: of sealed profiles from the indexes of the day files,
 * of the others from the open segments.  Those have no bytes in a day file
 * yet; theirs are the bytes of their rows, as the log has them.
 */
#include <stdlib.h>

#include "store/grow.h"
#include "store/pack.h"
#include "store/sqlite/scan.h"

struct uses {
    struct table keys; /* service and type */
    struct store_usage *v;
    size_t cap;
    struct buf key;
};

static struct store_usage *use_of(struct uses *k, struct str service,
                                  struct str type)
{
    size_t n = k->keys.n;
    uint32_t id;

    buf_clear(&k->key);
    pack_bytes(&k->key, service);
    pack_bytes(&k->key, type);
    if (!buf_ok(&k->key) || !table_intern(&k->keys, buf_str(&k->key), &id) ||
        !grow(&k->v, &k->cap, (size_t)id + 1))
        return NULL;
    if (id == n)
        k->v[id] = (struct store_usage){0};
    return &k->v[id];
}

/* service, type, profiles, posted, bytes, nodes, names; sums hold the same
 * profiles again */
static const char *const queries[] = {
    "SELECT service.name, series.type, total(n*(level=0)), "
    "total(posted*(level=0)), sum(bytes), 0, 0 FROM block JOIN series ON "
    "series.id=block.series JOIN service ON service.id=series.service "
    "GROUP BY 1, 2",
    "SELECT service.name, x'', 0, 0, sum(bytes), sum(nodes), sum(names) "
    "FROM segment JOIN service ON service.id=segment.service GROUP BY 1",
};

static bool add_rows(struct uses *k, sqlite3 *db, const char *sql,
                     struct error *err)
{
    sqlite3_stmt *st = db_prepare(db, sql, err);
    bool more, ok = st != NULL;

    while (ok && (ok = db_step(db, st, &more, "read", err)) && more) {
        struct store_usage *u =
            use_of(k, db_column_str(st, 0), db_column_str(st, 1));

        if (!u) {
            ok = error_set(err, "out of memory");
            break;
        }
        u->profiles += (uint64_t)sqlite3_column_int64(st, 2);
        u->posted_bytes += (uint64_t)sqlite3_column_int64(st, 3);
        u->stored_bytes += (uint64_t)sqlite3_column_int64(st, 4);
        u->stacks += (uint64_t)sqlite3_column_int64(st, 5);
        u->names += (uint64_t)sqlite3_column_int64(st, 6);
    }
    sqlite3_finalize(st);
    return ok;
}

static bool add_file(struct sqlite_store *s, struct uses *k, struct day *d,
                     struct error *err)
{
    struct day_conn *c = day_connect(s, d, err);
    bool ok = c != NULL;

    for (size_t i = 0; ok && i < sizeof(queries) / sizeof(*queries); i++)
        ok = add_rows(k, c->db, queries[i], err);
    if (c)
        day_disconnect(s, d, c);
    return ok;
}

struct open_uses {
    struct uses *k;
    struct buf labels; /* scratch */
    bool ok;
};

static bool add_open_row(struct open_uses *o, struct str service,
                         const struct open_segment *g,
                         const struct open_row *row, struct row_meta *m)
{
    struct wire_reader r =
        unpack_begin(str_of((const char *)row->bytes, row->meta_n));
    struct store_usage *u;
    struct str type;

    if (!row_meta_unpack(m, &r, &g->d) ||
        !series_text(&g->d, row->series, &type, &o->labels))
        return false;
    u = use_of(o->k, service, type);
    if (!u)
        return false;
    u->profiles += m->profiles;
    u->posted_bytes += m->posted_bytes;
    u->stored_bytes += (uint64_t)row->meta_n + row->before_n + row->samples_n;
    return true;
}

static bool add_open_dict(struct open_uses *o, struct str service,
                          const struct dict *d)
{
    struct store_usage *u = use_of(o->k, service, STR(""));

    if (!u)
        return false;
    u->stacks += d->n_nodes;
    u->names += d->tables[DICT_STRING].n;
    return true;
}

/* Only rows that are in the log and in no day file: not pending, not
 * failed. */
static bool add_segment(struct open_uses *o, struct str service,
                        const struct open_segment *g)
{
    struct row_meta m = {0};
    bool ok = true, any = false;

    for (size_t i = 0; ok && g && i < g->n_rows; i++)
        if (g->rows[i]->state == ROW_DONE) {
            ok = add_open_row(o, service, g, g->rows[i], &m);
            any = true;
        }
    row_meta_release(&m);
    return ok && (!any || add_open_dict(o, service, &g->d));
}

static bool add_open(struct service *v, void *arg)
{
    struct open_uses *o = arg;

    pthread_mutex_lock(&v->lock);
    o->ok =
        add_segment(o, v->name, v->sealing) && add_segment(o, v->name, v->open);
    pthread_mutex_unlock(&v->lock);
    return o->ok;
}

static bool add_all_open(struct sqlite_store *s, struct uses *k)
{
    struct open_uses o = {k, BUF_INIT(STORE_BUF_BYTES), true};

    service_each(s, add_open, &o);
    buf_release(&o.labels);
    return o.ok;
}

static void hand_out(struct uses *k, store_each_usage *each, void *arg)
{
    for (uint32_t i = 0; i < k->keys.n; i++) {
        struct wire_reader r = unpack_begin(table_get(&k->keys, i));

        if (!unpack_bytes(&r, &k->v[i].service) ||
            !unpack_bytes(&r, &k->v[i].type) || !each(arg, &k->v[i]))
            return;
    }
}

enum store_status engine_usage(struct store *store, store_each_usage *each,
                               void *arg, struct error *err)
{
    struct sqlite_store *s = engine_of(store);
    struct uses k = {.key = BUF_INIT(STORE_BUF_BYTES)};
    struct day **files;
    size_t n;
    bool ok = days_all(s, &files, &n) || error_set(err, "out of memory");

    for (size_t i = 0; i < n; i++) {
        if (ok && (i == 0 || files[i]->number != files[i - 1]->number))
            ok = add_file(s, &k, files[i], err);
        day_put(s, files[i]);
    }
    free(files);
    if (ok && !(ok = add_all_open(s, &k)))
        error_set(err, "out of memory");
    if (ok)
        hand_out(&k, each, arg);
    table_release(&k.keys);
    free(k.v);
    buf_release(&k.key);
    return ok ? STORE_OK : STORE_FAILED;
}

/*
 * Which services a query is about: the one that it names, or all that are open
 * or have a row in the files of its range.
 */
#include "store/sqlite/scan.h"

#include <stdlib.h>

struct collect {
    const struct store_query *q;
    struct table *names;
};

static bool collect_name(struct service *v, void *arg)
{
    struct collect *c = arg;
    uint32_t id;

    return !query_matches_service(c->q, v->name) ||
           table_intern(c->names, v->name, &id);
}

static bool collect_names(struct sqlite_store *s, struct day *d,
                          struct collect *c, struct error *err)
{
    struct day_conn *conn = day_connect(s, d, err);
    sqlite3_stmt *st;
    bool more, ok;
    uint32_t id;

    if (!conn)
        return false;
    st = db_prepare(conn->db, "SELECT name FROM service", err);
    ok = st != NULL;
    while (ok && (ok = db_step(conn->db, st, &more, "read", err)) && more)
        if (query_matches_service(c->q, db_column_str(st, 0)))
            ok = table_intern(c->names, db_column_str(st, 0), &id) ||
                 error_set(err, "out of memory");
    sqlite3_finalize(st);
    day_disconnect(s, d, conn);
    return ok;
}

static bool single_service(const struct store_query *q, struct table *names)
{
    for (size_t i = 0; i < q->n_matchers; i++)
        if (q->matchers[i].field == STORE_SERVICE &&
            q->matchers[i].op == STORE_EQUAL)
            return table_append(names, q->matchers[i].value);
    return false;
}

bool scan_services(struct sqlite_store *s, const struct store_query *q,
                   struct table *names, struct error *err)
{
    struct collect c = {q, names};
    struct day **files;
    size_t n;
    bool ok;

    if (single_service(q, names))
        return true;
    ok = service_each(s, collect_name, &c) || error_set(err, "out of memory");
    for (int level = 0; ok && level < STORE_LEVELS; level++) {
        if (!days_between(s, (enum store_level)level, q->from_ns, q->to_ns,
                          &files, &n))
            return error_set(err, "out of memory");
        for (size_t i = 0; i < n; i++) {
            ok = ok && collect_names(s, files[i], &c, err);
            day_put(s, files[i]);
        }
        free(files);
    }
    return ok;
}

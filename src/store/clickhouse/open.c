/*
 * Opening, closing, and what can be said about the store.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "store/clickhouse/address.h"
#include "store/clickhouse/engine.h"
#include "store/clickhouse/schema.h"
#include "store/clickhouse/sql.h"
#include "store/read/read.h"

#define TROUBLE_NS (60 * SECOND)

const struct clickhouse_options clickhouse_default_options = {
    .wal_bytes = (uint64_t)1 << 30,
    .query_memory = (uint64_t)4 << 30,
    .batch_profiles = 2000,
    .batch_bytes = (size_t)32 << 20,
    .batch_wait_ns = SECOND / 25,
    .insert_timeout_ns = 20 * SECOND,
    .lookback_ns = 24 * 3600 * SECOND,
};

void ch_background_error(struct ch_store *s, const struct error *err)
{
    pthread_mutex_lock(&s->stats_lock);
    s->stats.background_errors++;
    snprintf(s->stats.last_background_error,
             sizeof(s->stats.last_background_error), "%.255s", err->text);
    pthread_mutex_unlock(&s->stats_lock);
}

void ch_note_write(struct ch_store *s, enum store_status status,
                   const struct error *err)
{
    pthread_mutex_lock(&s->stats_lock);
    s->trouble_ns = status == STORE_OK ? 0 : clock_monotonic_ns();
    if (status != STORE_OK)
        snprintf(s->trouble, sizeof(s->trouble), "%.255s", err->text);
    pthread_mutex_unlock(&s->stats_lock);
}

enum store_status ch_prepare(struct ch_store *s, struct error *err)
{
    enum store_status status;

    if (atomic_load(&s->is_prepared))
        return STORE_OK;
    status = schema_prepare(s->client, str_from(s->cluster), err);
    if (status == STORE_OK)
        atomic_store(&s->is_prepared, true);
    return status;
}

/* As it stands in SQL; "" without one. */
static bool write_cluster(const struct clickhouse_options *o, struct buf *out,
                          struct error *err)
{
    if (o->cluster.n == 0 || sql_name(out, o->cluster))
        return true;
    return error_set(err,
                     "storage.cluster: \"%" STR_FMT
                     "\" is not the name of a cluster: letters, digits, "
                     "\"_-.\" and {macros}",
                     STR_ARG(o->cluster));
}

bool clickhouse_schema(const struct clickhouse_options *o, bool plain,
                       struct buf *out, struct error *err)
{
    struct buf cluster = BUF_INIT(4096);
    struct clickhouse_address a;
    bool ok = clickhouse_address_parse(o->url, &a, err) &&
              write_cluster(o, &cluster, err);

    if (ok)
        schema_write(a.database, buf_str(&cluster), plain, out);
    buf_release(&cluster);
    return ok && (buf_ok(out) || error_set(err, "out of memory"));
}

/* What the last write met counts for a while: if nobody writes, nobody sees
 * that it is over. */
static void add_trouble(struct ch_store *s, struct store_stats *out)
{
    int64_t age_ns = clock_monotonic_ns() - s->trouble_ns;
    struct error why;

    if (!ch_is_reachable(s->client, &why)) {
        snprintf(out->trouble, sizeof(out->trouble), "%.255s", why.text);
        out->is_unreachable = !s->wal;
    } else if (s->trouble_ns && age_ns < TROUBLE_NS) {
        memcpy(out->trouble, s->trouble, sizeof(out->trouble));
    }
}

static void ch_stats(struct store *store, struct store_stats *out)
{
    struct ch_store *s = ch_of(store);

    pthread_mutex_lock(&s->stats_lock);
    *out = s->stats;
    add_trouble(s, out);
    pthread_mutex_unlock(&s->stats_lock);
    out->queued = put_gate_queued(&s->gate);
    out->queue_limit = s->opt.queue_profiles;
    out->memory_bytes = atomic_load(&s->memory);
    if (s->wal)
        ch_wal_stats(s, out);
}

static void ch_close(struct store *store)
{
    struct ch_store *s = ch_of(store);

    ch_keeper_stop(s);
    ch_writers_stop(s);
    ch_wal_close(s);
    ch_services_free(s);
    put_gate_release(&s->gate);
    ch_client_free(s->client);
    pthread_mutex_destroy(&s->registry);
    pthread_mutex_destroy(&s->queue);
    pthread_mutex_destroy(&s->gathering);
    pthread_mutex_destroy(&s->log);
    pthread_cond_destroy(&s->queue_grew);
    pthread_cond_destroy(&s->turned);
    pthread_mutex_destroy(&s->keep_lock);
    pthread_cond_destroy(&s->keep_wake);
    pthread_mutex_destroy(&s->stats_lock);
    retention_release(&s->retention);
    free(s->cluster);
    free(s->wal_dir);
    free(s);
}

static const struct store_ops ops = {
    .put = ch_put,
    STORE_READ_OPS,
    .stats = ch_stats,
    .usage = ch_usage,
    .close = ch_close,
};

static const struct scan_ops scans = {
    .run = ch_scan,
    .find = ch_find,
    .blob = ch_blob,
};

static void init(struct ch_store *s, const struct clickhouse_options *o)
{
    pthread_condattr_t monotonic;

    s->base.ops = &ops;
    s->base.scans = &scans;
    s->opt = *o->store;
    s->opt.retention = NULL;
    s->opt.n_retention = 0;
    s->ch = *o;
    s->ch.url = s->ch.password = s->ch.ca_file = s->ch.cert_file =
        s->ch.key_file = s->ch.cluster = STR("");
    s->ch.store = NULL;
    s->last = &s->first;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&s->registry, NULL);
    pthread_mutex_init(&s->queue, NULL);
    pthread_mutex_init(&s->gathering, NULL);
    pthread_mutex_init(&s->log, NULL);
    pthread_cond_init(&s->queue_grew, &monotonic);
    pthread_cond_init(&s->turned, NULL);
    pthread_mutex_init(&s->keep_lock, NULL);
    pthread_cond_init(&s->keep_wake, &monotonic);
    pthread_mutex_init(&s->stats_lock, NULL);
    pthread_condattr_destroy(&monotonic);
    ch_puts_init(s);
}

/* For commands that only read: a name that is mistyped makes no tables. */
static enum store_status find_tables(struct ch_store *s, struct error *err)
{
    struct buf reply = BUF_INIT(4096);
    struct ch_request r = {.sql = STR("EXISTS TABLE pprofd_schema"),
                           .out = &reply};
    enum store_status status = ch_run(s->client, &r, err);

    if (r.code == 81 || /* UNKNOWN_DATABASE */
        (status == STORE_OK && !str_has_prefix(buf_str(&reply), STR("1")))) {
        error_set(err,
                  "there is no store in the database %" STR_FMT
                  " of ClickHouse; check --store",
                  STR_ARG(ch_database(s->client)));
        status = STORE_FAILED;
    }
    buf_release(&reply);
    return status;
}

/* Without a log there is nowhere to put anything until a server answers. */
static bool connect_first(struct ch_store *s, struct error *err)
{
    enum store_status status =
        s->ch.must_exist ? find_tables(s, err) : STORE_OK;

    if (status == STORE_OK)
        status = ch_prepare(s, err);

    ch_note_write(s, status, err);
    return status == STORE_OK || (status == STORE_BUSY && s->wal_dir);
}

/* Replicas copy from each other later than they acknowledge: what was sent to
 * one that has gone down may have to be sent to the next. */
static bool make_client(struct ch_store *s, const struct clickhouse_options *o,
                        struct error *err)
{
    s->client = ch_client_new(o, err);
    if (s->client)
        ch_count_failovers(s->client, &s->failovers);
    return s->client != NULL;
}

static bool start(struct ch_store *s, const struct clickhouse_options *o,
                  struct error *err)
{
    struct buf cluster = BUF_INIT(4096);
    bool ok = write_cluster(o, &cluster, err);

    if (ok && cluster.len)
        s->cluster = strndup(cluster.data, cluster.len);
    buf_release(&cluster);
    if (!ok)
        return false;
    s->wal_dir = o->wal_dir ? strdup(o->wal_dir) : NULL;
    if ((o->cluster.n && !s->cluster) || (o->wal_dir && !s->wal_dir))
        return error_set(err, "out of memory");
    return clickhouse_store_set_retention(&s->base, o->store->retention,
                                          o->store->n_retention,
                                          o->store->max_disk_bytes, err) &&
           make_client(s, o, err) && connect_first(s, err) &&
           (!s->wal_dir || ch_wal_open(s, err)) && ch_writers_start(s, err) &&
           ch_keeper_start(s, err);
}

struct store *clickhouse_store_open(const struct clickhouse_options *o,
                                    struct error *err)
{
    struct ch_store *s = calloc(1, sizeof(*s));

    if (!s) {
        error_set(err, "out of memory");
        return NULL;
    }
    init(s, o);
    if (start(s, o, err))
        return &s->base;
    ch_close(&s->base);
    return NULL;
}

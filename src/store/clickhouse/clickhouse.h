#ifndef STORE_CLICKHOUSE_CLICKHOUSE_H
#define STORE_CLICKHOUSE_CLICKHOUSE_H

#include "store/options.h"

/*
 * The store on ClickHouse: any number of collectors, one database.
 *
 *     pprofd_profiles   one row a profile: labels, times, totals, and arrays
 *                       of stacks and values
 *     pprofd_ids        where a profile is, by its id
 *     pprofd_records    names, places and stacks, by fingerprints of their
 *                       contents, once a week and service
 *     pprofd_sums       sums of what has expired
 *     pprofd_builds     which of them count
 *     pprofd_schema     the version of these tables
 *
 * Fingerprints stand in for coordination: collectors need not know of each
 * other.  A put that is repeated, by a client or by us, is a second row with
 * the same id, and reads count each id once.
 *
 * Puts are gathered into batches.  A put is done when its batch is in
 * ClickHouse or, while that cannot be reached, in the write-ahead log, which
 * is sent when ClickHouse returns.  Sums by stack are made by ClickHouse;
 * trees and reports are made here.
 *
 * Servers from 18.16 on will do.  Since 20.3 tables have codecs and skip
 * indexes.
 */
struct clickhouse_options {
    /* clickhouse://user@host:port[,host:port…]/database; clickhouses:// for
     * TLS.  The password is not part of it. */
    struct str url;
    struct str password;
    struct str ca_file, cert_file, key_file; /* "": none */
    struct str cluster; /* ReplicatedMergeTree and Distributed tables */

    const char *wal_dir; /* NULL: no write-ahead log */
    uint64_t wal_bytes;  /* at most so much in it */

    uint64_t query_memory; /* max_memory_usage of one query */
    size_t batch_profiles, batch_bytes;
    int64_t batch_wait_ns; /* a batch waits this long for company */
    int64_t insert_timeout_ns;
    /* How far behind the start of a range the profile before the first one
     * is looked for, to count changes of cumulative values. */
    int64_t lookback_ns;

    bool must_exist; /* a database without tables is an error */

    const struct store_options *store; /* intake and retention */
};

/* Defaults for everything but `url` and `store`. */
extern const struct clickhouse_options clickhouse_default_options;

/*
 * Connects, and makes the tables if they do not exist.  NULL with an error
 * when no server answers and there is no write-ahead log, when the tables are
 * of a newer version, or when the options do not fit together.  Texts and
 * rules are copied.
 */
struct store *clickhouse_store_open(const struct clickhouse_options *options,
                                    struct error *err);

/* Replaces the retention rules of an open store.  Refuses what this engine
 * cannot do. */
bool clickhouse_store_set_retention(struct store *s,
                                    const struct store_retention *rules,
                                    size_t n, uint64_t max_disk_bytes,
                                    struct error *err);

/* Is the URL one of ours? */
bool clickhouse_is_url(struct str url);

/*
 * The statements that make the tables, each with its semicolon: for servers
 * before 20.3 (`plain`), or later ones.
 */
bool clickhouse_schema(const struct clickhouse_options *options, bool plain,
                       struct buf *out, struct error *err);

#endif

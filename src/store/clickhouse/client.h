#ifndef STORE_CLICKHOUSE_CLIENT_H
#define STORE_CLICKHOUSE_CLIENT_H

#include "store/clickhouse/clickhouse.h"

/*
 * ClickHouse's HTTP interface.
 *
 * Any thread may ask; each request runs on the caller's thread.  A host that
 * does not answer is left alone for a while and asked for its health before
 * it is used again; meanwhile the others are.
 */
struct ch_client;

struct ch_client *ch_client_new(const struct clickhouse_options *options,
                                struct error *err);
void ch_client_free(struct ch_client *c);

struct ch_request {
    struct str sql;  /* not built from text that was not escaped: sql.h */
    struct str data; /* behind an INSERT */
    struct buf *out; /* the reply is appended; its max is the limit */
    /* Watched while waiting: a query that is no longer wanted is cancelled
     * in ClickHouse, too. */
    const struct store_budget *budget;
    int64_t timeout_ns; /* 0: that of queries */
    bool no_database;   /* it may not exist yet */
    bool is_sync;       /* wait for all shards */
    int code;           /* of ClickHouse's exception, or 0 */
};

/*
 * STORE_OK, or
 *     STORE_BUSY       no host answers, or none can take it now
 *     STORE_LIMITED    memory, time or the size of the reply
 *     STORE_CANCELLED
 *     STORE_FAILED     ClickHouse refused; the error has its words
 */
enum store_status ch_run(struct ch_client *c, struct ch_request *r,
                         struct error *err);

/* The same for a statement without a reply, made as printf() does it. */
enum store_status ch_exec(struct ch_client *c, struct error *err,
                          const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

struct str ch_database(const struct ch_client *c);

#endif

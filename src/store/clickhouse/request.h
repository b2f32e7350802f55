#ifndef STORE_CLICKHOUSE_REQUEST_H
#define STORE_CLICKHOUSE_REQUEST_H

#include "store/store.h"

/* A statement for ClickHouse, and where its reply goes. */
struct ch_request {
    struct str sql;  /* not built from text that was not escaped: sql.h */
    struct str data; /* behind an INSERT */
    struct buf *out; /* the reply is appended; its max is the limit */
    /* Watched while waiting: a query that is no longer wanted is cancelled
     * in ClickHouse, too. */
    const struct store_budget *budget;
    int64_t timeout_ns; /* 0: that of queries */
    bool no_database;   /* it may not exist yet */
    bool may_spill;     /* to ClickHouse's disk, rather than fail */
    /* Wait for all shards.  If one of them does not answer, the host keeps
     * its rows and sends them later. */
    bool is_sync;
    int code; /* of ClickHouse's exception, or 0 */
};

#endif

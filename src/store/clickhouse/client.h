#ifndef STORE_CLICKHOUSE_CLIENT_H
#define STORE_CLICKHOUSE_CLIENT_H

#include <stdatomic.h>

#include "store/clickhouse/clickhouse.h"
#include "store/clickhouse/request.h"

/*
 * ClickHouse's HTTP interface.
 *
 * Any thread may ask; each request runs on the caller's thread, at the first
 * host that is up.  A host is down when it cannot be reached, or when it does
 * not answer a health check, which is made when a request takes long or is
 * cut off.  A thread of the client then checks it until it is up again.
 */
struct ch_client;

struct ch_client *ch_client_new(const struct clickhouse_options *options,
                                struct error *err);
void ch_client_free(struct ch_client *c);

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

/* False when all hosts are down, with the reason. */
bool ch_is_reachable(struct ch_client *c, struct error *why);

/* From now on, counts hosts that went down, if there are others. */
void ch_count_failovers(struct ch_client *c, atomic_uint *counter);

struct str ch_database(const struct ch_client *c);

#endif

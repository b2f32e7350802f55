#ifndef STORE_CLICKHOUSE_SCHEMA_H
#define STORE_CLICKHOUSE_SCHEMA_H

#include "store/clickhouse/client.h"

/*
 * The tables and their version.
 */

/* All statements, each with its semicolon. */
void schema_write(struct str database, struct str cluster, bool plain,
                  struct buf *out);

/* Makes what is missing in the dialect of the server, and refuses tables of a
 * newer version. */
enum store_status schema_prepare(struct ch_client *c, struct str cluster,
                                 struct error *err);

#endif

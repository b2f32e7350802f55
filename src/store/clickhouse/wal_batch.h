#ifndef STORE_CLICKHOUSE_WAL_BATCH_H
#define STORE_CLICKHOUSE_WAL_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/*
 * A file of the write-ahead log: a header, and the bodies of two inserts as
 * they would have been sent.
 */
enum { WAL_HEADER_BYTES = 48 };

struct wal_batch {
    struct str records, rows;
    uint64_t profiles; /* rows of profiles */
};

void wal_batch_header(const struct wal_batch *b, char out[WAL_HEADER_BYTES]);

/* False if the file is damaged or cut off.  The bodies are views of `bytes`. */
bool wal_batch_parse(struct str bytes, struct wal_batch *out);

/* How many profiles a file has, from its first WAL_HEADER_BYTES. */
bool wal_batch_count(struct str head, uint64_t *profiles);

#endif

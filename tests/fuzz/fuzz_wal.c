/*
 * A file of the write-ahead log, as a crash or a bad disk may leave it.  One
 * that is taken is the one that would be written.
 */
#include <stdlib.h>
#include <string.h>

#include "store/clickhouse/wal_batch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = str_of((const char *)data, size);
    char head[WAL_HEADER_BYTES];
    struct wal_batch b;
    uint64_t profiles;

    if (!wal_batch_parse(bytes, &b))
        return 0;
    if (!wal_batch_count(bytes, &profiles) || profiles != b.profiles)
        abort();
    wal_batch_header(&b, head);
    if (memcmp(head, data, sizeof(head)) != 0 ||
        size != sizeof(head) + b.records.n + b.rows.n)
        abort();
    return 0;
}

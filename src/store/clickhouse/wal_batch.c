#include "store/clickhouse/wal_batch.h"

#include <assert.h>
#include <string.h>

#define MAGIC "pprofd batch 1\n"

struct header {
    char magic[16];
    uint64_t profiles, records_n, rows_n, checksum;
};

static_assert(sizeof(struct header) == WAL_HEADER_BYTES, "no padding");

static uint64_t checksum(struct str records, struct str rows)
{
    return str_hash_seeded(rows, str_hash_seeded(records, 1));
}

void wal_batch_header(const struct wal_batch *b, char out[WAL_HEADER_BYTES])
{
    struct header h = {.magic = MAGIC,
                       .profiles = b->profiles,
                       .records_n = b->records.n,
                       .rows_n = b->rows.n,
                       .checksum = checksum(b->records, b->rows)};

    memcpy(out, &h, sizeof(h));
}

static bool read_header(struct str bytes, struct header *out)
{
    if (bytes.n < sizeof(*out))
        return false;
    memcpy(out, bytes.s, sizeof(*out));
    return memcmp(out->magic, MAGIC, sizeof(out->magic)) == 0;
}

bool wal_batch_parse(struct str bytes, struct wal_batch *out)
{
    struct header h;

    if (!read_header(bytes, &h))
        return false;
    bytes = str_skip(bytes, sizeof(h));
    if (h.records_n > bytes.n || h.rows_n != bytes.n - h.records_n)
        return false;
    out->records = str_first(bytes, h.records_n);
    out->rows = str_skip(bytes, h.records_n);
    out->profiles = h.profiles;
    return h.checksum == checksum(out->records, out->rows);
}

bool wal_batch_count(struct str head, uint64_t *profiles)
{
    struct header h;

    if (!read_header(head, &h))
        return false;
    *profiles = h.profiles;
    return true;
}

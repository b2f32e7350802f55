#ifndef STORE_CLICKHOUSE_ROWBIN_H
#define STORE_CLICKHOUSE_ROWBIN_H

#include <string.h>

#include "store/pack.h"

/*
 * ClickHouse's RowBinary: numbers in little endian, texts and arrays with
 * their length in front as a varint.
 */
static inline void rowbin_u64(struct buf *b, uint64_t v)
{
    buf_add_bytes(b, &v, sizeof(v)); /* every machine of ours is so */
}

static inline void rowbin_i64(struct buf *b, int64_t v)
{
    buf_add_bytes(b, &v, sizeof(v));
}

static inline void rowbin_u16(struct buf *b, uint16_t v)
{
    buf_add_bytes(b, &v, sizeof(v));
}

static inline void rowbin_u8(struct buf *b, uint8_t v)
{
    buf_add_bytes(b, &v, sizeof(v));
}

#define rowbin_text(b, s) pack_bytes((b), (s))

static inline bool unrow_u64(struct wire_reader *r, uint64_t *out)
{
    if (r->end - r->at < 8)
        return false;
    memcpy(out, r->at, 8);
    r->at += 8;
    return true;
}

static inline bool unrow_i64(struct wire_reader *r, int64_t *out)
{
    uint64_t v;

    if (!unrow_u64(r, &v))
        return false;
    *out = (int64_t)v;
    return true;
}

static inline bool unrow_u8(struct wire_reader *r, uint8_t *out)
{
    if (r->at >= r->end)
        return false;
    *out = *r->at++;
    return true;
}

#define unrow_text(r, out) unpack_bytes((r), (out))

/* An array of 8-byte numbers: where they begin, and how many.  They may not
 * be aligned. */
struct unrow_array {
    const unsigned char *at;
    size_t n;
};

static inline bool unrow_array(struct wire_reader *r, struct unrow_array *out)
{
    uint64_t n;

    if (!wire_read_varint(r, &n) || n > (size_t)(r->end - r->at) / 8)
        return false;
    out->at = r->at;
    out->n = n;
    r->at += 8 * n;
    return true;
}

static inline uint64_t unrow_at(const struct unrow_array *a, size_t i)
{
    uint64_t v;

    memcpy(&v, a->at + 8 * i, 8);
    return v;
}

#endif

#ifndef STORE_PACK_H
#define STORE_PACK_H

#include <string.h>

#include "profile/wire.h"
#include "profile/wire_read.h"

/*
 * Numbers in stored records: varints as in protobuf, signed ones in zigzag
 * form so that small negative numbers are short.
 */

/* No record, row, block, dictionary or commit of the store is larger. */
#define STORE_BUF_BYTES ((size_t)1 << 30)

static inline uint64_t pack_zigzag(int64_t v)
{
    return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

static inline int64_t pack_unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

static inline void pack_signed(struct buf *b, int64_t v)
{
    wire_add_varint(b, pack_zigzag(v));
}

/* A text or record with its length in front. */
static inline void pack_bytes(struct buf *b, struct str s)
{
    wire_add_varint(b, s.n);
    buf_add(b, s);
}

static inline struct wire_reader unpack_begin(struct str s)
{
    const unsigned char *at = (const unsigned char *)(s.s ? s.s : "");

    return (struct wire_reader){.at = at, .end = at + s.n};
}

/* A varint of up to 8 bytes, in a word: 7 bits of each byte, put together in
 * pairs, then in fours, then in eights. */
static inline bool unpack_long_varint(struct wire_reader *r, uint64_t *out)
{
    uint64_t w, end;

    if (r->end - r->at < 8)
        return wire_read_long_varint(r, out);
    memcpy(&w, r->at, sizeof(w));
    end = ~w & 0x8080808080808080u;
    if (!end)
        return wire_read_long_varint(r, out);
    r->at += (__builtin_ctzll(end) >> 3) + 1;
    w &= (end ^ (end - 1)) & 0x7f7f7f7f7f7f7f7fu;
    w = (w & 0x007f007f007f007fu) | (w & 0x7f007f007f007f00u) >> 1;
    w = (w & 0x00003fff00003fffu) | (w & 0x3fff00003fff0000u) >> 2;
    *out = (w & 0x000000000fffffffu) | (w & 0x0fffffff00000000u) >> 4;
    return true;
}

/*
 * The varint at the cursor, in line: reading stored rows and incoming
 * profiles is little else.  Those near the end of the bytes take the careful
 * way.
 */
static inline bool unpack_varint(struct wire_reader *r, uint64_t *out)
{
    const unsigned char *at = r->at;
    uint32_t w;

    if (__builtin_expect(r->end - at < 4, 0))
        return wire_read_varint(r, out);
    memcpy(&w, at, sizeof(w)); /* little endian on every machine of ours */
    if (!(w & 0x80)) {
        *out = w & 0x7f;
        r->at = at + 1;
    } else if (!(w & 0x8000)) {
        *out = (w & 0x7f) | (w >> 1 & 0x3f80);
        r->at = at + 2;
    } else if (!(w & 0x800000)) {
        *out = (w & 0x7f) | (w >> 1 & 0x3f80) | (w >> 2 & 0x1fc000);
        r->at = at + 3;
    } else {
        return wire_read_long_varint(r, out);
    }
    return true;
}

/* False when the bytes end too soon or the number has more than 32 bits. */
static inline bool unpack_u32(struct wire_reader *r, uint32_t *out)
{
    uint64_t v;

    if (!unpack_varint(r, &v) || v > UINT32_MAX)
        return false;
    *out = (uint32_t)v;
    return true;
}

static inline bool unpack_signed(struct wire_reader *r, int64_t *out)
{
    uint64_t v;

    if (!unpack_varint(r, &v))
        return false;
    *out = pack_unzigzag(v);
    return true;
}

static inline bool unpack_bytes(struct wire_reader *r, struct str *out)
{
    struct wire_reader bytes;

    if (!wire_read_bytes(r, &bytes))
        return false;
    *out = str_of((const char *)bytes.at, (size_t)(bytes.end - bytes.at));
    return true;
}

#endif

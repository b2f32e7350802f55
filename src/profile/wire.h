#ifndef PROFILE_WIRE_H
#define PROFILE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * Writing protobuf: fields appended to a buf, one after another.
 *
 * Needs base/buf and base/str only and allocates nothing besides the buf, so
 * that the library inside other people's programs can write a profile piece
 * by piece:
 *
 *     size_t sample = wire_open(out, PROTO_SAMPLE);
 *     wire_add_u64s(out, PROTO_SAMPLE_LOCATION, ids, n);
 *     wire_add_u64s(out, PROTO_SAMPLE_VALUE, values, 2);
 *     wire_close(out, sample);
 *     wire_add_bytes(out, PROTO_STRING, STR("main"));
 *
 * If memory runs out, the buf fails; check it once at the end.
 */
enum wire_type {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_BYTES = 2,
    WIRE_FIXED32 = 5,
};

#define WIRE_VARINT_MAX 10 /* bytes of the longest varint */

/* Bytes that v takes as a varint: seven bits each. */
static inline size_t wire_varint_size(uint64_t v)
{
    return ((size_t)(63 - __builtin_clzll(v | 1)) + 7) / 7;
}

/* Writes v at `to`, which has WIRE_VARINT_MAX bytes; the place behind it. */
static inline char *wire_put_varint(char *to, uint64_t v)
{
    while (v >= 0x80) {
        *to++ = (char)(v | 0x80);
        v >>= 7;
    }
    *to++ = (char)v;
    return to;
}

static inline uint64_t wire_tag(unsigned field, enum wire_type type)
{
    return (uint64_t)field << 3 | type;
}

void wire_add_varint(struct buf *b, uint64_t v);

/* field = v, written even if 0; _opt leaves a 0 out, as proto3 does. */
void wire_add_u64(struct buf *b, unsigned field, uint64_t v);
void wire_add_u64_opt(struct buf *b, unsigned field, uint64_t v);

/* The same for int64: plain two's complement. */
void wire_add_i64(struct buf *b, unsigned field, int64_t v);
void wire_add_i64_opt(struct buf *b, unsigned field, int64_t v);

/* A string or a ready-made message. */
void wire_add_bytes(struct buf *b, unsigned field, struct str bytes);

/* A repeated scalar.  One or two elements are written one by one, more of
 * them packed: what google/pprof does. */
void wire_add_u64s(struct buf *b, unsigned field, const uint64_t *v, size_t n);
void wire_add_i64s(struct buf *b, unsigned field, const int64_t *v, size_t n);

/*
 * A nested message: what is appended between the two calls.  `mark` is what
 * wire_open returned; messages nest.  The length is put in front when it is
 * known; a message of 128 bytes or more is moved by a byte or two for it.
 */
size_t wire_open(struct buf *b, unsigned field);
void wire_close(struct buf *b, size_t mark);

#endif

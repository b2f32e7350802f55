#include "profile/wire.h"

#include <string.h>

void wire_add_varint(struct buf *b, uint64_t v)
{
    char *to = buf_reserve(b, WIRE_VARINT_MAX);

    if (to)
        b->len = (size_t)(wire_put_varint(to, v) - b->data);
}

void wire_add_u64(struct buf *b, unsigned field, uint64_t v)
{
    char *to = buf_reserve(b, 2 * WIRE_VARINT_MAX);

    if (!to)
        return;
    to = wire_put_varint(to, wire_tag(field, WIRE_VARINT));
    b->len = (size_t)(wire_put_varint(to, v) - b->data);
}

void wire_add_u64_opt(struct buf *b, unsigned field, uint64_t v)
{
    if (v)
        wire_add_u64(b, field, v);
}

void wire_add_i64(struct buf *b, unsigned field, int64_t v)
{
    wire_add_u64(b, field, (uint64_t)v);
}

void wire_add_i64_opt(struct buf *b, unsigned field, int64_t v)
{
    if (v)
        wire_add_u64(b, field, (uint64_t)v);
}

void wire_add_bytes(struct buf *b, unsigned field, struct str bytes)
{
    wire_add_varint(b, wire_tag(field, WIRE_BYTES));
    wire_add_varint(b, bytes.n);
    buf_add(b, bytes);
}

void wire_add_u64s(struct buf *b, unsigned field, const uint64_t *v, size_t n)
{
    size_t bytes = 0;
    char *to;

    if (n <= 2) {
        for (size_t i = 0; i < n; i++)
            wire_add_u64(b, field, v[i]);
        return;
    }
    for (size_t i = 0; i < n; i++)
        bytes += wire_varint_size(v[i]);
    wire_add_varint(b, wire_tag(field, WIRE_BYTES));
    wire_add_varint(b, bytes);
    to = buf_reserve(b, bytes);
    if (!to)
        return;
    for (size_t i = 0; i < n; i++)
        to = wire_put_varint(to, v[i]);
    b->len += bytes;
}

void wire_add_i64s(struct buf *b, unsigned field, const int64_t *v, size_t n)
{
    /* Signed and unsigned variants of a type may alias each other. */
    wire_add_u64s(b, field, (const uint64_t *)v, n);
}

size_t wire_open(struct buf *b, unsigned field)
{
    wire_add_varint(b, wire_tag(field, WIRE_BYTES));
    buf_add_char(b, '\0'); /* most messages need one byte of length */
    return b->len;
}

void wire_close(struct buf *b, size_t mark)
{
    size_t n, extra;

    if (!buf_ok(b))
        return;
    n = b->len - mark;
    extra = wire_varint_size(n) - 1;
    if (extra) {
        if (!buf_reserve(b, extra))
            return;
        memmove(b->data + mark + extra, b->data + mark, n);
        b->len += extra;
    }
    wire_put_varint(b->data + mark - 1, n);
}

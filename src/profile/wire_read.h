#ifndef PROFILE_WIRE_READ_H
#define PROFILE_WIRE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/wire.h"

/*
 * Reading protobuf: a cursor over bytes, and the fields under it.
 *
 *     struct wire_field f;
 *     while (wire_more(&r))
 *         if (!wire_next(&r, &f))
 *             return complain(r.at, r.problem);
 *
 * Nothing is copied.  The rules are those of google/pprof's reader: varints
 * of at most ten bytes (bits beyond the 64th are lost), wire types 0, 1, 2
 * and 5, any field number.
 */
struct wire_reader {
    const unsigned char *at, *end;
    const char *problem; /* why the last call failed */
};

struct wire_field {
    uint64_t number;
    enum wire_type type;
    uint64_t value;           /* of a varint or fixed field */
    struct wire_reader bytes; /* of a WIRE_BYTES field */
};

static inline bool wire_more(const struct wire_reader *r)
{
    return r->at < r->end;
}

static inline bool wire_fail(struct wire_reader *r, const char *problem)
{
    r->problem = problem;
    return false;
}

/* The varint at the cursor.  One byte is by far the most common. */
bool wire_read_long_varint(struct wire_reader *r, uint64_t *out);

static inline bool wire_read_varint(struct wire_reader *r, uint64_t *out)
{
    if (r->at < r->end && *r->at < 0x80) { /* NOLINT: a reader is whole */
        *out = *r->at++;
        return true;
    }
    return wire_read_long_varint(r, out);
}

/* The bytes of a length-delimited field whose tag has been read. */
static inline bool wire_read_bytes(struct wire_reader *r,
                                   struct wire_reader *out)
{
    uint64_t n;

    if (!wire_read_varint(r, &n))
        return false;
    if (n > (uint64_t)(r->end - r->at))
        return wire_fail(r, "length beyond the end");
    *out = (struct wire_reader){.at = r->at, .end = r->at + n};
    r->at += n;
    return true;
}

bool wire_read_fixed(struct wire_reader *r, size_t n, uint64_t *out);

/* The next field, whatever it is.  On failure the cursor is where the
 * trouble is. */
static inline bool wire_next(struct wire_reader *r, struct wire_field *f)
{
    uint64_t tag;

    if (!wire_read_varint(r, &tag))
        return false;
    f->number = tag >> 3;
    f->type = (enum wire_type)(tag & 7);
    switch (f->type) {
    case WIRE_VARINT:
        return wire_read_varint(r, &f->value);
    case WIRE_BYTES:
        return wire_read_bytes(r, &f->bytes);
    case WIRE_FIXED64:
        return wire_read_fixed(r, 8, &f->value);
    case WIRE_FIXED32:
        return wire_read_fixed(r, 4, &f->value);
    }
    return wire_fail(r, "unknown wire type");
}

#endif

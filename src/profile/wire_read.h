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

/* The varint at the cursor.  Nearly all have one or two bytes. */
bool wire_read_long_varint(struct wire_reader *r, uint64_t *out);

static inline bool wire_read_varint(struct wire_reader *r, uint64_t *out)
{
    const unsigned char *at = r->at;

    if (at < r->end && at[0] < 0x80) { /* NOLINT: a reader is whole */
        *out = at[0];
        r->at = at + 1;
        return true;
    }
    if (r->end - at >= 2 && at[1] < 0x80) {
        *out = (at[0] & 0x7fu) | (uint64_t)at[1] << 7;
        r->at = at + 2;
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

/*
 * The field at `at` in its usual form: a tag of one byte, then a varint of one
 * or two, which is the value or the number of bytes that follow.  Returns
 * where the varint ends, or NULL if the field has another form.  This spares
 * the readers of large tables most of wire_next().
 */
static inline const unsigned char *wire_short_field(const unsigned char *at,
                                                    const unsigned char *end,
                                                    unsigned *tag,
                                                    uint64_t *value)
{
    if (end - at < 2 || at[0] >= 0x80)
        return NULL;
    *tag = at[0];
    *value = at[1];
    if (at[1] < 0x80)
        return at + 2;
    if (end - at < 3 || at[2] >= 0x80)
        return NULL;
    *value = (at[1] & 0x7fu) | (uint64_t)at[2] << 7;
    return at + 3;
}

/* The next field, whatever it is.  On failure the cursor is at the error.
 * Inlined by force: the readers spend their time here. */
__attribute__((always_inline)) static inline bool
wire_next(struct wire_reader *r, struct wire_field *f)
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

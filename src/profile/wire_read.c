#include "profile/wire_read.h"

bool wire_read_long_varint(struct wire_reader *r, uint64_t *out)
{
    const unsigned char *at = r->at;
    size_t left = (size_t)(r->end - at);
    uint64_t v = 0;

    for (unsigned i = 0; i < WIRE_VARINT_MAX && i < left; i++) {
        v |= (uint64_t)(at[i] & 0x7f) << 7 * i;
        if (at[i] < 0x80) {
            r->at = at + i + 1;
            *out = v;
            return true;
        }
    }
    return wire_fail(r, left < WIRE_VARINT_MAX
                            ? "varint cut off"
                            : "varint of more than 10 bytes");
}

bool wire_read_fixed(struct wire_reader *r, size_t n, uint64_t *out)
{
    uint64_t v = 0;

    if ((size_t)(r->end - r->at) < n)
        return wire_fail(r, "fixed-size value cut off");
    for (size_t i = 0; i < n; i++)
        v |= (uint64_t)r->at[i] << 8 * i;
    r->at += n;
    *out = v;
    return true;
}

#include "profile/wire_read.h"

bool wire_read_long_varint(struct wire_reader *r, uint64_t *out)
{
    const unsigned char *at = r->at;
    uint64_t v = 0;

    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (at == r->end)
            return wire_fail(r, "varint cut off");
        v |= (uint64_t)(*at & 0x7f) << shift;
        if (*at++ < 0x80) {
            r->at = at;
            *out = v;
            return true;
        }
    }
    return wire_fail(r, "varint of more than 10 bytes");
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

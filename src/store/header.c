/*
 * Reading the header records of a dictionary: the sample types of a profile.
 */
#include "store/header.h"

#include "store/pack.h"

bool dict_header_types(const struct dict *d, uint32_t header, size_t *n,
                       uint64_t *cumulative)
{
    struct wire_reader r = unpack_begin(dict_get(d, DICT_HEADER, header));
    uint32_t types, ignored;

    if (!unpack_u32(&r, &types))
        return false;
    *n = types;
    for (uint32_t i = 0; i < 2 * types; i++)
        if (!unpack_u32(&r, &ignored))
            return false;
    return wire_read_varint(&r, cumulative);
}

bool dict_header_type(const struct dict *d, uint32_t header, size_t i,
                      struct str *type, struct str *unit)
{
    struct wire_reader r = unpack_begin(dict_get(d, DICT_HEADER, header));
    uint32_t types, a, b;

    if (!unpack_u32(&r, &types) || i >= types)
        return false;
    for (size_t k = 0; k <= i; k++)
        if (!unpack_u32(&r, &a) || !unpack_u32(&r, &b))
            return false;
    *type = dict_get(d, DICT_STRING, a);
    *unit = dict_get(d, DICT_STRING, b);
    return true;
}

static struct str default_type(const struct dict *d, uint32_t header, size_t n)
{
    struct wire_reader r = unpack_begin(dict_get(d, DICT_HEADER, header));
    uint32_t v = 0;
    uint64_t mask;

    for (size_t i = 0; i < 1 + 2 * n; i++)
        if (!unpack_u32(&r, &v))
            return STR("");
    if (!wire_read_varint(&r, &mask))
        return STR("");
    for (size_t i = 0; i < 5; i++) /* behind period, drop and keep */
        if (!unpack_u32(&r, &v))
            return STR("");
    return dict_get(d, DICT_STRING, v);
}

bool dict_header_find_type(const struct dict *d, uint32_t header,
                           struct str name, size_t *out)
{
    struct str type, unit;
    uint64_t mask;
    bool wanted = name.n != 0;
    size_t n;

    if (!dict_header_types(d, header, &n, &mask) || n == 0)
        return false;
    if (!wanted)
        name = default_type(d, header, n);
    for (size_t i = 0; name.n && i < n; i++)
        if (dict_header_type(d, header, i, &type, &unit) &&
            str_eq(type, name)) {
            *out = i;
            return true;
        }
    *out = n - 1;
    return !wanted;
}

bool type_counts_from_start(struct str type)
{
    static const struct str names[] = {
        STR_INIT("alloc_objects"),
        STR_INIT("alloc_space"),
        STR_INIT("contentions"),
        STR_INIT("delay"),
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (str_eq(type, names[i]))
            return true;
    return false;
}

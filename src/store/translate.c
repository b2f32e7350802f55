/*
 * The layout of each kind of record, once: everything that reads, copies,
 * renumbers or checks records goes through here.
 */
#include "profile/profile.h"
#include "store/dict.h"
#include "store/pack.h"

struct translator {
    struct wire_reader in;
    dict_ref *ref;
    void *arg;
    struct buf *out;
};

static bool copy_ref(struct translator *t, enum dict_kind kind)
{
    uint32_t from, to;

    if (!unpack_u32(&t->in, &from) || !t->ref(t->arg, kind, from, &to))
        return false;
    wire_add_varint(t->out, to);
    return true;
}

static bool copy_refs(struct translator *t, enum dict_kind kind, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!copy_ref(t, kind))
            return false;
    return true;
}

static bool copy_number(struct translator *t, uint64_t *v)
{
    if (!unpack_varint(&t->in, v))
        return false;
    wire_add_varint(t->out, *v);
    return true;
}

static bool copy_numbers(struct translator *t, size_t n)
{
    uint64_t v;

    for (size_t i = 0; i < n; i++)
        if (!copy_number(t, &v))
            return false;
    return true;
}

static bool translate_location(struct translator *t)
{
    uint64_t first;
    uint32_t mapping;

    if (!wire_read_varint(&t->in, &first) || first >> 1 > UINT32_MAX)
        return false;
    if (first >> 1) {
        if (!t->ref(t->arg, DICT_MAPPING, (uint32_t)(first >> 1) - 1, &mapping))
            return false;
        first = ((uint64_t)mapping + 1) << 1 | (first & 1);
    }
    wire_add_varint(t->out, first);
    if (!copy_numbers(t, 1))
        return false;
    while (wire_more(&t->in))
        if (!copy_ref(t, DICT_FUNCTION) || !copy_numbers(t, 2))
            return false;
    return true;
}

static bool translate_labels(struct translator *t)
{
    while (wire_more(&t->in)) {
        uint64_t kind;

        if (!copy_number(t, &kind) || kind > LABEL_MEASURE ||
            !copy_ref(t, DICT_STRING))
            return false;
        if (kind != LABEL_NUMBER && !copy_ref(t, DICT_STRING))
            return false;
        if (kind != LABEL_STRING && !copy_numbers(t, 1))
            return false;
    }
    return true;
}

static bool translate_header(struct translator *t)
{
    uint64_t types, comments;

    return copy_number(t, &types) && types <= UINT32_MAX &&
           copy_refs(t, DICT_STRING, 2 * types) && /* type, unit */
           copy_numbers(t, 1) &&                   /* cumulative types */
           copy_refs(t, DICT_STRING, 6) && /* period type and unit, drop,
                                              keep, default, URL */
           copy_number(t, &comments) && comments <= UINT32_MAX &&
           copy_refs(t, DICT_STRING, comments);
}

bool dict_translate(enum dict_kind kind, struct str record, dict_ref *ref,
                    void *arg, struct buf *out)
{
    struct translator t = {unpack_begin(record), ref, arg, out};
    bool ok = false;

    switch (kind) {
    case DICT_STRING:
    case DICT_KINDS:
        buf_add(out, record);
        return buf_ok(out);
    case DICT_FUNCTION:
        ok = copy_refs(&t, DICT_STRING, 3) && copy_numbers(&t, 1);
        break;
    case DICT_MAPPING:
        ok = copy_refs(&t, DICT_STRING, 2) && copy_numbers(&t, 3);
        break;
    case DICT_LOCATION:
        ok = translate_location(&t);
        break;
    case DICT_LABELS:
        ok = translate_labels(&t);
        break;
    case DICT_IMAGE:
        for (ok = true; ok && wire_more(&t.in);)
            ok = copy_ref(&t, DICT_MAPPING) && copy_numbers(&t, 3);
        break;
    case DICT_HEADER:
        ok = translate_header(&t);
        break;
    case DICT_SERIES:
        for (ok = copy_ref(&t, DICT_STRING); ok && wire_more(&t.in);)
            ok = copy_refs(&t, DICT_STRING, 2);
        break;
    }
    return ok && !wire_more(&t.in) && buf_ok(out);
}

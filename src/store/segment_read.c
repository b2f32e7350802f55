/*
 * The way back from segment.c.  Every count is bounded by the bytes that
 * must follow it, every number by the table it refers to.
 */
#include <stdlib.h>
#include <string.h>

#include "base/i64.h"
#include "store/grow.h"
#include "store/pack.h"
#include "store/segment.h"

#define DICT_LIMIT ((size_t)1 << 30)

struct unpacker {
    struct wire_reader r;
    struct dict *d;
    uint32_t n[DICT_KINDS + 1];
    struct buf record;
    /* Columns read ahead; v[c][i]. */
    uint64_t *v[6];
    size_t caps[6];
};

/* Reads a column of n numbers into v[c]. */
static bool read_column(struct unpacker *u, int c, size_t n)
{
    if (n > (size_t)(u->r.end - u->r.at))
        return false;
    if (!grow(&u->v[c], &u->caps[c], n + 1))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!unpack_varint(&u->r, &u->v[c][i]))
            return false;
    return true;
}

static bool read_strings(struct unpacker *u)
{
    struct table *t = &u->d->tables[DICT_STRING];
    uint32_t n = u->n[DICT_STRING];

    if (!read_column(u, 0, n) || !read_column(u, 1, n))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        struct str last = i ? table_get(t, i - 1) : STR("");
        uint64_t shared = u->v[0][i], rest = u->v[1][i];

        if (shared > last.n || rest > (size_t)(u->r.end - u->r.at))
            return false;
        buf_clear(&u->record);
        buf_add(&u->record, str_first(last, shared));
        buf_add_bytes(&u->record, u->r.at, rest);
        u->r.at += rest;
        if (!buf_ok(&u->record) || !table_append(t, buf_str(&u->record)))
            return false;
    }
    return true;
}

static bool append(struct unpacker *u, enum dict_kind kind)
{
    return buf_ok(&u->record) &&
           table_append(&u->d->tables[kind], buf_str(&u->record));
}

static bool read_functions(struct unpacker *u)
{
    uint32_t n = u->n[DICT_FUNCTION];
    uint64_t name = 0, file = 0;

    for (int c = 0; c < 4; c++)
        if (!read_column(u, c, n))
            return false;
    for (uint32_t i = 0; i < n; i++) {
        name += (uint64_t)pack_unzigzag(u->v[0][i]);
        file += (uint64_t)pack_unzigzag(u->v[2][i]);
        buf_clear(&u->record);
        wire_add_varint(&u->record, name);
        wire_add_varint(&u->record, name + (uint64_t)pack_unzigzag(u->v[1][i]));
        wire_add_varint(&u->record, file);
        wire_add_varint(&u->record, u->v[3][i]);
        if (!append(u, DICT_FUNCTION))
            return false;
    }
    return true;
}

static bool read_records(struct unpacker *u, enum dict_kind kind)
{
    struct str record;

    for (uint32_t i = 0; i < u->n[kind]; i++)
        if (!unpack_bytes(&u->r, &record) ||
            !table_append(&u->d->tables[kind], record))
            return false;
    return true;
}

static bool sum_column(const uint64_t *v, size_t n, size_t *out)
{
    size_t sum = 0;

    for (size_t i = 0; i < n; i++)
        if (v[i] > DICT_LIMIT || (sum += v[i]) > DICT_LIMIT)
            return false;
    *out = sum;
    return true;
}

static bool read_locations(struct unpacker *u)
{
    uint32_t n = u->n[DICT_LOCATION];
    uint64_t address = 0;
    int64_t function = 0;
    size_t lines, line = 0;

    if (!read_column(u, 0, n) || !read_column(u, 1, n) ||
        !read_column(u, 2, n) || !sum_column(u->v[2], n, &lines) ||
        !read_column(u, 3, lines) || !read_column(u, 4, lines) ||
        !read_column(u, 5, lines))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        address += (uint64_t)pack_unzigzag(u->v[1][i]);
        buf_clear(&u->record);
        wire_add_varint(&u->record, u->v[0][i]);
        wire_add_varint(&u->record, address);
        for (uint64_t k = 0; k < u->v[2][i]; k++, line++) {
            function = i64_add(function, pack_unzigzag(u->v[3][line]));
            wire_add_varint(&u->record, (uint64_t)function);
            wire_add_varint(&u->record, u->v[4][line]);
            wire_add_varint(&u->record, u->v[5][line]);
        }
        if (!append(u, DICT_LOCATION))
            return false;
    }
    return true;
}

static bool read_nodes(struct unpacker *u)
{
    struct dict *d = u->d;
    uint32_t n = u->n[DICT_KINDS], node = 0;

    if (n == 0 || !read_column(u, 0, n - 1) || !read_column(u, 1, n - 1) ||
        !dict_append_node(d, 0, 0))
        return false;
    for (uint32_t i = 0; i + 1 < n; i++) {
        for (uint64_t up = u->v[0][i]; up; up--) {
            if (node == 0)
                return false;
            node = d->nodes[node].parent;
        }
        if (u->v[1][i] >= d->tables[DICT_LOCATION].n ||
            !dict_append_node(d, node, (uint32_t)u->v[1][i]))
            return false;
        node = i + 1;
    }
    return true;
}

static bool read_counts(struct unpacker *u)
{
    for (int i = 0; i <= DICT_KINDS; i++)
        if (!unpack_u32(&u->r, &u->n[i]) || u->n[i] >= DICT_LIMIT)
            return false;
    return true;
}

static bool read_head(struct unpacker *u)
{
    return read_counts(u) && read_strings(u) && read_records(u, DICT_MAPPING) &&
           read_records(u, DICT_LABELS) && read_records(u, DICT_IMAGE) &&
           read_records(u, DICT_HEADER) && read_records(u, DICT_SERIES) &&
           u->n[DICT_STRING] && u->n[DICT_LABELS];
}

static bool read_rest(struct unpacker *u)
{
    return read_functions(u) && read_locations(u) && read_nodes(u) &&
           !wire_more(&u->r);
}

static bool unpack(struct str packed, struct dict *d, bool head_only,
                   struct error *err)
{
    struct buf raw = BUF_INIT(STORE_BUF_BYTES);
    struct unpacker u = {.d = d, .record = BUF_INIT(STORE_BUF_BYTES)};
    struct dict_size nothing = {{0}};
    bool ok;

    *d = (struct dict){0};
    if (!unsqueeze(packed, DICT_LIMIT, &raw, err)) {
        buf_release(&raw);
        return error_wrap(err, "dictionary");
    }
    u.r = unpack_begin(buf_str(&raw));
    ok = read_head(&u) && (head_only || read_rest(&u)) &&
         dict_check(d, &nothing);
    for (int c = 0; c < 6; c++)
        free(u.v[c]);
    buf_release(&u.record);
    buf_release(&raw);
    if (!ok) {
        dict_release(d);
        return error_set(err, "dictionary: stored data are damaged");
    }
    return true;
}

bool segment_unpack(struct str packed, struct dict *d, struct error *err)
{
    return unpack(packed, d, false, err);
}

bool segment_unpack_head(struct str packed, struct dict *d, struct error *err)
{
    return unpack(packed, d, true, err);
}

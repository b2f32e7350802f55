/*
 * The tables of a segment.  Nodes are found by (parent, location) through
 * 4-byte slots that are compared exactly: they are by far the most numerous
 * records, and a second word per slot would cost more memory than it saves
 * time.
 */
#include "store/dict.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "store/grow.h"
#include "store/pack.h"

bool dict_init(struct dict *d)
{
    uint32_t zero;

    *d = (struct dict){0};
    if (dict_intern(d, DICT_STRING, STR(""), &zero) &&
        dict_intern(d, DICT_LABELS, STR(""), &zero) &&
        dict_append_node(d, 0, 0))
        return true;
    dict_release(d);
    return false;
}

void dict_release(struct dict *d)
{
    for (int i = 0; i < DICT_KINDS; i++)
        table_release(&d->tables[i]);
    free(d->nodes);
    free(d->node_slots);
    free(d->guess);
    *d = (struct dict){0};
}

size_t dict_memory(const struct dict *d)
{
    size_t n = d->nodes_cap * sizeof(*d->nodes);

    if (d->node_slots)
        n += (d->node_mask + 1) * sizeof(*d->node_slots);
    if (d->guess)
        n += (d->guess_mask + 1) * sizeof(*d->guess);
    for (int i = 0; i < DICT_KINDS; i++)
        n += table_memory(&d->tables[i]);
    return n;
}

struct dict_size dict_size(const struct dict *d)
{
    struct dict_size size;

    for (int i = 0; i < DICT_KINDS; i++)
        size.n[i] = (uint32_t)d->tables[i].n;
    size.n[DICT_KINDS] = (uint32_t)d->n_nodes;
    return size;
}

static size_t node_hash(const struct dict *d, uint32_t parent,
                        uint32_t location)
{
    uint64_t key = (uint64_t)parent << 32 | location;

    return (size_t)(hash_mix(key ^ d->node_seed) >> 17);
}

static void put_node(struct dict *d, uint32_t node)
{
    size_t at = node_hash(d, d->nodes[node].parent, d->nodes[node].location) &
                d->node_mask;

    while (d->node_slots[at])
        at = (at + 1) & d->node_mask;
    d->node_slots[at] = node;
}

/* For n more. */
static bool make_node_room(struct dict *d, size_t n)
{
    size_t slots = 64;
    uint32_t *fresh;

    if (d->node_slots && d->n_nodes + n <= d->node_mask - d->node_mask / 3)
        return true;
    while (slots - slots / 3 <= d->n_nodes + n)
        slots *= 2;
    fresh = calloc(slots, sizeof(*fresh));
    if (!fresh)
        return false;
    free(d->node_slots);
    if (!d->node_seed)
        d->node_seed = hash_seed(fresh);
    d->node_slots = fresh;
    d->node_mask = slots - 1;
    for (uint32_t i = 1; i < d->n_nodes; i++)
        put_node(d, i);
    return true;
}

bool dict_append_node(struct dict *d, uint32_t parent, uint32_t location)
{
    if (d->n_nodes >= UINT32_MAX - 1 ||
        !grow(&d->nodes, &d->nodes_cap, d->n_nodes + 1))
        return false;
    d->nodes[d->n_nodes++] = (struct dict_node){parent, location};
    return true;
}

static bool intern_at(struct dict *d, size_t at, struct dict_node wanted,
                      uint32_t *out)
{
    for (; d->node_slots[at]; at = (at + 1) & d->node_mask) {
        uint32_t node = d->node_slots[at];

        if (d->nodes[node].parent == wanted.parent &&
            d->nodes[node].location == wanted.location) {
            *out = node;
            return true;
        }
    }
    if (!dict_append_node(d, wanted.parent, wanted.location))
        return false;
    *out = (uint32_t)(d->n_nodes - 1);
    d->node_slots[at] = *out;
    return true;
}

bool dict_intern_node(struct dict *d, uint32_t parent, uint32_t location,
                      uint32_t *out)
{
    return make_node_room(d, 1) &&
           intern_at(d, node_hash(d, parent, location) & d->node_mask,
                     (struct dict_node){parent, location}, out);
}

bool dict_intern_nodes(struct dict *d, const struct dict_node *wanted, size_t n,
                       uint32_t *out)
{
    size_t at[DICT_LANES];

    if (!make_node_room(d, n))
        return false;
    for (size_t i = 0; i < n; i++) {
        at[i] =
            node_hash(d, wanted[i].parent, wanted[i].location) & d->node_mask;
        __builtin_prefetch(&d->node_slots[at[i]]);
    }
    for (size_t i = 0; i < n; i++)
        __builtin_prefetch(&d->nodes[d->node_slots[at[i]]]);
    for (size_t i = 0; i < n; i++)
        if (!intern_at(d, at[i], wanted[i], &out[i]))
            return false;
    return true;
}

/*
 * Records as bytes: what the log holds.
 */

void dict_write_since(const struct dict *d, const struct dict_size *from,
                      struct buf *out)
{
    for (int i = 0; i < DICT_KINDS; i++) {
        const struct table *t = &d->tables[i];

        wire_add_varint(out, from->n[i]);
        wire_add_varint(out, t->n - from->n[i]);
        for (uint32_t id = from->n[i]; id < t->n; id++)
            pack_bytes(out, table_get(t, id));
    }
    wire_add_varint(out, from->n[DICT_KINDS]);
    wire_add_varint(out, d->n_nodes - from->n[DICT_KINDS]);
    for (size_t i = from->n[DICT_KINDS]; i < d->n_nodes; i++) {
        wire_add_varint(out, i - d->nodes[i].parent);
        wire_add_varint(out, d->nodes[i].location);
    }
}

static bool read_table(struct table *t, struct wire_reader *r)
{
    uint32_t from, n;
    struct str record;

    if (!unpack_u32(r, &from) || !unpack_u32(r, &n) || from != t->n)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t id;

        if (!unpack_bytes(r, &record) || !table_intern(t, record, &id) ||
            id != from + i)
            return false;
    }
    return true;
}

static bool read_nodes(struct dict *d, struct wire_reader *r)
{
    uint32_t from, n;

    if (!unpack_u32(r, &from) || !unpack_u32(r, &n) || from != d->n_nodes)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t up, location, id;

        if (!unpack_u32(r, &up) || !unpack_u32(r, &location) || up == 0 ||
            up > from + i ||
            !dict_intern_node(d, from + i - up, location, &id) ||
            id != from + i)
            return false;
    }
    return true;
}

bool dict_read_since(struct dict *d, struct wire_reader *r)
{
    struct dict_size before = dict_size(d);

    for (int i = 0; i < DICT_KINDS; i++)
        if (!read_table(&d->tables[i], r))
            return false;
    return read_nodes(d, r) && dict_check(d, &before);
}

static bool ref_exists(void *arg, enum dict_kind kind, uint32_t from,
                       uint32_t *to)
{
    const struct dict *d = arg;

    *to = from;
    return from < d->tables[kind].n;
}

bool dict_check(const struct dict *d, const struct dict_size *from)
{
    struct buf scratch = BUF_INIT(STORE_BUF_BYTES);
    bool ok = true;

    for (int kind = DICT_FUNCTION; kind < DICT_KINDS; kind++) {
        for (uint32_t i = from->n[kind]; ok && i < d->tables[kind].n; i++) {
            buf_clear(&scratch);
            ok = dict_translate((enum dict_kind)kind,
                                dict_get(d, (enum dict_kind)kind, i),
                                ref_exists, (void *)d, &scratch);
        }
    }
    for (size_t i = from->n[DICT_KINDS]; ok && i < d->n_nodes; i++)
        ok = i == 0 || (d->nodes[i].parent < i &&
                        d->nodes[i].location < d->tables[DICT_LOCATION].n);
    buf_release(&scratch);
    return ok;
}

/*
 * Copying between dictionaries.
 */

bool dict_import_init(struct dict_import *m, const struct dict *from,
                      struct dict *to)
{
    *m = (struct dict_import){.from = from, .to = to};
    for (int i = 0; i <= DICT_KINDS; i++) {
        size_t n = i < DICT_KINDS ? from->tables[i].n : from->n_nodes;

        m->map[i] = calloc(n ? n : 1, sizeof(*m->map[i]));
        if (!m->map[i]) {
            dict_import_release(m);
            return false;
        }
        if (i < DICT_KINDS)
            m->scratch[i] = BUF_INIT(STORE_BUF_BYTES);
    }
    m->map[DICT_KINDS][0] = 1; /* the root */
    return true;
}

void dict_import_release(struct dict_import *m)
{
    for (int i = 0; i <= DICT_KINDS; i++) {
        free(m->map[i]);
        if (i < DICT_KINDS)
            buf_release(&m->scratch[i]);
    }
    *m = (struct dict_import){0};
}

static bool import_ref(void *arg, enum dict_kind kind, uint32_t from,
                       uint32_t *to)
{
    return dict_import_record(arg, kind, from, to);
}

bool dict_import_record(struct dict_import *m, enum dict_kind kind,
                        uint32_t from, uint32_t *to)
{
    struct str record;

    if (from >= m->from->tables[kind].n)
        return false;
    if (m->map[kind][from]) {
        *to = m->map[kind][from] - 1;
        return true;
    }
    record = dict_get(m->from, kind, from);
    if (kind != DICT_STRING) {
        /* Kinds refer only to lower ones, so the scratch of a kind is never
         * in use twice. */
        buf_clear(&m->scratch[kind]);
        if (!dict_translate(kind, record, import_ref, m, &m->scratch[kind]))
            return false;
        record = buf_str(&m->scratch[kind]);
    }
    if (!dict_intern(m->to, kind, record, to))
        return false;
    m->map[kind][from] = *to + 1;
    return true;
}

/* Finds the nearest ancestor that has been copied, then comes back down. */
bool dict_import_node(struct dict_import *m, uint32_t from, uint32_t *to)
{
    uint32_t *map = m->map[DICT_KINDS];

    if (from >= m->from->n_nodes)
        return false;
    while (!map[from]) {
        uint32_t node = from, location;

        while (!map[m->from->nodes[node].parent])
            node = m->from->nodes[node].parent;
        if (!dict_import_record(m, DICT_LOCATION, m->from->nodes[node].location,
                                &location) ||
            !dict_intern_node(m->to, map[m->from->nodes[node].parent] - 1,
                              location, to))
            return false;
        map[node] = *to + 1;
    }
    *to = map[from] - 1;
    return true;
}

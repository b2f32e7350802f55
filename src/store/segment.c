/*
 * Layout, before compression; every column is a run of numbers:
 *
 *     counts of all kinds
 *     strings    shared prefix …, length of the rest …, the rests
 *     mappings, labels, images, headers, series: records with their lengths
 *     functions  name, system name - name, file, start line   (differences)
 *     locations  mapping and folded, address, number of lines (differences)
 *                function, line, column of each line
 *     nodes      in depth-first order: levels to go up, location
 *
 * What descriptions of profiles refer to comes first, so that listings and
 * time lines need not read the rest.
 * Depth-first order needs no parents and makes the stacks of one subtree
 * neighbours.
 */
#include "store/segment.h"

#include <stdlib.h>
#include <string.h>

#include "base/i64.h"
#include "store/grow.h"
#include "store/pack.h"

void segment_map_release(struct segment_map *m)
{
    for (int i = 0; i <= DICT_KINDS; i++)
        free(m->to[i]);
    *m = (struct segment_map){0};
}

/*
 * Sorting.  A record's fields become numbers in `fields`, width per record.
 */
struct sortable {
    struct str bytes; /* strings */
    uint64_t a, b, c, d;
    uint32_t id;
};

struct packer {
    const struct dict *d;
    struct segment_map *map;
    struct sortable *order;
    size_t order_cap;
    struct buf raw, record;
    struct buf columns[6];
};

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare(const void *x, const void *y)
{
    const struct sortable *a = x, *b = y;
    int c = str_cmp(a->bytes, b->bytes);

    c = c ? c : compare_numbers(a->a, b->a);
    c = c ? c : compare_numbers(a->b, b->b);
    c = c ? c : compare_numbers(a->c, b->c);
    c = c ? c : compare_numbers(a->d, b->d);
    return c ? c : compare_numbers(a->id, b->id);
}

static void sort(struct packer *k, enum dict_kind kind, size_t n)
{
    qsort(k->order, n, sizeof(*k->order), compare);
    for (size_t i = 0; i < n; i++)
        k->map->to[kind][k->order[i].id] = (uint32_t)i;
}

/* The columns one after another behind what there is. */
static void end_columns(struct packer *k)
{
    for (size_t i = 0; i < sizeof(k->columns) / sizeof(*k->columns); i++) {
        if (!buf_ok(&k->columns[i]))
            k->raw.failed = true;
        buf_add(&k->raw, buf_str(&k->columns[i]));
        buf_clear(&k->columns[i]);
    }
}

static size_t shared_prefix(struct str a, struct str b)
{
    size_t n = 0;

    while (n < a.n && n < b.n && a.s[n] == b.s[n])
        n++;
    return n;
}

static void pack_strings(struct packer *k)
{
    const struct table *t = &k->d->tables[DICT_STRING];
    struct str last = STR("");

    for (uint32_t i = 0; i < t->n; i++)
        k->order[i] = (struct sortable){.bytes = table_get(t, i), .id = i};
    sort(k, DICT_STRING, t->n);
    for (size_t i = 0; i < t->n; i++) {
        struct str s = k->order[i].bytes;
        size_t shared = shared_prefix(last, s);

        wire_add_varint(&k->columns[0], shared);
        wire_add_varint(&k->columns[1], s.n - shared);
        buf_add(&k->columns[2], str_skip(s, shared));
        last = s;
    }
    end_columns(k);
}

static bool map_ref(void *arg, enum dict_kind kind, uint32_t from, uint32_t *to)
{
    struct packer *k = arg;

    *to = k->map->to[kind][from];
    return true;
}

/* The record with new numbers in it. */
static bool renumber(struct packer *k, enum dict_kind kind, uint32_t id)
{
    buf_clear(&k->record);
    return dict_translate(kind, dict_get(k->d, kind, id), map_ref, k,
                          &k->record);
}

static bool pack_functions(struct packer *k)
{
    size_t n = k->d->tables[DICT_FUNCTION].n;
    uint64_t name = 0, file = 0;

    for (uint32_t i = 0; i < n; i++) {
        struct sortable *s = &k->order[i];
        struct wire_reader r;

        *s = (struct sortable){.id = i};
        if (!renumber(k, DICT_FUNCTION, i))
            return false;
        r = unpack_begin(buf_str(&k->record));
        if (!wire_read_varint(&r, &s->a) || !wire_read_varint(&r, &s->b) ||
            !wire_read_varint(&r, &s->c) || !wire_read_varint(&r, &s->d))
            return false;
    }
    sort(k, DICT_FUNCTION, n);
    for (size_t i = 0; i < n; i++) {
        const struct sortable *s = &k->order[i];

        pack_signed(&k->columns[0], (int64_t)(s->a - name));
        pack_signed(&k->columns[1], (int64_t)(s->b - s->a));
        pack_signed(&k->columns[2], (int64_t)(s->c - file));
        wire_add_varint(&k->columns[3], s->d);
        name = s->a;
        file = s->c;
    }
    end_columns(k);
    return true;
}

/* Kinds whose records stay in their order. */
static bool pack_records(struct packer *k, enum dict_kind kind)
{
    for (uint32_t i = 0; i < k->d->tables[kind].n; i++) {
        k->map->to[kind][i] = i;
        if (!renumber(k, kind, i))
            return false;
        pack_bytes(&k->raw, buf_str(&k->record));
    }
    return true;
}

static bool pack_lines(struct packer *k, struct wire_reader *r, int64_t *last)
{
    uint64_t n = 0;

    for (; wire_more(r); n++) {
        uint64_t function, line, column;

        if (!wire_read_varint(r, &function) || !wire_read_varint(r, &line) ||
            !wire_read_varint(r, &column))
            return false;
        pack_signed(&k->columns[3], (int64_t)function - *last);
        wire_add_varint(&k->columns[4], line);
        wire_add_varint(&k->columns[5], column);
        *last = (int64_t)function;
    }
    wire_add_varint(&k->columns[2], n);
    return true;
}

static bool pack_locations(struct packer *k)
{
    const struct table *t = &k->d->tables[DICT_LOCATION];
    uint64_t address = 0, mapping = 0;
    int64_t function = 0;

    for (uint32_t i = 0; i < t->n; i++) {
        struct wire_reader r = unpack_begin(table_get(t, i));
        struct sortable *s = &k->order[i];

        *s = (struct sortable){.id = i};
        if (!wire_read_varint(&r, &s->a) || !wire_read_varint(&r, &s->b))
            return false;
    }
    sort(k, DICT_LOCATION, t->n);
    for (size_t i = 0; i < t->n; i++) {
        const struct sortable *s = &k->order[i];
        struct wire_reader r;

        if (!renumber(k, DICT_LOCATION, s->id))
            return false;
        r = unpack_begin(buf_str(&k->record));
        if (!wire_read_varint(&r, &mapping) || !wire_read_varint(&r, &address))
            return false;
        wire_add_varint(&k->columns[0], mapping);
        pack_signed(&k->columns[1],
                    (int64_t)(address - (i ? k->order[i - 1].b : 0)));
        if (!pack_lines(k, &r, &function))
            return false;
    }
    end_columns(k);
    return true;
}

/*
 * Nodes.  Sorting by (parent, location) makes the children of a node
 * neighbours; then the tree is walked from the root.
 */

struct child {
    uint32_t parent, location, node;
};

static int compare_children(const void *x, const void *y)
{
    const struct child *a = x, *b = y;
    int c = compare_numbers(a->parent, b->parent);

    c = c ? c : compare_numbers(a->location, b->location);
    return c ? c : compare_numbers(a->node, b->node);
}

/* first[p] is where the children of p begin in the sorted array. */
static void walk(struct packer *k, const struct child *children,
                 const uint32_t *first, uint32_t *path)
{
    uint32_t *to = k->map->to[DICT_KINDS], *next = path;
    uint32_t n = (uint32_t)k->d->n_nodes, number = 1, depth = 0, up = 0;
    uint32_t node = 0;

    /* path[d] is the next child to visit at depth d. */
    next[0] = first[0];
    for (;;) {
        const struct child *c = &children[next[depth]];

        if (next[depth] < n - 1 && c->parent == node) {
            wire_add_varint(&k->columns[0], up);
            wire_add_varint(&k->columns[1], c->location);
            to[c->node] = number++;
            next[depth]++;
            node = c->node;
            next[++depth] = first[node];
            up = 0;
            continue;
        }
        if (depth == 0)
            break;
        node = k->d->nodes[node].parent;
        depth--;
        up++;
    }
}

static bool pack_nodes(struct packer *k)
{
    size_t n = k->d->n_nodes;
    struct child *children = calloc(n, sizeof(*children));
    uint32_t *first = calloc(n + 1, sizeof(*first));
    uint32_t *path = calloc(n + 1, sizeof(*path));
    bool ok = children && first && path;

    for (uint32_t i = 1; ok && i < n; i++)
        children[i - 1] = (struct child){
            k->d->nodes[i].parent,
            k->map->to[DICT_LOCATION][k->d->nodes[i].location], i};
    if (ok) {
        qsort(children, n - 1, sizeof(*children), compare_children);
        for (size_t i = n - 1; i-- > 0;)
            first[children[i].parent] = (uint32_t)i;
        for (size_t i = 0; i < n; i++) /* a leaf has none: point past the end */
            if (n == 1 || children[first[i]].parent != i)
                first[i] = (uint32_t)(n - 1);
        k->map->to[DICT_KINDS][0] = 0;
        walk(k, children, first, path);
        end_columns(k);
    }
    free(children);
    free(first);
    free(path);
    return ok;
}

static bool start(struct packer *k)
{
    size_t most = 0;

    for (int i = 0; i <= DICT_KINDS; i++) {
        size_t n = i < DICT_KINDS ? k->d->tables[i].n : k->d->n_nodes;

        most = i < DICT_KINDS && n > most ? n : most;
        k->map->to[i] = calloc(n ? n : 1, sizeof(uint32_t));
        if (!k->map->to[i])
            return false;
        wire_add_varint(&k->raw, n);
    }
    return grow(&k->order, &k->order_cap, most);
}

static bool pack_all(struct packer *k)
{
    if (!start(k))
        return false;
    pack_strings(k);
    return pack_records(k, DICT_MAPPING) && pack_records(k, DICT_LABELS) &&
           pack_records(k, DICT_IMAGE) && pack_records(k, DICT_HEADER) &&
           pack_records(k, DICT_SERIES) && pack_functions(k) &&
           pack_locations(k) && pack_nodes(k) && buf_ok(&k->raw);
}

bool segment_pack(const struct dict *d, int level, struct segment_map *map,
                  struct buf *out, struct error *err)
{
    struct packer k = {.d = d, .map = map};
    bool ok;

    *map = (struct segment_map){0};
    k.raw = k.record = BUF_INIT(STORE_BUF_BYTES);
    for (size_t i = 0; i < sizeof(k.columns) / sizeof(*k.columns); i++)
        k.columns[i] = BUF_INIT(STORE_BUF_BYTES);
    ok = pack_all(&k) && squeeze(buf_str(&k.raw), level, out);
    buf_release(&k.raw);
    buf_release(&k.record);
    for (size_t i = 0; i < sizeof(k.columns) / sizeof(*k.columns); i++)
        buf_release(&k.columns[i]);
    free(k.order);
    if (!ok) {
        segment_map_release(map);
        return error_set(err, "out of memory");
    }
    return true;
}

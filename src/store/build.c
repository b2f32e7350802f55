/*
 * Rows wait packed, in the numbers of the collected dictionary, until all
 * have come; only then is it known how the sorted dictionary numbers them.
 */
#include "store/build.h"

#include <stdlib.h>
#include <string.h>

#include "base/i64.h"
#include "store/grow.h"
#include "store/header.h"
#include "store/intern.h"
#include "store/pack.h"
#include "store/segment.h"

enum {
    BLOCK_ROWS = 60,
    BLOCK_BYTES = 256 * 1024, /* of packed samples */
    GIVE_UP = 3, /* a series whose rows differ so often is stored whole */
};

bool builder_init(struct builder *b)
{
    *b = (struct builder){.scratch = BUF_INIT(STORE_BUF_BYTES)};
    return dict_init(&b->d);
}

void builder_borrow(struct builder *b, const struct dict *d)
{
    *b = (struct builder){.scratch = BUF_INIT(STORE_BUF_BYTES)};
    b->d = *d;
    b->borrows = true;
}

void builder_release(struct builder *b)
{
    for (size_t i = 0; i < b->n; i++) {
        row_meta_release(&b->rows[i].meta);
        free(b->rows[i].packed);
        free(b->rows[i].extras);
    }
    free(b->rows);
    if (!b->borrows)
        dict_release(&b->d);
    buf_release(&b->scratch);
    *b = (struct builder){0};
}

static bool import_ref(void *arg, enum dict_kind kind, uint32_t from,
                       uint32_t *to)
{
    return dict_import_record(arg, kind, from, to);
}

/* Copies samples with the numbers of the collected dictionary. */
static bool import_samples(struct dict_import *m, const struct row_samples *s,
                           struct row_samples *out)
{
    if (!row_samples_resize(out, s->n, s->columns))
        return false;
    for (size_t i = 0; m && i < s->n; i++)
        if (!dict_import_node(m, s->nodes[i], &out->nodes[i]) ||
            !dict_import_record(m, DICT_LABELS, s->labels[i], &out->labels[i]))
            return false;
    if (s->n && !m) {
        memcpy(out->nodes, s->nodes, s->n * sizeof(*s->nodes));
        memcpy(out->labels, s->labels, s->n * sizeof(*s->labels));
    }
    if (s->n && s->columns)
        memcpy(out->values, s->values, s->n * s->columns * sizeof(*s->values));
    return true;
}

/* The numbers in a description, and its extras into b->scratch. */
static bool import_meta(struct builder *b, struct dict_import *m,
                        const struct row_meta *meta, struct row_meta *to)
{
    buf_clear(&b->scratch);
    if (!m) {
        buf_add(&b->scratch, meta->extras);
        return buf_ok(&b->scratch);
    }
    return row_extras_translate(meta->extras, import_ref, m, &b->scratch) &&
           dict_import_record(m, DICT_SERIES, meta->series, &to->series) &&
           dict_import_record(m, DICT_HEADER, meta->header, &to->header) &&
           dict_import_record(m, DICT_IMAGE, meta->image, &to->image);
}

static bool copy_meta(struct builder *b, struct dict_import *m,
                      const struct row_meta *meta, struct build_row *row)
{
    int64_t *numbers = NULL;
    struct row_meta *to = &row->meta;

    *to = *meta;
    to->numbers = numbers;
    to->numbers_cap = 0;
    if (!row_meta_totals(to, meta->n_totals))
        return false;
    for (size_t i = 0; i < meta->n_totals; i++) {
        to->totals[i] = meta->totals[i];
        to->changes[i] = meta->changes[i];
    }
    if (!import_meta(b, m, meta, to))
        return false;
    to->extras = STR("");
    if (b->scratch.len) {
        row->extras = malloc(b->scratch.len);
        if (!row->extras)
            return false;
        memcpy(row->extras, b->scratch.data, b->scratch.len);
        to->extras = str_of((char *)row->extras, b->scratch.len);
    }
    return true;
}

static bool pack_row(struct builder *b, struct dict_import *m,
                     const struct row_samples *s,
                     const struct row_samples *before, struct build_row *row)
{
    struct row_samples imported = {0};
    bool ok = import_samples(m, s, &imported);

    buf_clear(&b->scratch);
    if (ok)
        row_pack(&imported, row->meta.period, &b->scratch);
    row->samples_n = b->scratch.len;
    if (ok && before) {
        ok = import_samples(m, before, &imported);
        if (ok)
            row_pack(&imported, row->meta.period, &b->scratch);
        row->before_n = b->scratch.len - row->samples_n;
    }
    row_samples_release(&imported);
    row->packed = ok && buf_ok(&b->scratch) ? malloc(b->scratch.len) : NULL;
    if (!row->packed)
        return false;
    memcpy(row->packed, b->scratch.data, b->scratch.len);
    return true;
}

bool builder_add(struct builder *b, struct dict_import *m,
                 const struct row_meta *meta, const struct row_samples *s,
                 const struct row_samples *before)
{
    struct build_row *row;

    if (!grow(&b->rows, &b->cap, b->n + 1))
        return false;
    row = &b->rows[b->n++];
    *row = (struct build_row){.kind = b->kind};
    b->samples += s->n;
    return copy_meta(b, m, meta, row) && pack_row(b, m, s, before, row);
}

/*
 * Blocks.
 */

struct blocks {
    struct builder *b;
    const struct segment_map *map; /* NULL: the numbers stay */
    int level;
    built_each *each;
    void *arg;
    struct error *err;

    struct buf metas, packed, row;
    struct buf meta_out, samples_out;
    struct store_id ids[BLOCK_ROWS];
    int64_t times[BLOCK_ROWS];
    struct built_block block;
    struct row_samples current, before;
    bool has_before;
    unsigned lost; /* rows in a row that were shorter whole */
};

static bool no_memory(struct blocks *k)
{
    return error_set(k->err, "out of memory");
}

static bool flush(struct blocks *k)
{
    struct built_block *block = &k->block;
    bool ok;

    if (!block->n)
        return true;
    buf_clear(&k->meta_out);
    buf_clear(&k->samples_out);
    ok = buf_ok(&k->metas) && buf_ok(&k->packed) &&
         squeeze(buf_str(&k->metas), k->level, &k->meta_out) &&
         squeeze(buf_str(&k->packed), k->level, &k->samples_out);
    if (!ok)
        return no_memory(k);
    block->meta = buf_str(&k->meta_out);
    block->samples = buf_str(&k->samples_out);
    block->ids = k->ids;
    block->times = k->times;
    if (!k->each(k->arg, block, k->err))
        return false;
    *block = (struct built_block){.series = block->series, .kind = block->kind};
    buf_clear(&k->metas);
    buf_clear(&k->packed);
    return true;
}

static void renumber(struct blocks *k, struct row_samples *s)
{
    const uint32_t *nodes, *labels;

    if (!k->map)
        return;
    nodes = k->map->to[DICT_KINDS];
    labels = k->map->to[DICT_LABELS];
    for (size_t i = 0; i < s->n; i++) {
        s->nodes[i] = nodes[s->nodes[i]];
        s->labels[i] = labels[s->labels[i]];
    }
}

static bool unpack(struct blocks *k, struct str packed,
                   const struct row_meta *m, size_t columns,
                   struct row_samples *out)
{
    if (!row_unpack(packed, m->period, columns, &k->b->d, NULL, out))
        return no_memory(k);
    renumber(k, out);
    return true;
}

/* The row's samples behind the others of the block: whichever form is
 * shorter. */
static void pack_samples(struct blocks *k, const struct row_meta *m)
{
    struct buf *whole = &k->row;
    size_t mark;

    buf_clear(whole);
    row_pack(&k->current, m->period, whole);
    mark = whole->len;
    if (k->has_before && k->before.columns == k->current.columns &&
        k->lost < GIVE_UP) {
        row_pack_changes(&k->current, &k->before, whole);
        if (whole->len - mark < mark) {
            pack_bytes(&k->packed, str_skip(buf_str(whole), mark));
            k->lost = 0;
            return;
        }
        k->lost++;
    }
    pack_bytes(&k->packed, str_first(buf_str(whole), mark));
}

/* A block begins with the row before it, if changes will be asked for. */
static void begin_block(struct blocks *k, const struct row_meta *m,
                        uint64_t cumulative)
{
    bool keep = k->has_before && cumulative && !(m->flags & ROW_SUM) &&
                k->before.columns == k->current.columns;

    buf_add_char(&k->packed, (char)keep);
    if (keep) {
        buf_clear(&k->row);
        row_pack(&k->before, 0, &k->row);
        pack_bytes(&k->packed, buf_str(&k->row));
    } else {
        k->has_before = false;
    }
}

static bool translate_extras(struct blocks *k, struct row_meta *m,
                             struct buf *out);

static void note_row(struct blocks *k, const struct row_meta *m)
{
    struct built_block *block = &k->block;

    if (block->n == 0)
        block->t0_ns = m->created_ns;
    block->t1_ns = m->created_ns;
    k->times[block->n] = m->created_ns;
    k->ids[block->n++] = m->id;
    block->profiles += m->profiles;
    block->posted_bytes += m->posted_bytes;
}

static bool add_row(struct blocks *k, struct build_row *row)
{
    struct row_meta *m = &row->meta;
    struct buf extras = BUF_INIT(STORE_BUF_BYTES);
    uint64_t cumulative;
    size_t types;
    bool is_sum = m->flags & ROW_SUM, ok;

    if (!dict_header_types(&k->b->d, m->header, &types, &cumulative))
        return no_memory(k);
    if (!k->has_before && row->before_n) {
        if (!unpack(k,
                    str_of((char *)row->packed + row->samples_n, row->before_n),
                    m, m->n_totals, &k->before))
            return false;
        k->has_before = true;
    }
    if (!unpack(k, str_of((char *)row->packed, row->samples_n), m,
                row_columns(m, cumulative), &k->current))
        return false;
    if (!is_sum && cumulative)
        row_count_changes(m, cumulative, k->has_before ? &k->before : NULL);
    if (k->block.n == 0)
        begin_block(k, m, cumulative);
    pack_samples(k, m);
    ok = translate_extras(k, m, &extras);
    if (ok)
        row_meta_pack(m, &k->metas);
    buf_release(&extras);
    if (!ok)
        return no_memory(k);
    note_row(k, m);
    row_samples_swap(&k->current, &k->before);
    k->has_before = true;
    if (k->block.n == BLOCK_ROWS || k->packed.len >= BLOCK_BYTES)
        return flush(k);
    return true;
}

static bool map_ref(void *arg, enum dict_kind kind, uint32_t from, uint32_t *to)
{
    const struct segment_map *map = arg;

    *to = map->to[kind][from];
    return true;
}

/* The description with the final numbers; `extras` holds those of the list. */
static bool translate_extras(struct blocks *k, struct row_meta *m,
                             struct buf *extras)
{
    if (!k->map)
        return true;
    m->series = k->map->to[DICT_SERIES][m->series];
    m->header = k->map->to[DICT_HEADER][m->header];
    m->image = k->map->to[DICT_IMAGE][m->image];
    if (m->extras.n == 0)
        return true;
    if (!row_extras_translate(m->extras, map_ref, (void *)k->map, extras))
        return false;
    m->extras = buf_str(extras);
    return true;
}

static int compare_rows(const void *x, const void *y)
{
    const struct build_row *v = x, *w = y;
    const struct row_meta *a = &v->meta, *b = &w->meta;

    if (a->series != b->series)
        return a->series < b->series ? -1 : 1;
    if (v->kind != w->kind)
        return v->kind < w->kind ? -1 : 1;
    if (a->created_ns != b->created_ns)
        return a->created_ns < b->created_ns ? -1 : 1;
    return memcmp(a->id.bytes, b->id.bytes, STORE_ID_BYTES);
}

static bool write_blocks(struct blocks *k)
{
    struct builder *b = k->b;
    bool ok = true;

    qsort(b->rows, b->n, sizeof(*b->rows), compare_rows);
    for (size_t i = 0; ok && i < b->n; i++) {
        uint32_t series = b->rows[i].meta.series;
        unsigned kind = b->rows[i].kind;

        if (i == 0 || k->block.series != series || k->block.kind != kind) {
            ok = flush(k);
            k->block.series = series;
            k->block.kind = kind;
            k->has_before = false;
            k->lost = 0;
        }
        ok = ok && add_row(k, &b->rows[i]);
    }
    return ok && flush(k);
}

static bool make_blocks(struct builder *b, const struct segment_map *map,
                        int level, built_each *each, void *arg,
                        struct error *err)
{
    struct blocks k = {.b = b, .level = level, .each = each, .arg = arg};
    bool ok;

    k.err = err;
    k.map = map;
    k.metas = k.packed = k.row = BUF_INIT(STORE_BUF_BYTES);
    k.meta_out = k.samples_out = BUF_INIT(STORE_BUF_BYTES);
    ok = write_blocks(&k);
    buf_release(&k.metas);
    buf_release(&k.packed);
    buf_release(&k.row);
    buf_release(&k.meta_out);
    buf_release(&k.samples_out);
    row_samples_release(&k.current);
    row_samples_release(&k.before);
    return ok;
}

bool builder_finish_blocks(struct builder *b, int level, built_each *each,
                           void *arg, struct error *err)
{
    return make_blocks(b, NULL, level, each, arg, err);
}

bool builder_finish(struct builder *b, int level, built_dict *dict,
                    built_each *each, void *arg, struct error *err)
{
    struct segment_map map;
    struct buf packed = BUF_INIT(STORE_BUF_BYTES);
    bool ok;

    if (!segment_pack(&b->d, level, &map, &packed, err)) {
        buf_release(&packed);
        return false;
    }
    ok = dict(arg, buf_str(&packed), &b->d, err) &&
         make_blocks(b, &map, level, each, arg, err);
    segment_map_release(&map);
    buf_release(&packed);
    return ok;
}

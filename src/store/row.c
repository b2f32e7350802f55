/*
 * Packing of samples.  Numbers of one kind stand together: nodes as
 * differences, labels, then column by column the values, so that the general
 * compressor behind this finds what repeats.
 */
#include "store/row.h"

#include <stdlib.h>
#include <string.h>

#include "base/i64.h"
#include "store/grow.h"
#include "store/pack.h"

enum {
    KIND_LABELS = 1,  /* some sample has labels */
    KIND_DERIVED = 2, /* the second column is the first times the period */
    KIND_CHANGES = 4, /* relative to the row before */
};

enum { OP_COPY, OP_SKIP, OP_INSERT, OP_BITS = 2 };

/* How far ahead in the row before an equal sample is looked for. */
enum { LOOK_AHEAD = 64 };

void row_samples_release(struct row_samples *s)
{
    free(s->nodes);
    free(s->labels);
    free(s->values);
    *s = (struct row_samples){0};
}

bool row_samples_resize(struct row_samples *s, size_t n, size_t columns)
{
    size_t values;

    if (__builtin_mul_overflow(n, columns, &values) ||
        !grow(&s->nodes, &s->nodes_cap, n) ||
        !grow(&s->labels, &s->labels_cap, n) ||
        !grow(&s->values, &s->values_cap, values))
        return false;
    s->n = n;
    s->columns = columns;
    return true;
}

void row_samples_swap(struct row_samples *a, struct row_samples *b)
{
    struct row_samples t = *a;

    *a = *b;
    *b = t;
}

/*
 * Writing.
 */

static bool any_labels(const struct row_samples *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->labels[i])
            return true;
    return false;
}

static bool is_derived(const struct row_samples *s, int64_t period)
{
    if (s->columns != 2 || period == 0)
        return false;
    for (size_t i = 0; i < s->n; i++)
        if (s->values[2 * i + 1] != i64_mul(s->values[2 * i], period))
            return false;
    return true;
}

static void pack_nodes(const uint32_t *nodes, size_t n, struct buf *out)
{
    char *start = buf_reserve(out, n * WIRE_VARINT_MAX), *at = start;
    int64_t last = 0;

    if (!start)
        return;
    for (size_t i = 0; i < n; i++) {
        at = wire_put_varint(at, pack_zigzag((int64_t)nodes[i] - last));
        last = nodes[i];
    }
    out->len += (size_t)(at - start);
}

static void pack_labels(const uint32_t *labels, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++)
        wire_add_varint(out, labels[i]);
}

static void pack_column(const struct row_samples *s, size_t column,
                        struct buf *out)
{
    char *start = buf_reserve(out, s->n * WIRE_VARINT_MAX), *at = start;

    if (!start)
        return;
    for (size_t i = 0; i < s->n; i++)
        at = wire_put_varint(at,
                             pack_zigzag(s->values[i * s->columns + column]));
    out->len += (size_t)(at - start);
}

void row_pack(const struct row_samples *s, int64_t period, struct buf *out)
{
    bool labels = any_labels(s), derived = is_derived(s, period);

    buf_add_char(
        out, (char)((labels ? KIND_LABELS : 0) | (derived ? KIND_DERIVED : 0)));
    wire_add_varint(out, s->n);
    pack_nodes(s->nodes, s->n, out);
    if (labels)
        pack_labels(s->labels, s->n, out);
    for (size_t c = 0; c < (derived ? 1 : s->columns); c++)
        pack_column(s, c, out);
}

/* The place of sample i of `s` in `before`, at `from` or soon after it. */
static size_t find_ahead(const struct row_samples *s, size_t i,
                         const struct row_samples *before, size_t from)
{
    size_t end = before->n - from < LOOK_AHEAD ? before->n : from + LOOK_AHEAD;

    for (size_t at = from; at < end; at++)
        if (before->nodes[at] == s->nodes[i] &&
            before->labels[at] == s->labels[i])
            return at;
    return before->n;
}

struct differ {
    const struct row_samples *s, *before;
    struct buf *out;
    struct row_samples inserted;
    size_t *copied_from, *copied_to; /* places in before and s */
    size_t n_copied, from_cap, to_cap;
    unsigned op;
    uint64_t run;
    bool failed;
};

static void end_op(struct differ *d)
{
    if (d->run)
        wire_add_varint(d->out, d->run << OP_BITS | d->op);
    d->run = 0;
}

static void add_op(struct differ *d, unsigned op, uint64_t n)
{
    if (d->op != op)
        end_op(d);
    d->op = op;
    d->run += n;
}

static void insert(struct differ *d, size_t i)
{
    size_t n = d->inserted.n, columns = d->s->columns;

    add_op(d, OP_INSERT, 1);
    if (!row_samples_resize(&d->inserted, n + 1, columns)) {
        d->failed = true;
        return;
    }
    d->inserted.nodes[n] = d->s->nodes[i];
    d->inserted.labels[n] = d->s->labels[i];
    memcpy(d->inserted.values + n * columns, d->s->values + i * columns,
           columns * sizeof(*d->s->values));
}

static void copy(struct differ *d, size_t from, size_t to)
{
    add_op(d, OP_COPY, 1);
    if (!grow(&d->copied_from, &d->from_cap, d->n_copied + 1) ||
        !grow(&d->copied_to, &d->to_cap, d->n_copied + 1)) {
        d->failed = true;
        return;
    }
    d->copied_from[d->n_copied] = from;
    d->copied_to[d->n_copied++] = to;
}

static void pack_ops(struct differ *d)
{
    size_t at = 0;

    for (size_t i = 0; i < d->s->n && !d->failed; i++) {
        size_t found = find_ahead(d->s, i, d->before, at);

        if (found == d->before->n) {
            insert(d, i);
            continue;
        }
        if (found > at)
            add_op(d, OP_SKIP, found - at);
        copy(d, found, i);
        at = found + 1;
    }
    end_op(d);
}

/* Differences of one column over the copied samples: how many are zero, then
 * one that is not, and so on. */
static void pack_differences(struct differ *d, size_t column)
{
    size_t columns = d->s->columns;
    uint64_t zeros = 0;

    for (size_t i = 0; i < d->n_copied; i++) {
        int64_t change =
            i64_sub(d->s->values[d->copied_to[i] * columns + column],
                    d->before->values[d->copied_from[i] * columns + column]);

        if (change == 0) {
            zeros++;
            continue;
        }
        wire_add_varint(d->out, zeros);
        pack_signed(d->out, change);
        zeros = 0;
    }
    if (zeros)
        wire_add_varint(d->out, zeros);
}

void row_pack_changes(const struct row_samples *s,
                      const struct row_samples *before, struct buf *out)
{
    struct buf ops = BUF_INIT(STORE_BUF_BYTES);
    struct differ d = {.s = s, .before = before, .out = &ops};
    bool labels;

    pack_ops(&d);
    labels = any_labels(&d.inserted);
    buf_add_char(out, (char)(KIND_CHANGES | (labels ? KIND_LABELS : 0)));
    wire_add_varint(out, s->n);
    pack_bytes(out, buf_str(&ops));
    pack_nodes(d.inserted.nodes, d.inserted.n, out);
    if (labels)
        pack_labels(d.inserted.labels, d.inserted.n, out);
    d.out = out;
    for (size_t c = 0; c < s->columns; c++) {
        pack_differences(&d, c);
        pack_column(&d.inserted, c, out);
    }
    if (d.failed || !buf_ok(&ops))
        out->failed = true;
    buf_release(&ops);
    row_samples_release(&d.inserted);
    free(d.copied_from);
    free(d.copied_to);
}

/*
 * Reading.
 */

bool row_is_changes(struct str packed)
{
    return packed.n && (packed.s[0] & KIND_CHANGES);
}

static bool unpack_nodes(struct wire_reader *r, uint32_t *nodes, size_t n,
                         size_t limit)
{
    int64_t last = 0, change;

    for (size_t i = 0; i < n; i++) {
        if (!unpack_signed(r, &change))
            return false;
        last = i64_add(last, change);
        if ((uint64_t)last >= limit)
            return false;
        nodes[i] = (uint32_t)last;
    }
    return true;
}

static bool unpack_labels(struct wire_reader *r, uint32_t *labels, size_t n,
                          size_t limit)
{
    for (size_t i = 0; i < n; i++)
        if (!unpack_u32(r, &labels[i]) || labels[i] >= limit)
            return false;
    return true;
}

static bool unpack_column(struct wire_reader *r, struct row_samples *s,
                          size_t column)
{
    for (size_t i = 0; i < s->n; i++)
        if (!unpack_signed(r, &s->values[i * s->columns + column]))
            return false;
    return true;
}

/* The samples of a row that stands alone, or those that were inserted. */
static bool unpack_alone(struct wire_reader *r, int kind, size_t n,
                         size_t columns, const struct dict *d,
                         struct row_samples *out)
{
    /* A sample has a byte at least. */
    if (n > (size_t)(r->end - r->at) || !row_samples_resize(out, n, columns) ||
        !unpack_nodes(r, out->nodes, n, d->n_nodes))
        return false;
    if (kind & KIND_LABELS)
        return unpack_labels(r, out->labels, n, d->tables[DICT_LABELS].n);
    if (n)
        memset(out->labels, 0, n * sizeof(*out->labels));
    return true;
}

static void derive(struct row_samples *s, int64_t period)
{
    for (size_t i = 0; i < s->n; i++)
        s->values[2 * i + 1] = i64_mul(s->values[2 * i], period);
}

static bool unpack_whole(struct wire_reader *r, int kind, size_t n,
                         int64_t period, size_t columns, const struct dict *d,
                         struct row_samples *out)
{
    bool derived = kind & KIND_DERIVED;

    if ((derived && columns != 2) || !unpack_alone(r, kind, n, columns, d, out))
        return false;
    for (size_t c = 0; c < (derived ? 1 : columns); c++)
        if (!unpack_column(r, out, c))
            return false;
    if (derived)
        derive(out, period);
    return true;
}

/* Counts the samples that the operations make and insert; false when they do
 * not fit the rows. */
static bool measure_ops(struct wire_reader r, size_t before, size_t *made,
                        size_t *inserted)
{
    uint64_t v, at = 0, n = 0, new = 0;

    while (wire_more(&r)) {
        if (!wire_read_varint(&r, &v) || v >> OP_BITS > UINT32_MAX)
            return false;
        switch (v & ((1 << OP_BITS) - 1)) {
        case OP_COPY:
            at += v >> OP_BITS;
            n += v >> OP_BITS;
            break;
        case OP_SKIP:
            at += v >> OP_BITS;
            break;
        case OP_INSERT:
            n += v >> OP_BITS;
            new += v >> OP_BITS;
            break;
        default:
            return false;
        }
        if (at > before || n > UINT32_MAX)
            return false;
    }
    *made = n;
    *inserted = new;
    return true;
}

/* One column of the copied samples. */
static bool unpack_differences(struct wire_reader *r, struct wire_reader ops,
                               size_t column, const struct row_samples *before,
                               struct row_samples *out)
{
    size_t columns = out->columns, at = 0, i = 0;
    uint64_t v, zeros = 0;
    bool pending = false; /* a difference follows the zeros */
    int64_t change;

    while (wire_more(&ops) && wire_read_varint(&ops, &v)) {
        uint64_t n = v >> OP_BITS;
        unsigned op = v & ((1 << OP_BITS) - 1);

        if (op == OP_INSERT)
            i += n;
        if (op == OP_SKIP)
            at += n;
        for (uint64_t k = 0; op == OP_COPY && k < n; k++, at++, i++) {
            if (!pending) {
                if (!wire_read_varint(r, &zeros))
                    return false;
                pending = true;
            }
            change = 0;
            if (zeros)
                zeros--;
            else {
                if (!unpack_signed(r, &change))
                    return false;
                pending = false;
            }
            out->values[i * columns + column] =
                i64_add(before->values[at * columns + column], change);
        }
    }
    return zeros == 0;
}

/* Puts the inserted samples' values of one column into their places. */
static void place_inserted(const struct row_samples *inserted,
                           struct wire_reader ops, size_t column,
                           struct row_samples *out)
{
    size_t columns = out->columns, i = 0, from = 0;
    uint64_t v;

    while (wire_more(&ops) && wire_read_varint(&ops, &v)) {
        uint64_t n = v >> OP_BITS;
        unsigned op = v & ((1 << OP_BITS) - 1);

        if (op == OP_COPY)
            i += n;
        for (uint64_t k = 0; op == OP_INSERT && k < n; k++, i++, from++)
            out->values[i * columns + column] =
                inserted->values[from * columns + column];
    }
}

static void place_keys(const struct row_samples *inserted,
                       const struct row_samples *before, struct wire_reader ops,
                       struct row_samples *out)
{
    size_t i = 0, from = 0, at = 0;
    uint64_t v;

    while (wire_more(&ops) && wire_read_varint(&ops, &v)) {
        size_t n = v >> OP_BITS;
        unsigned op = v & ((1 << OP_BITS) - 1);
        const struct row_samples *source = op == OP_COPY ? before : inserted;
        size_t *place = op == OP_INSERT ? &from : &at;

        if (op != OP_SKIP && n) {
            memcpy(out->nodes + i, source->nodes + *place,
                   n * sizeof(*out->nodes));
            memcpy(out->labels + i, source->labels + *place,
                   n * sizeof(*out->labels));
            i += n;
        }
        *place += n;
    }
}

static bool unpack_changes(struct wire_reader *r, int kind, size_t n,
                           size_t columns, const struct dict *d,
                           const struct row_samples *before,
                           struct row_samples *out)
{
    struct row_samples inserted = {0};
    struct wire_reader ops;
    size_t made, new;
    bool ok = before && before->columns == columns && wire_read_bytes(r, &ops);

    ok = ok && measure_ops(ops, before->n, &made, &new) && made == n &&
         row_samples_resize(out, n, columns) &&
         unpack_alone(r, kind, new, columns, d, &inserted);
    if (ok)
        place_keys(&inserted, before, ops, out);
    for (size_t c = 0; ok && c < columns; c++) {
        ok = unpack_differences(r, ops, c, before, out) &&
             unpack_column(r, &inserted, c);
        if (ok)
            place_inserted(&inserted, ops, c, out);
    }
    row_samples_release(&inserted);
    return ok;
}

bool row_unpack(struct str packed, int64_t period, size_t columns,
                const struct dict *d, const struct row_samples *before,
                struct row_samples *out)
{
    struct wire_reader r = unpack_begin(packed);
    uint32_t n;
    int kind;

    if (packed.n == 0)
        return false;
    kind = *r.at++;
    if (kind > (KIND_LABELS | KIND_DERIVED | KIND_CHANGES) ||
        !unpack_u32(&r, &n))
        return false;
    if (kind & KIND_CHANGES)
        return unpack_changes(&r, kind, n, columns, d, before, out) &&
               !wire_more(&r);
    return unpack_whole(&r, kind, n, period, columns, d, out) && !wire_more(&r);
}

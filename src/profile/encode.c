/*
 * Two walks: the first numbers the strings in order of their first use, the
 * second writes.  Samples are written straight into the buffer: room for the
 * largest that one could become is made once, lengths are put in place when
 * they are known.
 */
#include "profile/encode.h"

#include <string.h>

#include "base/discard.h"
#include "base/gzip.h"
#include "profile/proto.h"
#include "profile/wire.h"

enum { CONSUME_STEP = 1 << 15 }; /* samples given back at a time */

struct encoder {
    const struct profile *p;
    bool consume; /* samples that have been written may be given back */
    struct buf *out;
    struct arena *scratch;
    uint32_t *index;  /* string id to index in the new table; 0: not yet */
    string_id *order; /* the new table */
    uint32_t n;
    uint64_t *location_ids; /* NULL: location i has id i + 1 */
};

/*
 * The string table.
 */

static void use(struct encoder *e, string_id id)
{
    if (id == 0 || e->index[id])
        return;
    e->index[id] = e->n;
    e->order[e->n++] = id;
}

static void use_labels(struct encoder *e)
{
    const struct profile *p = e->p;
    size_t n = p->label_start[p->n_samples];

    for (size_t i = 0; i < n; i++) {
        use(e, p->labels[i].key);
        use(e, p->labels[i].str);
    }
}

static void number_strings(struct encoder *e)
{
    const struct profile *p = e->p;

    e->index = arena_new_array(e->scratch, uint32_t, p->strings.n);
    e->order = arena_new_array(e->scratch, string_id, p->strings.n);
    e->n = 1;
    for (size_t i = 0; i < p->types.n; i++) {
        use(e, p->types.v[i].type);
        use(e, p->types.v[i].unit);
    }
    use_labels(e);
    for (size_t i = 0; i < p->mappings.n; i++) {
        use(e, p->mappings.v[i].file);
        use(e, p->mappings.v[i].build_id);
    }
    for (size_t i = 0; i < p->functions.n; i++) {
        use(e, p->functions.v[i].name);
        use(e, p->functions.v[i].system_name);
        use(e, p->functions.v[i].filename);
    }
    use(e, p->drop_frames);
    use(e, p->keep_frames);
    use(e, p->period_type.type);
    use(e, p->period_type.unit);
    for (size_t i = 0; i < p->comments.n; i++)
        use(e, p->comments.v[i]);
    use(e, p->default_type);
    use(e, p->doc_url);
}

static void text(struct encoder *e, unsigned field, string_id id)
{
    wire_add_u64_opt(e->out, field, e->index[id]);
}

static void value_type(struct encoder *e, unsigned field, struct value_type t)
{
    size_t mark = wire_open(e->out, field);

    text(e, PROTO_TYPE_TYPE, t.type);
    text(e, PROTO_TYPE_UNIT, t.unit);
    wire_close(e->out, mark);
}

/*
 * Samples.
 */

static void find_location_ids(struct encoder *e)
{
    const struct profile *p = e->p;
    bool in_order = true;

    for (size_t i = 0; i < p->locations.n; i++)
        in_order &= p->locations.v[i].id == i + 1;
    if (in_order)
        return;
    e->location_ids = arena_new_array(e->scratch, uint64_t, p->locations.n);
    for (size_t i = 0; i < p->locations.n; i++)
        e->location_ids[i] = p->locations.v[i].id;
}

static uint64_t location_id(const struct encoder *e, uint32_t location)
{
    if (location == NO_INDEX)
        return 0;
    return e->location_ids ? e->location_ids[location] : (uint64_t)location + 1;
}

/* Ids in order, which most profiles have, of at most 21 bits each: nearly all
 * of them. */
static char *put_ids_in_order(char *to, const uint32_t *stack, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t id = stack[i] + 1; /* 0 for NO_INDEX */

        if (id < 1 << 7) {
            *to++ = (char)id;
        } else if (id < 1 << 14) {
            to[0] = (char)(id | 0x80);
            to[1] = (char)(id >> 7);
            to += 2;
        } else if (id < 1 << 21) {
            to[0] = (char)(id | 0x80);
            to[1] = (char)(id >> 7 | 0x80);
            to[2] = (char)(id >> 14);
            to += 3;
        } else {
            to = wire_put_varint(to, id);
        }
    }
    return to;
}

static char *put_ids(const struct encoder *e, char *to, const uint32_t *stack,
                     size_t n)
{
    if (!e->location_ids)
        return put_ids_in_order(to, stack, n);
    for (size_t i = 0; i < n; i++)
        to = wire_put_varint(to, location_id(e, stack[i]));
    return to;
}

/* Puts the length n of what starts at `from` in front of it, where one byte
 * was left for it; returns the new end. */
static char *put_length(char *from, size_t n)
{
    size_t extra = wire_varint_size(n) - 1;

    if (extra)
        memmove(from + extra, from, n);
    wire_put_varint(from - 1, n);
    return from + extra + n;
}

static char *put_stack(const struct encoder *e, char *to, size_t sample)
{
    const uint32_t *stack = e->p->stack + e->p->loc_start[sample];
    size_t n = profile_depth(e->p, sample);
    char *start;

    if (n <= 2) {
        for (size_t i = 0; i < n; i++) {
            *to++ = PROTO_SAMPLE_LOCATION << 3 | WIRE_VARINT;
            to = wire_put_varint(to, location_id(e, stack[i]));
        }
        return to;
    }
    *to++ = PROTO_SAMPLE_LOCATION << 3 | WIRE_BYTES;
    start = ++to;
    to = put_ids(e, to, stack, n);
    return put_length(start, (size_t)(to - start));
}

static char *put_values(const struct encoder *e, char *to, size_t sample)
{
    size_t n = e->p->types.n;
    const int64_t *values = e->p->values + sample * n;
    char *start;

    if (n <= 2) {
        for (size_t i = 0; i < n; i++) {
            *to++ = PROTO_SAMPLE_VALUE << 3 | WIRE_VARINT;
            to = wire_put_varint(to, (uint64_t)values[i]);
        }
        return to;
    }
    *to++ = PROTO_SAMPLE_VALUE << 3 | WIRE_BYTES;
    start = ++to;
    for (size_t i = 0; i < n; i++)
        to = wire_put_varint(to, (uint64_t)values[i]);
    return put_length(start, (size_t)(to - start));
}

static char *put_opt(char *to, unsigned field, uint64_t v)
{
    if (!v)
        return to;
    *to++ = (char)(field << 3 | WIRE_VARINT);
    return wire_put_varint(to, v);
}

enum { LABEL_MAX = 2 + 4 * (1 + WIRE_VARINT_MAX) }; /* bytes */

static char *put_label(const struct encoder *e, char *to, struct label label)
{
    uint64_t str = e->index[label.str];
    char *start;

    *to++ = PROTO_SAMPLE_LABEL << 3 | WIRE_BYTES;
    start = ++to;
    to = put_opt(to, PROTO_LABEL_KEY, e->index[label.key]);
    if (label.kind == LABEL_STRING) {
        to = put_opt(to, PROTO_LABEL_STR, str);
    } else {
        to = put_opt(to, PROTO_LABEL_NUM, (uint64_t)label.num);
        if (label.kind == LABEL_MEASURE)
            to = put_opt(to, PROTO_LABEL_UNIT, str);
    }
    return put_length(start, (size_t)(to - start));
}

static void sample(struct encoder *e, size_t i)
{
    const struct profile *p = e->p;
    size_t first = p->label_start[i], labels = p->label_start[i + 1] - first;
    size_t scalars = profile_depth(p, i) + p->types.n;
    size_t most = 3 * (1 + WIRE_VARINT_MAX) + labels * LABEL_MAX +
                  scalars * (1 + WIRE_VARINT_MAX);
    char *to = buf_reserve(e->out, most), *start;

    if (!to)
        return;
    *to++ = PROTO_SAMPLE << 3 | WIRE_BYTES;
    start = ++to;
    to = put_stack(e, to, i);
    to = put_values(e, to, i);
    for (size_t k = 0; k < labels; k++)
        to = put_label(e, to, p->labels[first + k]);
    to = put_length(start, (size_t)(to - start));
    e->out->len = (size_t)(to - e->out->data);
}

/*
 * The other tables.
 */

static void mapping(struct encoder *e, const struct mapping *m)
{
    struct buf *out = e->out;
    size_t mark = wire_open(out, PROTO_MAPPING);

    wire_add_u64_opt(out, PROTO_MAPPING_ID, m->id);
    wire_add_u64_opt(out, PROTO_MAPPING_START, m->start);
    wire_add_u64_opt(out, PROTO_MAPPING_LIMIT, m->limit);
    wire_add_u64_opt(out, PROTO_MAPPING_OFFSET, m->offset);
    text(e, PROTO_MAPPING_FILE, m->file);
    text(e, PROTO_MAPPING_BUILD_ID, m->build_id);
    wire_add_u64_opt(out, PROTO_MAPPING_HAS_FUNCTIONS, m->has_functions);
    wire_add_u64_opt(out, PROTO_MAPPING_HAS_FILENAMES, m->has_filenames);
    wire_add_u64_opt(out, PROTO_MAPPING_HAS_LINE_NUMBERS, m->has_line_numbers);
    wire_add_u64_opt(out, PROTO_MAPPING_HAS_INLINE_FRAMES,
                     m->has_inline_frames);
    wire_close(out, mark);
}

static void line(struct encoder *e, const struct line *l)
{
    size_t mark = wire_open(e->out, PROTO_LOCATION_LINE);

    if (l->function != NO_INDEX)
        wire_add_u64_opt(e->out, PROTO_LINE_FUNCTION,
                         e->p->functions.v[l->function].id);
    wire_add_i64_opt(e->out, PROTO_LINE_LINE, l->line);
    wire_add_i64_opt(e->out, PROTO_LINE_COLUMN, l->column);
    wire_close(e->out, mark);
}

static void location(struct encoder *e, const struct location *l)
{
    struct buf *out = e->out;
    size_t mark = wire_open(out, PROTO_LOCATION);

    wire_add_u64_opt(out, PROTO_LOCATION_ID, l->id);
    if (l->mapping != NO_INDEX)
        wire_add_u64_opt(out, PROTO_LOCATION_MAPPING,
                         e->p->mappings.v[l->mapping].id);
    wire_add_u64_opt(out, PROTO_LOCATION_ADDRESS, l->address);
    for (uint32_t i = 0; i < l->n_lines; i++)
        line(e, &e->p->lines.v[l->line_start + i]);
    wire_add_u64_opt(out, PROTO_LOCATION_FOLDED, l->is_folded);
    wire_close(out, mark);
}

static void function(struct encoder *e, const struct function *f)
{
    size_t mark = wire_open(e->out, PROTO_FUNCTION);

    wire_add_u64_opt(e->out, PROTO_FUNCTION_ID, f->id);
    text(e, PROTO_FUNCTION_NAME, f->name);
    text(e, PROTO_FUNCTION_SYSTEM_NAME, f->system_name);
    text(e, PROTO_FUNCTION_FILENAME, f->filename);
    wire_add_i64_opt(e->out, PROTO_FUNCTION_START_LINE, f->start_line);
    wire_close(e->out, mark);
}

static void comments(struct encoder *e)
{
    size_t n = e->p->comments.n;
    uint64_t *v = arena_new_array(e->scratch, uint64_t, n);

    for (size_t i = 0; i < n; i++)
        v[i] = e->index[e->p->comments.v[i]];
    wire_add_u64s(e->out, PROTO_COMMENT, v, n);
}

/* Gives back what samples [from, to) took; part of their first and last
 * pages stays. */
static void discard_samples(const struct profile *p, size_t from, size_t to)
{
    size_t frames = p->loc_start[to] - p->loc_start[from];
    size_t labels = p->label_start[to] - p->label_start[from];
    size_t values = (to - from) * p->types.n;

    if (frames)
        discard_pages(p->stack + p->loc_start[from],
                      frames * sizeof(*p->stack));
    if (labels)
        discard_pages(p->labels + p->label_start[from],
                      labels * sizeof(*p->labels));
    if (values)
        discard_pages(p->values + from * p->types.n,
                      values * sizeof(*p->values));
    discard_pages(p->loc_start + from, (to - from) * sizeof(*p->loc_start));
    discard_pages(p->label_start + from, (to - from) * sizeof(*p->label_start));
}

static void samples(struct encoder *e)
{
    size_t n = e->p->n_samples, step = e->consume ? CONSUME_STEP : n;

    for (size_t i = 0; i < n;) {
        size_t from = i, to = n - i < step ? n : i + step;

        for (; i < to; i++)
            sample(e, i);
        if (e->consume)
            discard_samples(e->p, from, to);
    }
}

static void tables(struct encoder *e)
{
    const struct profile *p = e->p;

    for (size_t i = 0; i < p->types.n; i++)
        value_type(e, PROTO_SAMPLE_TYPE, p->types.v[i]);
    samples(e);
    for (size_t i = 0; i < p->mappings.n; i++)
        mapping(e, &p->mappings.v[i]);
    for (size_t i = 0; i < p->locations.n; i++)
        location(e, &p->locations.v[i]);
    for (size_t i = 0; i < p->functions.n; i++)
        function(e, &p->functions.v[i]);
    for (size_t i = 0; i < e->n; i++)
        wire_add_bytes(e->out, PROTO_STRING, profile_str(p, e->order[i]));
}

static void encode(const struct profile *p, bool consume, struct buf *out)
{
    struct encoder e = {
        .p = p, .consume = consume, .out = out, .scratch = arena_new()};

    number_strings(&e);
    find_location_ids(&e);
    tables(&e);
    text(&e, PROTO_DROP_FRAMES, p->drop_frames);
    text(&e, PROTO_KEEP_FRAMES, p->keep_frames);
    wire_add_i64_opt(out, PROTO_TIME_NS, p->time_ns);
    wire_add_i64_opt(out, PROTO_DURATION_NS, p->duration_ns);
    if (p->period_type.type || p->period_type.unit)
        value_type(&e, PROTO_PERIOD_TYPE, p->period_type);
    wire_add_i64_opt(out, PROTO_PERIOD, p->period);
    comments(&e);
    wire_add_u64(out, PROTO_DEFAULT_TYPE, e.index[p->default_type]);
    text(&e, PROTO_DOC_URL, p->doc_url);
    arena_free(e.scratch);
}

void profile_encode(const struct profile *p, struct buf *out)
{
    encode(p, false, out);
}

static bool encode_gzip(const struct profile *p, bool consume, struct buf *out,
                        struct error *err)
{
    struct arena *scratch = arena_new();
    struct buf raw = arena_buf(scratch);
    bool ok;

    encode(p, consume, &raw);
    if (buf_ok(&raw))
        ok = gzip_deflate(buf_str(&raw), out, err);
    else
        ok = error_set(err, "out of memory for the encoded profile");
    arena_free(scratch);
    return ok;
}

bool profile_encode_gzip(const struct profile *p, struct buf *out,
                         struct error *err)
{
    return encode_gzip(p, false, out, err);
}

bool profile_encode_gzip_consume(struct profile *p, struct buf *out,
                                 struct error *err)
{
    bool ok = encode_gzip(p, true, out, err);

    p->n_samples = 0;
    p->loc_start[0] = 0;
    p->label_start[0] = 0;
    return ok;
}

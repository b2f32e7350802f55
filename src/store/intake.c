/*
 * The fast way in.  It knows one thing only: a profile.proto that breaks no
 * rule of the analyser's reader.  Whatever else comes (legacy formats,
 * malformed messages, unusual wire types) it does not judge: it says
 * INTAKE_OTHER and the caller asks profile_read_memory(), so that there is
 * one judge and one set of words.
 *
 * The top level is scanned once, which collects the messages of each kind;
 * then the tables are read in the order of who refers to whom.
 */
#include "store/intake.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "profile/proto.h"
#include "profile/wire_read.h"
#include "store/grow.h"
#include "store/pack.h"

/* One more element, or INTAKE_NO_MEMORY. */
#define push(array)                                                            \
    (grow(&(array)->v, &(array)->cap, (array)->n + 1)                          \
         ? &(array)->v[(array)->n++]                                           \
         : NULL)

struct reading {
    struct intake *in;
    const struct intake_bounds *bounds;
    struct error *err;
    enum intake_verdict verdict;
    uint64_t once[PROTO_DOC_URL + 1];
    size_t records;
};

static bool stop(struct reading *rd, enum intake_verdict verdict)
{
    rd->verdict = verdict;
    return false;
}

static bool other(struct reading *rd)
{
    return stop(rd, INTAKE_OTHER);
}

static void release_ids(struct in_ids *ids)
{
    free(ids->slots);
}

void intake_release(struct intake *in)
{
    free(in->strings.v);
    free(in->types.v);
    free(in->mappings.v);
    free(in->functions.v);
    free(in->locations.v);
    free(in->lines.v);
    free(in->samples.v);
    free(in->stack.v);
    free(in->values.v);
    free(in->labels.v);
    free(in->comments.v);
    for (size_t i = 0; i < sizeof(in->spans) / sizeof(*in->spans); i++)
        free(in->spans[i].v);
    release_ids(&in->mapping_ids);
    release_ids(&in->function_ids);
    release_ids(&in->location_ids);
    buf_release(&in->inflated);
    *in = (struct intake){0};
}

void intake_clear(struct intake *in)
{
    in->strings.n = in->types.n = in->mappings.n = in->functions.n = 0;
    in->locations.n = in->lines.n = in->samples.n = in->stack.n = 0;
    in->values.n = in->labels.n = in->comments.n = 0;
    in->drop_frames = in->keep_frames = in->default_type = in->doc_url = 0;
    in->period_type = in->period_unit = 0;
    in->mapping_ids.used = in->function_ids.used = false;
    in->location_ids.used = false;
    for (size_t i = 0; i < sizeof(in->spans) / sizeof(*in->spans); i++)
        in->spans[i].n = 0;
}

/*
 * Ids.  Nearly all writers number from 1 in order; for the rest there is a
 * hash table.  Ids must be unique and not 0.
 */

static size_t id_slot(const struct in_ids *ids, uint64_t id)
{
    return (size_t)(hash_mix(id ^ ids->seed) >> 20) & ids->mask;
}

static uint32_t find_id(const struct in_ids *ids, uint64_t id, size_t n)
{
    if (!ids->used)
        return id - 1 < n ? (uint32_t)(id - 1) : NO_INDEX;
    for (size_t at = id_slot(ids, id); ids->slots[2 * at + 1];
         at = (at + 1) & ids->mask)
        if (ids->slots[2 * at] == id)
            return (uint32_t)ids->slots[2 * at + 1] - 1;
    return NO_INDEX;
}

static bool start_ids(struct in_ids *ids, size_t expected)
{
    size_t slots = 16;

    while (slots / 2 < expected)
        slots *= 2;
    if (!grow(&ids->slots, &ids->cap, 2 * slots))
        return false;
    memset(ids->slots, 0, 2 * slots * sizeof(*ids->slots));
    ids->mask = slots - 1;
    ids->seed = hash_seed(ids->slots);
    ids->used = true;
    return true;
}

static void put_id(struct in_ids *ids, uint64_t id, size_t place)
{
    size_t at = id_slot(ids, id);

    while (ids->slots[2 * at + 1])
        at = (at + 1) & ids->mask;
    ids->slots[2 * at] = id;
    ids->slots[2 * at + 1] = place + 1;
}

/* An id that is not the next number, or comes after one that was not. */
static bool note_odd_id(struct reading *rd, struct in_ids *ids, uint64_t id,
                        size_t place, size_t expected)
{
    if (id == 0)
        return other(rd);
    if (!ids->used) {
        if (!start_ids(ids, expected))
            return stop(rd, INTAKE_NO_MEMORY);
        for (size_t i = 0; i < place; i++)
            put_id(ids, i + 1, i);
    }
    if (find_id(ids, id, 0) != NO_INDEX)
        return other(rd);
    put_id(ids, id, place);
    return true;
}

/* Notes the id of record `place`, of `expected` in all. */
static inline bool note_id(struct reading *rd, struct in_ids *ids, uint64_t id,
                           size_t place, size_t expected)
{
    return (!ids->used && id == place + 1) ||
           note_odd_id(rd, ids, id, place, expected);
}

/*
 * Messages.
 */

/* wire_next() for the two types that profiles consist of. */
__attribute__((always_inline)) static inline bool
next_field(struct wire_reader *r, struct wire_field *f)
{
    uint64_t tag, n;

    if (__builtin_expect(r->at < r->end && *r->at < 0x80, 1)) {
        tag = *r->at;
        if ((tag & 7) == WIRE_VARINT) {
            r->at++;
            f->number = tag >> 3;
            f->type = WIRE_VARINT;
            return unpack_varint(r, &f->value);
        }
        if ((tag & 7) == WIRE_BYTES) {
            r->at++;
            f->number = tag >> 3;
            f->type = WIRE_BYTES;
            if (!unpack_varint(r, &n) || n > (uint64_t)(r->end - r->at))
                return false;
            f->bytes = (struct wire_reader){.at = r->at, .end = r->at + n};
            r->at += n;
            return true;
        }
    }
    return wire_next(r, f);
}

/* A field of a message of numbers that is not in its usual short form. */
static bool read_long_scalar(struct reading *rd, struct wire_reader *r,
                             uint64_t *v, size_t n)
{
    struct wire_field f;

    if (!next_field(r, &f))
        return other(rd);
    if (f.number == 0 || f.number > n)
        return true;
    if (f.type != WIRE_VARINT)
        return other(rd);
    v[f.number] = f.value;
    return true;
}

/* The fields 1 to n of a message that has nothing but numbers.  Inlined by
 * force: with n known, clearing v and the comparisons cost next to nothing,
 * and there is one such message for each line and function. */
__attribute__((always_inline)) static inline bool
read_scalars(struct reading *rd, struct wire_reader r, uint64_t *v, size_t n)
{
    for (size_t i = 0; i <= n; i++)
        v[i] = 0;
    while (wire_more(&r)) {
        unsigned tag;
        uint64_t value;
        const unsigned char *next = wire_short_field(r.at, r.end, &tag, &value);

        if (next && (tag & 7) == WIRE_VARINT) {
            r.at = next;
            if (tag >> 3 <= n)
                v[tag >> 3] = value; /* nobody looks at v[0] */
        } else if (!read_long_scalar(rd, &r, v, n)) {
            return false;
        }
    }
    return true;
}

static bool text(struct reading *rd, uint64_t index, uint32_t *out)
{
    if (index >= rd->in->strings.n)
        return other(rd);
    *out = (uint32_t)index;
    return true;
}

static struct wire_reader span_reader(struct str s)
{
    const unsigned char *at = (const unsigned char *)s.s;

    return (struct wire_reader){.at = at, .end = at + s.n};
}

static bool read_type(struct reading *rd, struct wire_reader r)
{
    struct in_type *t = push(&rd->in->types);
    uint64_t v[PROTO_TYPE_UNIT + 1];

    if (!t)
        return stop(rd, INTAKE_NO_MEMORY);
    return read_scalars(rd, r, v, PROTO_TYPE_UNIT) &&
           text(rd, v[PROTO_TYPE_TYPE], &t->type) &&
           text(rd, v[PROTO_TYPE_UNIT], &t->unit);
}

static bool read_mapping(struct reading *rd, struct wire_reader r)
{
    struct intake *in = rd->in;
    struct in_mapping *m = push(&in->mappings);
    uint64_t v[PROTO_MAPPING_HAS_INLINE_FRAMES + 1];

    if (!m)
        return stop(rd, INTAKE_NO_MEMORY);
    if (!read_scalars(rd, r, v, PROTO_MAPPING_HAS_INLINE_FRAMES))
        return false;
    m->id = v[PROTO_MAPPING_ID];
    m->start = v[PROTO_MAPPING_START];
    m->limit = v[PROTO_MAPPING_LIMIT];
    m->offset = v[PROTO_MAPPING_OFFSET];
    m->flags = (uint32_t)(v[PROTO_MAPPING_HAS_FUNCTIONS] != 0) |
               (uint32_t)(v[PROTO_MAPPING_HAS_FILENAMES] != 0) << 1 |
               (uint32_t)(v[PROTO_MAPPING_HAS_LINE_NUMBERS] != 0) << 2 |
               (uint32_t)(v[PROTO_MAPPING_HAS_INLINE_FRAMES] != 0) << 3;
    return text(rd, v[PROTO_MAPPING_FILE], &m->file) &&
           text(rd, v[PROTO_MAPPING_BUILD_ID], &m->build_id) &&
           note_id(rd, &in->mapping_ids, m->id, in->mappings.n - 1,
                   in->spans[PROTO_MAPPING].n);
}

static bool read_function(struct reading *rd, struct wire_reader r)
{
    struct intake *in = rd->in;
    struct in_function *f = push(&in->functions);
    uint64_t v[PROTO_FUNCTION_START_LINE + 1];

    if (!f)
        return stop(rd, INTAKE_NO_MEMORY);
    if (!read_scalars(rd, r, v, PROTO_FUNCTION_START_LINE))
        return false;
    f->id = v[PROTO_FUNCTION_ID];
    f->start_line = (int64_t)v[PROTO_FUNCTION_START_LINE];
    return text(rd, v[PROTO_FUNCTION_NAME], &f->name) &&
           text(rd, v[PROTO_FUNCTION_SYSTEM_NAME], &f->system_name) &&
           text(rd, v[PROTO_FUNCTION_FILENAME], &f->filename) &&
           note_id(rd, &in->function_ids, f->id, in->functions.n - 1,
                   in->spans[PROTO_FUNCTION].n);
}

static bool read_line(struct reading *rd, struct wire_reader r)
{
    struct intake *in = rd->in;
    struct in_line *line = push(&in->lines);
    uint64_t v[PROTO_LINE_COLUMN + 1];

    if (!line)
        return stop(rd, INTAKE_NO_MEMORY);
    if (!read_scalars(rd, r, v, PROTO_LINE_COLUMN))
        return false;
    line->function =
        find_id(&in->function_ids, v[PROTO_LINE_FUNCTION], in->functions.n);
    line->line = (int64_t)v[PROTO_LINE_LINE];
    line->column = (int64_t)v[PROTO_LINE_COLUMN];
    return line->function != NO_INDEX || other(rd);
}

/* A location's field that is not in its usual short form. */
static bool read_long_field(struct reading *rd, struct wire_reader *r,
                            uint64_t *v)
{
    struct wire_field f;

    if (!next_field(r, &f))
        return other(rd);
    if (f.number == 0 || f.number > PROTO_LOCATION_FOLDED)
        return true;
    if (f.number == PROTO_LOCATION_LINE)
        return f.type == WIRE_BYTES ? read_line(rd, f.bytes) : other(rd);
    if (f.type != WIRE_VARINT)
        return other(rd);
    v[f.number] = f.value;
    return true;
}

static bool read_location_fields(struct reading *rd, struct wire_reader r,
                                 uint64_t *v)
{
    enum { LINE = PROTO_LOCATION_LINE << 3 | WIRE_BYTES };

    while (wire_more(&r)) {
        unsigned tag;
        uint64_t value;
        const unsigned char *next = wire_short_field(r.at, r.end, &tag, &value);

        if (next && tag == LINE && value <= (uint64_t)(r.end - next)) {
            r.at = next + value;
            if (!read_line(rd, (struct wire_reader){.at = next, .end = r.at}))
                return false;
        } else if (next && (tag & 7) == WIRE_VARINT &&
                   tag >> 3 < PROTO_LOCATION_LINE) {
            r.at = next;
            v[tag >> 3] = value;
        } else if (!read_long_field(rd, &r, v)) {
            return false;
        }
    }
    return true;
}

static bool read_location(struct reading *rd, struct wire_reader r)
{
    struct intake *in = rd->in;
    struct in_location *l = push(&in->locations);
    uint64_t v[PROTO_LOCATION_FOLDED + 1] = {0};

    if (!l)
        return stop(rd, INTAKE_NO_MEMORY);
    l->line_start = (uint32_t)in->lines.n;
    if (!read_location_fields(rd, r, v))
        return false;
    l->id = v[PROTO_LOCATION_ID];
    l->address = v[PROTO_LOCATION_ADDRESS];
    l->is_folded = v[PROTO_LOCATION_FOLDED] != 0;
    l->n_lines = (uint32_t)in->lines.n - l->line_start;
    l->mapping =
        find_id(&in->mapping_ids, v[PROTO_LOCATION_MAPPING], in->mappings.n);
    return note_id(rd, &in->location_ids, l->id, in->locations.n - 1,
                   in->spans[PROTO_LOCATION].n);
}

/*
 * Samples.
 */

static bool add_frame(struct reading *rd, uint64_t id)
{
    struct intake *in = rd->in;
    uint32_t place = find_id(&in->location_ids, id, in->locations.n);
    uint32_t *frame;

    if (place == NO_INDEX)
        return other(rd);
    frame = push(&in->stack);
    if (!frame)
        return stop(rd, INTAKE_NO_MEMORY);
    *frame = place;
    return true;
}

/* Most of a profile.  A frame has a byte at least, so room is made once. */
static bool add_frames(struct reading *rd, struct wire_reader r)
{
    struct intake *in = rd->in;
    size_t n = in->stack.n, locations = in->locations.n;
    bool in_order = !in->location_ids.used;
    uint64_t id;

    if (!grow(&in->stack.v, &in->stack.cap, n + (size_t)(r.end - r.at)))
        return stop(rd, INTAKE_NO_MEMORY);
    while (wire_more(&r)) {
        uint32_t place;

        if (!unpack_varint(&r, &id))
            return other(rd);
        if (in_order)
            place = id - 1 < locations ? (uint32_t)(id - 1) : NO_INDEX;
        else
            place = find_id(&in->location_ids, id, locations);
        if (place == NO_INDEX)
            return other(rd);
        in->stack.v[n++] = place;
    }
    in->stack.n = n;
    return true;
}

static bool add_value(struct reading *rd, uint64_t v)
{
    int64_t *value = push(&rd->in->values);

    if (!value)
        return stop(rd, INTAKE_NO_MEMORY);
    *value = (int64_t)v;
    return true;
}

static bool add_values(struct reading *rd, struct wire_reader r)
{
    uint64_t v;

    while (wire_more(&r)) {
        if (!unpack_varint(&r, &v))
            return other(rd);
        if (!add_value(rd, v))
            return false;
    }
    return true;
}

/* Which kind it is follows from the indices, not from the texts. */
static bool add_label(struct reading *rd, struct wire_reader r)
{
    uint64_t v[PROTO_LABEL_UNIT + 1];
    struct in_label *label;
    uint32_t key, str;

    if (!read_scalars(rd, r, v, PROTO_LABEL_UNIT) ||
        !text(rd, v[PROTO_LABEL_KEY], &key) ||
        !text(rd, v[PROTO_LABEL_STR] ? v[PROTO_LABEL_STR] : v[PROTO_LABEL_UNIT],
              &str))
        return false;
    if (!v[PROTO_LABEL_STR] && !v[PROTO_LABEL_NUM] && !v[PROTO_LABEL_UNIT])
        return true;
    label = push(&rd->in->labels);
    if (!label)
        return stop(rd, INTAKE_NO_MEMORY);
    *label = (struct in_label){.key = key, .str = str};
    label->kind = v[PROTO_LABEL_STR]    ? LABEL_STRING
                  : v[PROTO_LABEL_UNIT] ? LABEL_MEASURE
                                        : LABEL_NUMBER;
    if (label->kind != LABEL_STRING)
        label->num = (int64_t)v[PROTO_LABEL_NUM];
    return true;
}

static bool add_sample_field(struct reading *rd, const struct wire_field *f)
{
    switch (f->number) {
    case PROTO_SAMPLE_LOCATION:
        if (f->type == WIRE_BYTES)
            return add_frames(rd, f->bytes);
        return f->type == WIRE_VARINT ? add_frame(rd, f->value) : other(rd);
    case PROTO_SAMPLE_VALUE:
        if (f->type == WIRE_BYTES)
            return add_values(rd, f->bytes);
        return f->type == WIRE_VARINT ? add_value(rd, f->value) : other(rd);
    case PROTO_SAMPLE_LABEL:
        return f->type == WIRE_BYTES ? add_label(rd, f->bytes) : other(rd);
    default:
        return true;
    }
}

static int compare_labels(const struct intake *in, const struct in_label *a,
                          const struct in_label *b)
{
    bool number_a = a->kind != LABEL_STRING, number_b = b->kind != LABEL_STRING;

    if (number_a != number_b)
        return number_a - number_b;
    return a->key == b->key
               ? 0
               : str_cmp(in->strings.v[a->key], in->strings.v[b->key]);
}

/* The order of profile_sort_labels(): strings first, then by key, equal keys
 * as they came; a number is a measure if any number of its key has a unit.
 * By insertion: samples have a handful. */
static void sort_labels(struct intake *in, size_t start)
{
    struct in_label *labels = in->labels.v + start;
    size_t n = in->labels.n - start;

    for (size_t i = 1; i < n; i++) {
        struct in_label label = labels[i];
        size_t at = i;

        for (; at && compare_labels(in, &labels[at - 1], &label) > 0; at--)
            labels[at] = labels[at - 1];
        labels[at] = label;
    }
    for (size_t i = 0; i < n;) {
        size_t end = i + 1;
        bool measure = labels[i].kind == LABEL_MEASURE;

        for (; end < n && compare_labels(in, &labels[i], &labels[end]) == 0;
             end++)
            measure |= labels[end].kind == LABEL_MEASURE;
        for (; i < end; i++)
            if (measure)
                labels[i].kind = LABEL_MEASURE;
    }
}

/* More labels on one sample than this are left to the other reader. */
enum { MANY_LABELS = 64 };

static bool read_sample(struct reading *rd, struct wire_reader r)
{
    struct intake *in = rd->in;
    struct in_sample *s = push(&in->samples);
    size_t values = in->values.n, labels = in->labels.n;
    size_t frames = in->stack.n;
    struct wire_field f;

    if (!s)
        return stop(rd, INTAKE_NO_MEMORY);
    *s = (struct in_sample){frames, labels};
    while (wire_more(&r)) {
        if (!next_field(&r, &f))
            return other(rd);
        if (!add_sample_field(rd, &f))
            return false;
    }
    if (in->values.n - values != in->types.n ||
        in->labels.n - labels > MANY_LABELS)
        return other(rd);
    if (in->stack.n - frames > rd->bounds->depth) {
        error_set(rd->err, "sample %zu has %zu frames, the limit is %zu",
                  in->samples.n - 1, in->stack.n - frames, rd->bounds->depth);
        return stop(rd, INTAKE_TOO_LARGE);
    }
    if (in->stack.n > rd->bounds->frames) {
        error_set(rd->err, "more than %zu frames in all, which is the limit",
                  rd->bounds->frames);
        return stop(rd, INTAKE_TOO_LARGE);
    }
    if (in->labels.n - labels > 1)
        sort_labels(in, labels);
    return true;
}

/*
 * The whole.
 */

static bool add_comments(struct reading *rd, const struct wire_field *f)
{
    struct wire_reader r;
    uint64_t v = f->value;

    if (f->type == WIRE_VARINT) {
        int64_t *comment = push(&rd->in->comments);

        if (!comment)
            return stop(rd, INTAKE_NO_MEMORY);
        *comment = (int64_t)v;
        return true;
    }
    if (f->type != WIRE_BYTES)
        return other(rd);
    for (r = f->bytes; wire_more(&r);) {
        int64_t *comment = push(&rd->in->comments);

        if (!comment)
            return stop(rd, INTAKE_NO_MEMORY);
        if (!wire_read_varint(&r, &v))
            return other(rd);
        *comment = (int64_t)v;
    }
    return true;
}

static bool add_span(struct reading *rd, const struct wire_field *f)
{
    struct intake *in = rd->in;
    struct str *span;

    if (f->type != WIRE_BYTES || rd->records++ >= rd->bounds->records)
        return other(rd);
    if (f->number == PROTO_STRING) {
        span = push(&in->strings);
        if (in->strings.n == 1 && f->bytes.at != f->bytes.end)
            return other(rd);
    } else {
        span = push(&in->spans[f->number]);
    }
    if (!span)
        return stop(rd, INTAKE_NO_MEMORY);
    *span =
        str_of((const char *)f->bytes.at, (size_t)(f->bytes.end - f->bytes.at));
    return true;
}

static bool scan_field(struct reading *rd, const struct wire_field *f)
{
    uint64_t v[PROTO_TYPE_UNIT + 1];

    switch (f->number) {
    case PROTO_SAMPLE_TYPE:
    case PROTO_SAMPLE:
    case PROTO_MAPPING:
    case PROTO_LOCATION:
    case PROTO_FUNCTION:
    case PROTO_STRING:
        return add_span(rd, f);
    case PROTO_COMMENT:
        return add_comments(rd, f);
    case PROTO_PERIOD_TYPE:
        if (f->type != WIRE_BYTES)
            return other(rd);
        if (!read_scalars(rd, f->bytes, v, PROTO_TYPE_UNIT))
            return false;
        rd->in->period_type = (int64_t)v[PROTO_TYPE_TYPE];
        rd->in->period_unit = (int64_t)v[PROTO_TYPE_UNIT];
        return true;
    case PROTO_TIME_NS:
        if (rd->once[PROTO_TIME_NS])
            return other(rd); /* several profiles in a row? */
        break;
    default:
        if (f->number == 0 || f->number > PROTO_DOC_URL)
            return true;
    }
    if (f->type != WIRE_VARINT)
        return other(rd);
    rd->once[f->number] = f->value;
    return true;
}

static bool scan(struct reading *rd, struct wire_reader r)
{
    struct wire_field f;

    while (wire_more(&r)) {
        if (!next_field(&r, &f))
            return other(rd);
        if (!scan_field(rd, &f))
            return false;
    }
    return true;
}

static bool read_once(struct reading *rd)
{
    struct intake *in = rd->in;
    uint32_t ignored;

    in->drop_frames = (int64_t)rd->once[PROTO_DROP_FRAMES];
    in->keep_frames = (int64_t)rd->once[PROTO_KEEP_FRAMES];
    in->default_type = (int64_t)rd->once[PROTO_DEFAULT_TYPE];
    in->doc_url = (int64_t)rd->once[PROTO_DOC_URL];
    in->time_ns = (int64_t)rd->once[PROTO_TIME_NS];
    in->duration_ns = (int64_t)rd->once[PROTO_DURATION_NS];
    in->period = (int64_t)rd->once[PROTO_PERIOD];
    for (size_t i = 0; i < in->comments.n; i++)
        if (!text(rd, (uint64_t)in->comments.v[i], &ignored))
            return false;
    return text(rd, (uint64_t)in->drop_frames, &ignored) &&
           text(rd, (uint64_t)in->keep_frames, &ignored) &&
           text(rd, (uint64_t)in->default_type, &ignored) &&
           text(rd, (uint64_t)in->doc_url, &ignored) &&
           text(rd, (uint64_t)in->period_type, &ignored) &&
           text(rd, (uint64_t)in->period_unit, &ignored);
}

static bool read_each(struct reading *rd, unsigned number,
                      bool (*read)(struct reading *rd, struct wire_reader r))
{
    for (size_t i = 0; i < rd->in->spans[number].n; i++)
        if (!read(rd, span_reader(rd->in->spans[number].v[i])))
            return false;
    return true;
}

static bool read_all(struct reading *rd, struct str bytes)
{
    struct intake *in = rd->in;
    struct in_sample *end;

    if (bytes.n == 0 || !scan(rd, span_reader(bytes)))
        return bytes.n == 0 ? other(rd) : false;
    if (in->spans[PROTO_SAMPLE].n > rd->bounds->samples) {
        error_set(rd->err, "%zu samples, the limit is %zu",
                  in->spans[PROTO_SAMPLE].n, rd->bounds->samples);
        return stop(rd, INTAKE_TOO_LARGE);
    }
    if (in->strings.n == 0) /* every text would be out of range */
        return other(rd);
    if (!read_each(rd, PROTO_SAMPLE_TYPE, read_type) ||
        !read_each(rd, PROTO_MAPPING, read_mapping) ||
        !read_each(rd, PROTO_FUNCTION, read_function) ||
        !read_each(rd, PROTO_LOCATION, read_location) ||
        !read_each(rd, PROTO_SAMPLE, read_sample) || !read_once(rd))
        return false;
    if (in->samples.n && !in->types.n)
        return other(rd);
    end = push(&in->samples);
    if (!end)
        return stop(rd, INTAKE_NO_MEMORY);
    *end = (struct in_sample){in->stack.n, in->labels.n};
    in->samples.n--;
    return true;
}

enum intake_verdict intake_read(struct intake *in, struct str bytes,
                                const struct intake_bounds *bounds,
                                struct error *err)
{
    struct reading rd = {.in = in, .bounds = bounds, .err = err};

    intake_clear(in);
    if (read_all(&rd, bytes))
        return INTAKE_OK;
    if (rd.verdict == INTAKE_NO_MEMORY)
        error_set(err, "out of memory");
    return rd.verdict;
}

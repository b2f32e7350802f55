/*
 * Samples: their frames, values and labels.
 */
#include "store/intake_parts.h"

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

bool read_samples(struct reading *rd)
{
    return read_each(rd, PROTO_SAMPLE, read_sample);
}

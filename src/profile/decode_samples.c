/*
 * Samples: nine tenths of a profile's bytes, so this is the hot path.
 *
 * Each sample is read once.  The number of frames and labels in it is at
 * most its number of bytes, so one look at the room that is left serves the
 * whole sample; the arrays live in mappings of their own, where growing
 * copies nothing and pages that are never touched cost nothing.
 */
#include "base/discard.h"
#include "profile/decoder.h"

struct samples {
    struct decoder *d;
    size_t stack_n, stack_cap;
    size_t labels_n, labels_cap;
    int64_t *values; /* of the open sample; NULL: not to be kept */
    size_t n_values; /* of the open sample */
    bool missing;    /* a location of the open sample */
};

/* Samples of fewer bytes than this are a small profile's. */
#define SMALL_BYTES ((size_t)16 << 10)

/* Read bytes are given back in pieces of this size. */
#define CONSUME_STEP ((size_t)4 << 20)

#define TAG(field, type) ((uint64_t)(field) << 3 | (type))

/* A location that does not exist is reported when the sample is complete. */
static void add_frame(struct samples *s, uint64_t id)
{
    uint32_t place = id_index_find(&s->d->locations, id);

    s->d->p->stack[s->stack_n++] = place;
    s->missing |= place == NO_INDEX;
}

/*
 * The varint at `at`, where four bytes can be read, if it has at most four:
 * its length.  Else 0.  Ids of locations have two or three bytes in nearly
 * all large profiles, so that branches are cheap because they are foreseen.
 */
static inline unsigned short_varint(const unsigned char *at, uint32_t *out)
{
    uint32_t w = (uint32_t)at[0] | (uint32_t)at[1] << 8 |
                 (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;

    if (!(w & 0x80)) {
        *out = w & 0x7f;
        return 1;
    }
    if (!(w & 0x8000)) {
        *out = (w & 0x7f) | (w >> 1 & 0x3f80);
        return 2;
    }
    *out = (w & 0x7f) | (w >> 1 & 0x3f80) | (w >> 2 & 0x1fc000);
    if (!(w & 0x800000))
        return 3;
    *out |= w >> 3 & 0xfe00000;
    return w & 0x80000000 ? 0 : 4;
}

/* Ids to places, where they are not in order. */
static void find_places(struct samples *s, uint32_t *frames, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        frames[i] = id_index_find(&s->d->locations, frames[i]);
        s->missing |= frames[i] == NO_INDEX;
    }
}

static void mark_missing(struct samples *s, uint32_t *frames, size_t n)
{
    s->missing = true;
    for (size_t i = 0; i < n; i++)
        if (frames[i] >= s->d->locations.in_order)
            frames[i] = NO_INDEX;
}

/* Where reading four bytes at a time must stop: at the end of the ids, or
 * where the input has fewer. */
static const unsigned char *short_end(const struct samples *s,
                                      const struct wire_reader *r)
{
    const unsigned char *all = s->d->in.end;

    if (all - r->end >= 3)
        return r->end;
    return all - r->at >= 3 ? all - 3 : r->at;
}

/* The frames whose four bytes are surely there, those of the last ones behind
 * the end of the sample's.  Where ids are 1, 2, 3 … no look-up is needed. */
static void add_short_frames(struct samples *s, struct wire_reader *r)
{
    const unsigned char *at = r->at, *last = at, *stop = short_end(s, r);
    uint32_t *frames = s->d->p->stack + s->stack_n, *frame = frames;
    uint32_t in_order = !s->d->locations.direct, id, largest = 0;
    size_t n;

    while (at < stop) {
        unsigned length = short_varint(at, &id);

        if (length == 0)
            break;
        last = at;
        at += length;
        id -= in_order; /* 0 becomes a place that nothing has */
        largest = id > largest ? id : largest;
        *frame++ = id;
    }
    if (at > r->end) { /* ran over: a varint that is cut off */
        at = last;
        frame--;
    }
    n = (size_t)(frame - frames);
    if (!in_order)
        find_places(s, frames, n);
    else if (n && largest >= s->d->locations.in_order)
        mark_missing(s, frames, n);
    s->stack_n += n;
    r->at = at;
}

/* Enormous ids, as they come when addresses or hashes are used: the look-ups
 * of many overlap. */
static bool add_sparse_frames(struct samples *s, struct wire_reader *r)
{
    const struct id_index *locations = &s->d->locations;
    uint64_t ids[32];
    size_t n = 0;

    for (; n < sizeof(ids) / sizeof(*ids) && wire_more(r); n++) {
        if (!wire_read_varint(r, &ids[n]))
            return decode_fail(s->d, r->at, "sample: location: %s", r->problem);
        id_index_prefetch(locations, ids[n]);
    }
    for (size_t i = 0; i < n; i++)
        add_frame(s, ids[i]);
    return true;
}

static bool add_frames(struct samples *s, struct wire_reader *r)
{
    while (wire_more(r)) {
        add_short_frames(s, r);
        if (!add_sparse_frames(s, r))
            return false;
    }
    return true;
}

static void add_value(struct samples *s, uint64_t v)
{
    if (s->values && s->n_values < s->d->p->types.n)
        s->values[s->n_values] = (int64_t)v;
    s->n_values++;
}

static bool add_values(struct samples *s, struct wire_reader *r)
{
    uint64_t v;

    while (wire_more(r)) {
        if (!wire_read_varint(r, &v))
            return decode_fail(s->d, r->at, "sample: value: %s", r->problem);
        add_value(s, v);
    }
    return true;
}

/* What a label is follows from which of its indices are zero, not from the
 * texts they stand for. */
static bool add_label(struct samples *s, struct wire_reader *r)
{
    struct decoder *d = s->d;
    struct label *label = &d->p->labels[s->labels_n];
    uint64_t v[PROTO_LABEL_UNIT + 1] = {0};

    *label = (struct label){0};
    /* NOLINTNEXTLINE: see add_field() */
    if (!decode_scalars(d, r, "label", v, PROTO_LABEL_UNIT) ||
        !decode_text(d, r->at, (int64_t)v[PROTO_LABEL_KEY], &label->key))
        return false;
    if (v[PROTO_LABEL_STR]) {
        s->labels_n++;
        label->kind = LABEL_STRING;
        return decode_text(d, r->at, (int64_t)v[PROTO_LABEL_STR], &label->str);
    }
    if (!v[PROTO_LABEL_NUM] && !v[PROTO_LABEL_UNIT])
        return true;
    s->labels_n++;
    label->num = (int64_t)v[PROTO_LABEL_NUM];
    label->kind = v[PROTO_LABEL_UNIT] ? LABEL_MEASURE : LABEL_NUMBER;
    return decode_text(d, r->at, (int64_t)v[PROTO_LABEL_UNIT], &label->str);
}

static bool add_field(struct samples *s, struct wire_reader *r)
{
    const unsigned char *start = r->at;
    struct wire_field f;

    if (!wire_next(r, &f))
        return decode_fail(s->d, r->at, "sample: %s", r->problem);
    /* NOLINTBEGIN: that the type says what is filled in, it does not see. */
    switch (f.number << 3 | f.type) {
    case TAG(PROTO_SAMPLE_LOCATION, WIRE_BYTES):
        return add_frames(s, &f.bytes);
    case TAG(PROTO_SAMPLE_LOCATION, WIRE_VARINT):
        add_frame(s, f.value);
        return true;
    case TAG(PROTO_SAMPLE_VALUE, WIRE_BYTES):
        return add_values(s, &f.bytes);
    case TAG(PROTO_SAMPLE_VALUE, WIRE_VARINT):
        add_value(s, f.value);
        return true;
    case TAG(PROTO_SAMPLE_LABEL, WIRE_BYTES):
        return add_label(s, &f.bytes);
    }
    /* NOLINTEND */
    if (f.number == 0 || f.number > PROTO_SAMPLE_LABEL)
        return true;
    return decode_fail(s->d, start, "sample: field %u has wire type %d",
                       (unsigned)f.number, (int)f.type);
}

static void make_room(struct samples *s, size_t n)
{
    struct profile *p = s->d->p;
    size_t want;

    if (s->stack_cap - s->stack_n < n) {
        want = s->stack_n + n + s->stack_cap / 2;
        p->stack =
            arena_grow(p->arena, p->stack, s->stack_cap * sizeof(*p->stack),
                       want * sizeof(*p->stack));
        s->stack_cap = want;
    }
    if (s->labels_cap - s->labels_n < n / 2) {
        want = s->labels_n + n / 2 + s->labels_cap / 2;
        p->labels =
            arena_grow(p->arena, p->labels, s->labels_cap * sizeof(*p->labels),
                       want * sizeof(*p->labels));
        s->labels_cap = want;
    }
}

static void note_fault(struct samples *s)
{
    struct sample_fault *fault = &s->d->fault;

    if (fault->kind != FAULT_NONE)
        return;
    if (s->n_values != s->d->p->types.n)
        *fault = (struct sample_fault){FAULT_VALUES, s->n_values};
    else if (s->missing)
        *fault = (struct sample_fault){FAULT_LOCATION, 0};
}

static bool add_sample(struct samples *s, struct wire_reader *r)
{
    struct profile *p = s->d->p;
    size_t labels = s->labels_n;

    make_room(s, (size_t)(r->end - r->at));
    s->n_values = 0;
    s->missing = false;
    while (wire_more(r))
        if (!add_field(s, r))
            return false;
    if (s->stack_n - p->loc_start[p->n_samples] > s->d->limits->stack_depth)
        return decode_refuse(
            s->d, "sample %zu has %zu frames, the limit is %zu", p->n_samples,
            s->stack_n - p->loc_start[p->n_samples], s->d->limits->stack_depth);
    if (!decode_count(s->d, s->labels_n - labels))
        return false;
    if (s->labels_n - labels > 1)
        profile_sort_labels(p, p->labels + labels, s->labels_n - labels);
    note_fault(s);
    p->n_samples++;
    p->loc_start[p->n_samples] = s->stack_n;
    if (s->labels_n) /* else leave the zero page untouched */
        p->label_start[p->n_samples] = s->labels_n;
    if (s->values)
        s->values += p->types.n;
    return true;
}

/* A value takes a byte at least: more of them than bytes means that some
 * sample has too few, and room for them need not be found. */
static int64_t *alloc_values(const struct decoder *d)
{
    const struct extent *x = &d->fields[PROTO_SAMPLE];
    size_t n;

    if (__builtin_mul_overflow(x->n, d->p->types.n, &n) || n > x->bytes)
        return NULL;
    return arena_new_array(d->p->arena, int64_t, n);
}

/* Other tables have been read already, or come behind the samples. */
static void discard_read(struct decoder *d, const unsigned char *to)
{
    discard_pages(d->consumed, (size_t)(to - d->consumed));
    d->consumed = to;
    d->discarded = true;
}

bool decode_samples(struct decoder *d)
{
    const struct extent *x = &d->fields[PROTO_SAMPLE];
    struct profile *p = d->p;
    struct samples s = {.d = d};
    struct wire_reader r = {.at = x->first, .end = x->end};
    struct wire_field f;

    p->loc_start = arena_new_array(p->arena, size_t, x->n + 1);
    p->label_start = arena_new_array(p->arena, size_t, x->n + 1);
    /* Ids of large profiles have up to three bytes; stacks that need more
     * room than this grow.  A small profile gets what suffices in any case. */
    s.stack_cap = x->bytes < SMALL_BYTES ? x->bytes : x->bytes / 4;
    p->stack = arena_alloc_raw(p->arena, s.stack_cap * sizeof(*p->stack));
    s.values = p->values = alloc_values(d);
    d->consumed = x->first;
    while (wire_more(&r)) {
        if (!wire_next(&r, &f))
            return decode_fail(d, r.at, "%s", r.problem);
        if (f.number == PROTO_SAMPLE && !add_sample(&s, &f.bytes))
            return false;
        if (d->consume && (size_t)(r.at - d->consumed) >= CONSUME_STEP)
            discard_read(d, r.at);
    }
    return true;
}

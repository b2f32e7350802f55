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
#include "store/intake_parts.h"

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
    if (!read_tables(rd) || !read_samples(rd) || !read_once(rd))
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

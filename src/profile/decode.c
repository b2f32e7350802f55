/*
 * profile.proto to the model, in two passes: a scan of the top level, which
 * finds out how many of everything there are and where, and then table by
 * table (decode_tables.c, decode_samples.c).  The order of google/pprof's
 * checks is kept where a user can see it: wire errors anywhere, then indices,
 * then the rules of check.h.
 */
#include "profile/decode.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "profile/check.h"
#include "profile/decoder.h"
#include "profile/wellformed.h"

bool decode_refuse(struct decoder *d, const char *fmt, ...)
{
    char words[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(words, sizeof(words), fmt, ap);
    va_end(ap);
    d->verdict = DECODE_REFUSED;
    return error_set(d->err, "%s", words);
}

bool decode_fail(struct decoder *d, const unsigned char *at, const char *fmt,
                 ...)
{
    char words[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(words, sizeof(words), fmt, ap);
    va_end(ap);
    d->verdict = DECODE_NOT_PROTO;
    if (d->discarded) /* no other reader can have the bytes any more */
        return decode_refuse(d, "unrecognized profile format");
    return error_set(d->err, "byte %zu: %s", (size_t)(at - d->in.at), words);
}

bool decode_count(struct decoder *d, size_t n)
{
    size_t limit = d->limits->records;

    d->records += n;
    if (limit == 0 || d->records <= limit)
        return true;
    return decode_refuse(d,
                         "more than %zu mappings, locations, lines, functions "
                         "and labels, which is the limit",
                         limit);
}

bool decode_text(struct decoder *d, const unsigned char *at, int64_t index,
                 string_id *out)
{
    if ((uint64_t)index >= d->n_texts)
        return decode_fail(d, at, "string %lld of a table of %zu",
                           (long long)index, d->n_texts);
    *out = d->texts[index];
    return true;
}

bool decode_each(struct decoder *d, unsigned number,
                 bool (*fill)(struct decoder *d, struct wire_reader *message))
{
    const struct extent *x = &d->fields[number];
    struct wire_reader r = {.at = x->first, .end = x->end};
    struct wire_field f;
    unsigned tag;
    uint64_t n;

    while (wire_more(&r)) {
        const unsigned char *next = wire_short_field(r.at, r.end, &tag, &n);

        if (next && (tag & 7) == WIRE_BYTES && n <= (uint64_t)(r.end - next)) {
            f.number = tag >> 3;
            f.bytes = (struct wire_reader){.at = next, .end = next + n};
            r.at = next + n;
        } else if (!wire_next(&r, &f)) {
            return decode_fail(d, r.at, "%s", r.problem);
        }
        if (f.number == number && !fill(d, &f.bytes))
            return false;
    }
    return true;
}

/*
 * The scan.
 */

static bool scan_comments(struct decoder *d, const struct wire_field *f)
{
    struct wire_reader r = f->bytes;
    uint64_t v;

    if (f->type == WIRE_VARINT) {
        *vec_push(d->scratch, &d->comments) = (int64_t)f->value;
        return true;
    }
    while (wire_more(&r)) {
        if (!wire_read_varint(&r, &v))
            return decode_fail(d, r.at, "comment: %s", r.problem);
        *vec_push(d->scratch, &d->comments) = (int64_t)v;
    }
    return true;
}

static bool scan_period_type(struct decoder *d, const struct wire_field *f)
{
    struct wire_reader r = f->bytes;
    uint64_t v[PROTO_TYPE_UNIT + 1] = {0};

    if (!decode_scalars(d, &r, "period type", v, PROTO_TYPE_UNIT))
        return false;
    memcpy(d->period_type, v, sizeof(d->period_type));
    return true;
}

static bool has_right_type(const struct wire_field *f)
{
    switch (f->number) {
    case PROTO_SAMPLE_TYPE:
    case PROTO_SAMPLE:
    case PROTO_MAPPING:
    case PROTO_LOCATION:
    case PROTO_FUNCTION:
    case PROTO_STRING:
    case PROTO_PERIOD_TYPE:
        return f->type == WIRE_BYTES;
    case PROTO_COMMENT:
        return f->type == WIRE_BYTES || f->type == WIRE_VARINT;
    default:
        return f->type == WIRE_VARINT;
    }
}

static void add_to_extent(struct extent *x, const unsigned char *start,
                          const unsigned char *end, const struct wire_field *f)
{
    if (!x->n)
        x->first = start;
    x->end = end;
    x->n++;
    if (f->type == WIRE_BYTES)
        x->bytes += (size_t)(f->bytes.end - f->bytes.at);
}

static bool scan_field(struct decoder *d, const unsigned char *start,
                       const struct wire_reader *r, const struct wire_field *f)
{
    if (!has_right_type(f))
        return decode_fail(d, start, "field %u has wire type %d",
                           (unsigned)f->number, (int)f->type);
    add_to_extent(&d->fields[f->number], start, r->at, f);
    switch (f->number) {
    case PROTO_SAMPLE:
    case PROTO_LOCATION:
    case PROTO_FUNCTION:
    case PROTO_MAPPING:
    case PROTO_SAMPLE_TYPE:
        return true;
    case PROTO_STRING:
        if (d->fields[PROTO_STRING].n == 1 && wire_more(&f->bytes))
            return decode_fail(d, start, "the first string is not empty");
        return true;
    case PROTO_PERIOD_TYPE:
        return scan_period_type(d, f);
    case PROTO_COMMENT:
        return scan_comments(d, f);
    default:
        d->once[f->number] = (int64_t)f->value;
        return true;
    }
}

/* A second time stamp means that profiles were written one after another,
 * unless what came before is not a profile at all. */
static bool refuse_second_profile(struct decoder *d, const unsigned char *at)
{
    struct wire_reader before = {.at = d->in.at, .end = at};

    if (!proto_is_well_formed(before))
        return decode_fail(d, at, "a second time after malformed messages");
    return decode_refuse(d, "concatenated profiles detected");
}

/* Counts messages and strings in the usual form, which are nearly all there
 * is; stops at the first field that needs a closer look. */
static void scan_messages(struct decoder *d, struct wire_reader *r)
{
    const unsigned char *at = r->at, *end = r->end, *next;
    unsigned tag;
    uint64_t n;

    while ((next = wire_short_field(at, end, &tag, &n)) &&
           n <= (uint64_t)(end - next)) {
        struct extent *x = &d->fields[tag >> 3];

        if ((tag & 7) != WIRE_BYTES || tag >> 3 > PROTO_STRING || x->n == 0)
            break;
        at = next + n;
        x->end = at;
        x->n++;
        x->bytes += n;
    }
    r->at = at;
}

static bool scan(struct decoder *d)
{
    struct wire_reader r = d->in;
    struct wire_field f;

    for (scan_messages(d, &r); wire_more(&r); scan_messages(d, &r)) {
        const unsigned char *start = r.at;

        if (!wire_next(&r, &f))
            return decode_fail(d, r.at, "%s", r.problem);
        if (f.number == 0 || f.number >= PROTO_FIELDS)
            continue;
        if (f.number == PROTO_TIME_NS && d->once[PROTO_TIME_NS] != 0)
            return refuse_second_profile(d, start);
        if (!scan_field(d, start, &r, &f))
            return false;
    }
    return true;
}

static bool fill_once(struct decoder *d)
{
    struct profile *p = d->p;
    const unsigned char *end = d->in.end;

    p->time_ns = d->once[PROTO_TIME_NS];
    p->duration_ns = d->once[PROTO_DURATION_NS];
    p->period = d->once[PROTO_PERIOD];
    vec_reserve(p->arena, &p->comments, d->comments.n);
    for (size_t i = 0; i < d->comments.n; i++)
        if (!decode_text(d, end, d->comments.v[i],
                         vec_push(p->arena, &p->comments)))
            return false;
    return decode_text(d, end, d->once[PROTO_DROP_FRAMES], &p->drop_frames) &&
           decode_text(d, end, d->once[PROTO_KEEP_FRAMES], &p->keep_frames) &&
           decode_text(d, end, d->period_type[PROTO_TYPE_TYPE],
                       &p->period_type.type) &&
           decode_text(d, end, d->period_type[PROTO_TYPE_UNIT],
                       &p->period_type.unit) &&
           decode_text(d, end, d->once[PROTO_DEFAULT_TYPE], &p->default_type) &&
           decode_text(d, end, d->once[PROTO_DOC_URL], &p->doc_url);
}

/*
 * The whole.
 */

static bool over(struct decoder *d, unsigned field, const char *what)
{
    size_t n = d->fields[field].n;

    return n >= NO_INDEX &&
           !decode_refuse(d, "%zu %s, the limit is %u", n, what, NO_INDEX - 1);
}

/* Our indices have 32 bits. */
static bool counts_fit(struct decoder *d)
{
    const struct profile_limits *limits = d->limits;
    size_t samples = d->fields[PROTO_SAMPLE].n;
    size_t bytes = d->fields[PROTO_STRING].bytes;

    if (samples > limits->samples)
        return decode_refuse(d, "%zu samples, the limit is %zu", samples,
                             limits->samples);
    if (bytes > limits->string_bytes)
        return decode_refuse(d, "%zu bytes of strings, the limit is %zu", bytes,
                             limits->string_bytes);
    return !over(d, PROTO_STRING, "strings") &&
           !over(d, PROTO_MAPPING, "mappings") &&
           !over(d, PROTO_FUNCTION, "functions") &&
           !over(d, PROTO_LOCATION, "locations") &&
           decode_count(d, d->fields[PROTO_MAPPING].n +
                               d->fields[PROTO_FUNCTION].n +
                               d->fields[PROTO_LOCATION].n);
}

static bool unsound(struct decoder *d)
{
    d->verdict = DECODE_UNSOUND;
    return false;
}

static bool is_sound(struct decoder *d)
{
    size_t types = d->p->types.n;

    if (types == 0 && d->p->n_samples)
        error_set(d->err, "missing sample type information");
    else if (d->fault.kind == FAULT_VALUES)
        error_set(d->err, "mismatch: sample has %zu values vs. %zu types",
                  d->fault.values, types);
    else if (d->fault.kind == FAULT_LOCATION)
        error_set(d->err, "sample has nil location");
    else if (!d->suspect || profile_check_tables(d->p, d->err))
        return true;
    return unsound(d);
}

static bool decode(struct decoder *d)
{
    if (!wire_more(&d->in))
        return decode_refuse(d, "empty input file");
    return scan(d) && counts_fit(d) && decode_tables(d) && decode_samples(d) &&
           fill_once(d) && is_sound(d);
}

static struct profile *decode_bytes(struct str bytes, bool consume,
                                    const struct profile_limits *limits,
                                    enum decode_verdict *verdict,
                                    struct error *err)
{
    const unsigned char *at = (const unsigned char *)bytes.s;
    struct decoder d = {
        .in = {.at = at, .end = bytes.n ? at + bytes.n : at},
        .consume = consume,
        .limits = limits,
        .p = profile_new(),
        .scratch = arena_new(),
        .err = err,
    };
    bool ok = decode(&d);

    arena_free(d.scratch);
    if (!ok) {
        profile_free(d.p);
        *verdict = d.verdict;
        return NULL;
    }
    return d.p;
}

struct profile *profile_decode(struct str bytes,
                               const struct profile_limits *limits,
                               enum decode_verdict *verdict, struct error *err)
{
    return decode_bytes(bytes, false, limits, verdict, err);
}

struct profile *profile_decode_consume(struct buf *bytes,
                                       const struct profile_limits *limits,
                                       enum decode_verdict *verdict,
                                       struct error *err)
{
    struct profile *p =
        decode_bytes(buf_str(bytes), true, limits, verdict, err);

    if (p || *verdict != DECODE_NOT_PROTO)
        buf_release(bytes);
    return p;
}

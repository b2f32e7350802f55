/*
 * The tables of a profile: strings, types, mappings, functions, locations.
 *
 * In a small profile they are nearly all of the bytes, so this is what a
 * program that reads many small ones waits for.  Nearly every field in them
 * is a tag of one byte and a number of one or two; that form is read here at
 * once, everything else by wire_next().  Ids are checked while they are
 * noted, so that the rules of check.h need no look at the tables of their
 * own unless something is wrong.
 */
#include "profile/decoder.h"

/* A field that wire_short_field() cannot read, or another message's. */
static bool read_scalar(struct decoder *d, struct wire_reader *r,
                        const char *what, uint64_t *v, size_t n)
{
    const unsigned char *start = r->at;
    struct wire_field f;

    if (!wire_next(r, &f))
        return decode_fail(d, r->at, "%s: %s", what, r->problem);
    if (f.number == 0 || f.number > n)
        return true;
    if (f.type != WIRE_VARINT)
        return decode_fail(d, start, "%s: field %u has wire type %d", what,
                           (unsigned)f.number, (int)f.type);
    v[f.number] = f.value;
    return true;
}

bool decode_scalars(struct decoder *d, struct wire_reader *r, const char *what,
                    uint64_t *v, size_t n)
{
    const unsigned char *at = r->at, *end = r->end, *next;
    uint64_t value;
    unsigned tag;

    while (at < end) {
        next = wire_short_field(at, end, &tag, &value);
        if (!next || (tag & 7) != WIRE_VARINT) {
            r->at = at;
            if (!read_scalar(d, r, what, v, n))
                return false;
            at = r->at;
            continue;
        }
        v[tag >> 3 <= n ? tag >> 3 : 0] = value;
        at = next;
    }
    r->at = at;
    return true;
}

/* An id that is reserved or taken is against the rules. */
static void note_id(struct decoder *d, struct id_index *ids, uint64_t id,
                    size_t n_records)
{
    d->suspect |= id == 0 || id_index_find(ids, id) != NO_INDEX;
    id_index_add(ids, id, (uint32_t)(n_records - 1));
}

static bool fill_string(struct decoder *d, struct wire_reader *r)
{
    d->texts[d->n_texts++] = profile_intern(
        d->p, str_of((const char *)r->at, (size_t)(r->end - r->at)));
    return true;
}

static bool fill_strings(struct decoder *d)
{
    const struct extent *x = &d->fields[PROTO_STRING];

    d->texts = arena_alloc_raw(d->scratch, x->n * sizeof(*d->texts));
    profile_expect_strings(d->p, x->n, x->bytes);
    return decode_each(d, PROTO_STRING, fill_string);
}

static bool fill_type(struct decoder *d, struct wire_reader *r)
{
    struct value_type *t = vec_push(d->p->arena, &d->p->types);
    uint64_t v[PROTO_TYPE_UNIT + 1] = {0};

    return decode_scalars(d, r, "sample type", v, PROTO_TYPE_UNIT) &&
           decode_text(d, r->at, (int64_t)v[PROTO_TYPE_TYPE], &t->type) &&
           decode_text(d, r->at, (int64_t)v[PROTO_TYPE_UNIT], &t->unit);
}

static bool fill_mapping(struct decoder *d, struct wire_reader *r)
{
    struct mapping *m = vec_push(d->p->arena, &d->p->mappings);
    uint64_t v[PROTO_MAPPING_HAS_INLINE_FRAMES + 1] = {0};

    if (!decode_scalars(d, r, "mapping", v, PROTO_MAPPING_HAS_INLINE_FRAMES))
        return false;
    m->id = v[PROTO_MAPPING_ID];
    m->start = v[PROTO_MAPPING_START];
    m->limit = v[PROTO_MAPPING_LIMIT];
    m->offset = v[PROTO_MAPPING_OFFSET];
    m->has_functions = v[PROTO_MAPPING_HAS_FUNCTIONS] != 0;
    m->has_filenames = v[PROTO_MAPPING_HAS_FILENAMES] != 0;
    m->has_line_numbers = v[PROTO_MAPPING_HAS_LINE_NUMBERS] != 0;
    m->has_inline_frames = v[PROTO_MAPPING_HAS_INLINE_FRAMES] != 0;
    note_id(d, &d->mappings, m->id, d->p->mappings.n);
    return decode_text(d, r->at, (int64_t)v[PROTO_MAPPING_FILE], &m->file) &&
           decode_text(d, r->at, (int64_t)v[PROTO_MAPPING_BUILD_ID],
                       &m->build_id);
}

static bool fill_function(struct decoder *d, struct wire_reader *r)
{
    struct function *f = vec_push(d->p->arena, &d->p->functions);
    uint64_t v[PROTO_FUNCTION_START_LINE + 1] = {0};

    if (!decode_scalars(d, r, "function", v, PROTO_FUNCTION_START_LINE))
        return false;
    f->id = v[PROTO_FUNCTION_ID];
    f->start_line = (int64_t)v[PROTO_FUNCTION_START_LINE];
    note_id(d, &d->functions, f->id, d->p->functions.n);
    return decode_text(d, r->at, (int64_t)v[PROTO_FUNCTION_NAME], &f->name) &&
           decode_text(d, r->at, (int64_t)v[PROTO_FUNCTION_SYSTEM_NAME],
                       &f->system_name) &&
           decode_text(d, r->at, (int64_t)v[PROTO_FUNCTION_FILENAME],
                       &f->filename);
}

static bool fill_line(struct decoder *d, struct wire_reader *r)
{
    struct line *line = vec_push(d->p->arena, &d->p->lines);
    uint64_t v[PROTO_LINE_COLUMN + 1] = {0};
    uint64_t id;

    if (d->p->lines.n >= NO_INDEX)
        return decode_refuse(d, "more lines than the limit of %u",
                             NO_INDEX - 1);
    if (!decode_count(d, 1) ||
        !decode_scalars(d, r, "line", v, PROTO_LINE_COLUMN))
        return false;
    /* Even where a function with id 0 exists, 0 means none. */
    id = v[PROTO_LINE_FUNCTION];
    line->function = id ? id_index_find(&d->functions, id) : NO_INDEX;
    line->line = (int64_t)v[PROTO_LINE_LINE];
    line->column = (int64_t)v[PROTO_LINE_COLUMN];
    d->suspect |= line->function == NO_INDEX;
    return true;
}

/* A field that wire_short_field() cannot read, or not a location's. */
static bool read_location_field(struct decoder *d, struct wire_reader *r,
                                uint64_t *v)
{
    const unsigned char *start = r->at;
    struct wire_field f;
    bool is_line;

    if (!wire_next(r, &f))
        return decode_fail(d, r->at, "location: %s", r->problem);
    if (f.number == 0 || f.number > PROTO_LOCATION_FOLDED)
        return true;
    is_line = f.number == PROTO_LOCATION_LINE;
    if (f.type != (is_line ? WIRE_BYTES : WIRE_VARINT))
        return decode_fail(d, start, "location: field %u has wire type %d",
                           (unsigned)f.number, (int)f.type);
    if (is_line)
        return fill_line(d, &f.bytes);
    v[f.number] = f.value;
    return true;
}

enum {
    LINE_TAG = PROTO_LOCATION_LINE << 3 | WIRE_BYTES,
    SCALAR_LINE_TAG = PROTO_LOCATION_LINE << 3 | WIRE_VARINT, /* an error */
    LAST_TAG = PROTO_LOCATION_FOLDED << 3 | WIRE_VARINT,
};

static bool fill_location_fields(struct decoder *d, struct wire_reader *r,
                                 uint64_t *v)
{
    const unsigned char *at = r->at, *end = r->end, *next;
    unsigned tag;
    uint64_t n;

    while (at < end) {
        next = wire_short_field(at, end, &tag, &n);
        if (next && tag == LINE_TAG && n <= (uint64_t)(end - next)) {
            struct wire_reader line = {.at = next, .end = next + n};

            if (!fill_line(d, &line))
                return false;
            at = next + n;
        } else if (next && (tag & 7) == WIRE_VARINT && tag <= LAST_TAG &&
                   tag != SCALAR_LINE_TAG) {
            v[tag >> 3] = n;
            at = next;
        } else {
            r->at = at;
            if (!read_location_field(d, r, v))
                return false;
            at = r->at;
        }
    }
    return true;
}

static bool fill_location(struct decoder *d, struct wire_reader *r)
{
    struct location *l = vec_push(d->p->arena, &d->p->locations);
    uint64_t v[PROTO_LOCATION_FOLDED + 1] = {0};

    l->line_start = (uint32_t)d->p->lines.n;
    if (!fill_location_fields(d, r, v))
        return false;
    l->id = v[PROTO_LOCATION_ID];
    l->address = v[PROTO_LOCATION_ADDRESS];
    l->is_folded = v[PROTO_LOCATION_FOLDED] != 0;
    l->n_lines = (uint32_t)d->p->lines.n - l->line_start;
    l->mapping = id_index_find(&d->mappings, v[PROTO_LOCATION_MAPPING]);
    note_id(d, &d->locations, l->id, d->p->locations.n);
    return true;
}

/* About what a profile takes in memory.  Some locations have several lines. */
static size_t expected_bytes(const struct decoder *d)
{
    const struct extent *x = d->fields;
    const struct profile *p = d->p;
    size_t lines = x[PROTO_LOCATION].n + x[PROTO_LOCATION].n / 4;

    return x[PROTO_STRING].n * (sizeof(*p->strings.v) + 1 + 3 * 8) +
           x[PROTO_STRING].bytes +
           x[PROTO_FUNCTION].n * sizeof(*p->functions.v) +
           x[PROTO_LOCATION].n * sizeof(*p->locations.v) +
           lines * sizeof(*p->lines.v) + x[PROTO_SAMPLE].bytes * 4 +
           x[PROTO_SAMPLE].n *
               (2 * sizeof(size_t) + x[PROTO_SAMPLE_TYPE].n * sizeof(int64_t));
}

bool decode_tables(struct decoder *d)
{
    struct profile *p = d->p;
    const struct extent *x = d->fields;

    arena_expect(p->arena, expected_bytes(d));
    vec_reserve(p->arena, &p->types, x[PROTO_SAMPLE_TYPE].n);
    vec_reserve(p->arena, &p->mappings, x[PROTO_MAPPING].n);
    vec_reserve(p->arena, &p->functions, x[PROTO_FUNCTION].n);
    vec_reserve(p->arena, &p->locations, x[PROTO_LOCATION].n);
    vec_reserve(p->arena, &p->lines,
                x[PROTO_LOCATION].n + x[PROTO_LOCATION].n / 4);
    id_index_init(&d->mappings, d->scratch, x[PROTO_MAPPING].n);
    id_index_init(&d->functions, d->scratch, x[PROTO_FUNCTION].n);
    id_index_init(&d->locations, d->scratch, x[PROTO_LOCATION].n);
    return fill_strings(d) && decode_each(d, PROTO_SAMPLE_TYPE, fill_type) &&
           decode_each(d, PROTO_MAPPING, fill_mapping) &&
           decode_each(d, PROTO_FUNCTION, fill_function) &&
           decode_each(d, PROTO_LOCATION, fill_location);
}

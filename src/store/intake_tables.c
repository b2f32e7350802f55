/*
 * Sample types, mappings, functions and locations: what samples refer to.
 */
#include <string.h>

#include "store/intake_parts.h"

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

/* A field of a message of numbers that is not in its usual short form. */
bool read_long_scalar(struct reading *rd, struct wire_reader *r, uint64_t *v,
                      size_t n)
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
        unsigned tag = *r.at;

        if (tag == LINE && r.end - r.at >= 2 && r.at[1] < 0x80 &&
            r.at[1] <= r.end - r.at - 2) {
            struct wire_reader line = {.at = r.at + 2,
                                       .end = r.at + 2 + r.at[1]};

            r.at = line.end;
            if (!read_line(rd, line))
                return false;
        } else if (tag == PROTO_LOCATION_ADDRESS << 3) {
            r.at++;
            if (!unpack_long_varint(&r, &v[PROTO_LOCATION_ADDRESS]))
                return other(rd);
        } else if ((tag & 7) == WIRE_VARINT && tag < PROTO_LOCATION_LINE << 3) {
            r.at++;
            if (!unpack_varint(&r, &v[tag >> 3]))
                return other(rd);
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

bool read_tables(struct reading *rd)
{
    return read_each(rd, PROTO_SAMPLE_TYPE, read_type) &&
           read_each(rd, PROTO_MAPPING, read_mapping) &&
           read_each(rd, PROTO_FUNCTION, read_function) &&
           read_each(rd, PROTO_LOCATION, read_location);
}

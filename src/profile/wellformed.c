#include "profile/wellformed.h"

#include "profile/proto.h"

enum shape {
    UNKNOWN,
    SCALAR,
    SCALARS, /* one by one or packed */
    BYTES,
    MESSAGE,
};

struct schema {
    unsigned n; /* fields below this number may be known */
    struct {
        enum shape shape;
        const struct schema *message;
    } field[PROTO_DOC_URL + 1];
};

#define SCALARS_UP_TO(last) .n = (last) + 1, .field[1 ...(last)] = {SCALAR}
#define MESSAGES(schema)                                                       \
    {                                                                          \
        MESSAGE, &(schema)                                                     \
    }

static const struct schema value_type = {SCALARS_UP_TO(PROTO_TYPE_UNIT)};
static const struct schema label = {SCALARS_UP_TO(PROTO_LABEL_UNIT)};
static const struct schema line = {SCALARS_UP_TO(PROTO_LINE_COLUMN)};
static const struct schema function = {
    SCALARS_UP_TO(PROTO_FUNCTION_START_LINE)};
static const struct schema mapping = {
    SCALARS_UP_TO(PROTO_MAPPING_HAS_INLINE_FRAMES)};

static const struct schema sample = {
    .n = PROTO_SAMPLE_LABEL + 1,
    .field[PROTO_SAMPLE_LOCATION] = {SCALARS},
    .field[PROTO_SAMPLE_VALUE] = {SCALARS},
    .field[PROTO_SAMPLE_LABEL] = MESSAGES(label),
};

static const struct schema location = {
    .n = PROTO_LOCATION_FOLDED + 1,
    .field[PROTO_LOCATION_ID] = {SCALAR},
    .field[PROTO_LOCATION_MAPPING] = {SCALAR},
    .field[PROTO_LOCATION_ADDRESS] = {SCALAR},
    .field[PROTO_LOCATION_LINE] = MESSAGES(line),
    .field[PROTO_LOCATION_FOLDED] = {SCALAR},
};

static const struct schema profile = {
    .n = PROTO_DOC_URL + 1,
    .field[PROTO_SAMPLE_TYPE] = MESSAGES(value_type),
    .field[PROTO_SAMPLE] = MESSAGES(sample),
    .field[PROTO_MAPPING] = MESSAGES(mapping),
    .field[PROTO_LOCATION] = MESSAGES(location),
    .field[PROTO_FUNCTION] = MESSAGES(function),
    .field[PROTO_STRING] = {BYTES},
    .field[PROTO_DROP_FRAMES] = {SCALAR},
    .field[PROTO_KEEP_FRAMES] = {SCALAR},
    .field[PROTO_TIME_NS] = {SCALAR},
    .field[PROTO_DURATION_NS] = {SCALAR},
    .field[PROTO_PERIOD_TYPE] = MESSAGES(value_type),
    .field[PROTO_PERIOD] = {SCALAR},
    .field[PROTO_COMMENT] = {SCALARS},
    .field[PROTO_DEFAULT_TYPE] = {SCALAR},
    .field[PROTO_DOC_URL] = {SCALAR},
};

static bool are_varints(struct wire_reader r)
{
    uint64_t v;

    while (wire_more(&r))
        if (!wire_read_varint(&r, &v))
            return false;
    return true;
}

/* The recursion is as deep as the schema: three. */
static bool fits(struct wire_reader r, const struct schema *s)
{
    struct wire_field f;

    while (wire_more(&r)) {
        bool ok = true;

        if (!wire_next(&r, &f))
            return false;
        if (f.number >= s->n)
            continue;
        switch (s->field[f.number].shape) {
        case UNKNOWN:
            break;
        case SCALAR:
            ok = f.type == WIRE_VARINT;
            break;
        case SCALARS:
            ok = f.type == WIRE_VARINT ||
                 (f.type == WIRE_BYTES && are_varints(f.bytes));
            break;
        case BYTES:
            ok = f.type == WIRE_BYTES;
            break;
        case MESSAGE:
            ok = f.type == WIRE_BYTES &&
                 fits(f.bytes, s->field[f.number].message);
            break;
        }
        if (!ok)
            return false;
    }
    return true;
}

bool proto_is_well_formed(struct wire_reader r)
{
    return fits(r, &profile);
}

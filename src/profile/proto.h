#ifndef PROFILE_PROTO_H
#define PROFILE_PROTO_H

/*
 * The schema of profile.proto (package perftools.profiles): field numbers.
 *
 * Every scalar is a varint; int64 is plain two's complement, not zigzag.
 * "text" below means an index into string_table, whose entry 0 is "".
 */
enum proto_profile {
    PROTO_SAMPLE_TYPE = 1, /* repeated value type */
    PROTO_SAMPLE = 2,      /* repeated sample */
    PROTO_MAPPING = 3,     /* repeated mapping; the first is the program */
    PROTO_LOCATION = 4,    /* repeated location */
    PROTO_FUNCTION = 5,    /* repeated function */
    PROTO_STRING = 6,      /* repeated string */
    PROTO_DROP_FRAMES = 7, /* text */
    PROTO_KEEP_FRAMES = 8, /* text */
    PROTO_TIME_NS = 9,
    PROTO_DURATION_NS = 10,
    PROTO_PERIOD_TYPE = 11, /* value type */
    PROTO_PERIOD = 12,
    PROTO_COMMENT = 13,      /* repeated text */
    PROTO_DEFAULT_TYPE = 14, /* text */
    PROTO_DOC_URL = 15,      /* text */
};

enum proto_value_type {
    PROTO_TYPE_TYPE = 1, /* text */
    PROTO_TYPE_UNIT = 2, /* text */
};

enum proto_sample {
    PROTO_SAMPLE_LOCATION = 1, /* repeated location id, leaf first */
    PROTO_SAMPLE_VALUE = 2,    /* repeated, one a sample type */
    PROTO_SAMPLE_LABEL = 3,    /* repeated label */
};

enum proto_label {
    PROTO_LABEL_KEY = 1, /* text */
    PROTO_LABEL_STR = 2, /* text */
    PROTO_LABEL_NUM = 3,
    PROTO_LABEL_UNIT = 4, /* text */
};

enum proto_mapping {
    PROTO_MAPPING_ID = 1,
    PROTO_MAPPING_START = 2,
    PROTO_MAPPING_LIMIT = 3,
    PROTO_MAPPING_OFFSET = 4,
    PROTO_MAPPING_FILE = 5,     /* text */
    PROTO_MAPPING_BUILD_ID = 6, /* text */
    PROTO_MAPPING_HAS_FUNCTIONS = 7,
    PROTO_MAPPING_HAS_FILENAMES = 8,
    PROTO_MAPPING_HAS_LINE_NUMBERS = 9,
    PROTO_MAPPING_HAS_INLINE_FRAMES = 10,
};

enum proto_location {
    PROTO_LOCATION_ID = 1,
    PROTO_LOCATION_MAPPING = 2, /* mapping id, 0 for none */
    PROTO_LOCATION_ADDRESS = 3,
    PROTO_LOCATION_LINE = 4, /* repeated line, innermost first */
    PROTO_LOCATION_FOLDED = 5,
};

enum proto_line {
    PROTO_LINE_FUNCTION = 1, /* function id */
    PROTO_LINE_LINE = 2,
    PROTO_LINE_COLUMN = 3,
};

enum proto_function {
    PROTO_FUNCTION_ID = 1,
    PROTO_FUNCTION_NAME = 2,        /* text */
    PROTO_FUNCTION_SYSTEM_NAME = 3, /* text */
    PROTO_FUNCTION_FILENAME = 4,    /* text */
    PROTO_FUNCTION_START_LINE = 5,
};

#endif

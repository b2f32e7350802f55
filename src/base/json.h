#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * Writing JSON.  The writer adds commas, quotes and indentation; the caller
 * closes each object and array that it opens.
 *
 *     struct json j = json_start(&out, 2);
 *     json_open(&j, '{');
 *     json_key(&j, STR("name"));
 *     json_string(&j, name);
 *     json_close(&j, '}');        // {"name": "…"}
 *
 * Bytes that are not UTF-8 become U+FFFD.  If memory runs out, the buffer
 * fails.
 */
struct json {
    struct buf *out;
    int indent; /* spaces a level; 0 puts everything on one line */
    int depth;
    bool first;     /* nothing in the open object or array yet */
    bool after_key; /* the next value belongs to a key */
};

struct json json_start(struct buf *out, int indent);

void json_open(struct json *j, char bracket);  /* '{' or '[' */
void json_close(struct json *j, char bracket); /* '}' or ']' */
void json_key(struct json *j, struct str key);

void json_string(struct json *j, struct str s);
void json_i64(struct json *j, int64_t value);
void json_thousandths(struct json *j, int64_t value); /* 1500 is 1.500 */
void json_double(struct json *j, double value);       /* not a number: null */
void json_bool(struct json *j, bool value);
void json_null(struct json *j);

/* Appends only the text, with quotes and escapes, for callers that need no
 * writer. */
void buf_add_json(struct buf *b, struct str s);

#endif

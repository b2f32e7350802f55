#ifndef BASE_JSON_VIEW_H
#define BASE_JSON_VIEW_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * Reads JSON in place, without building a tree or allocating memory.
 *
 *     struct json_view reply, status, ok;
 *     bool yes;
 *
 *     if (json_view(text, &reply) &&
 *         json_view_member(reply, STR("status"), &status) &&
 *         json_view_member(status, STR("allowed"), &ok) &&
 *         json_view_bool(ok, &yes) && yes)
 *
 * Strict (RFC 8259): one value, valid UTF-8, at most 32 levels deep.  Meant for
 * short texts: finding a member scans everything before it.
 */
struct json_view {
    struct str text; /* the text of one value, without white space around it */
};

bool json_view(struct str text, struct json_view *out);

/* False: not an object, no such member, or the member occurs twice. */
bool json_view_member(struct json_view object, struct str name,
                      struct json_view *out);

/*
 * The elements of an array, one after another; *rest is zeroed at first.  False
 * at the end, or if the value is not an array.
 */
bool json_view_next(struct json_view array, struct str *rest,
                    struct json_view *out);

/* False: not a boolean. */
bool json_view_bool(struct json_view v, bool *out);
bool json_view_string(struct json_view v, struct buf *out); /* appends */
bool json_view_is(struct json_view v, char first); /* '{', '[', '"' … */

#endif

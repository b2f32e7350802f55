#ifndef BASE_JSON_VIEW_H
#define BASE_JSON_VIEW_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * Reading JSON where it lies: nothing is built, nothing is allocated.
 *
 *     struct json_view reply, status, ok;
 *     bool yes;
 *
 *     if (json_view(text, &reply) &&
 *         json_view_member(reply, STR("status"), &status) &&
 *         json_view_member(status, STR("allowed"), &ok) &&
 *         json_view_bool(ok, &yes) && yes)
 *
 * Strict (RFC 8259): one value, valid UTF-8, at most 32 levels deep.  Meant
 * for short texts that something depends on; a member is found by looking at
 * all before it.
 */
struct json_view {
    struct str text; /* of one value, without blanks around it */
};

bool json_view(struct str text, struct json_view *out);

/* False: it is no object, has no such member, or has it twice. */
bool json_view_member(struct json_view object, struct str name,
                      struct json_view *out);

/*
 * The elements of an array, one after another; *rest is zeroed at first.
 * False at the end, or when it is no array.
 */
bool json_view_next(struct json_view array, struct str *rest,
                    struct json_view *out);

/* False: it is something else. */
bool json_view_bool(struct json_view v, bool *out);
bool json_view_string(struct json_view v, struct buf *out); /* appends */
bool json_view_is(struct json_view v, char first); /* '{', '[', '"' … */

#endif

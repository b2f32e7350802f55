#ifndef CONFIG_EDIT_H
#define CONFIG_EDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

/*
 * A change of a JSON document that can be undone later, even if others have
 * changed the document since.
 *
 *     struct edit *e = edit_new(text, &err);
 *     edit_put(e, "spec/paused", "true");
 *     edit_add(e, "spec/list/{name=app}/env", "name",
 *              "{\"name\": \"A\", \"value\": \"1\"}");
 *     edit_patch(e, &patch);   // RFC 6902, to be applied to the document
 *     edit_note(e, &note);     // keep it to undo the change later
 *
 *     struct edit *back = edit_new(later, &err);
 *     edit_undo(back, note, &kept);
 *
 * A path is a JSON pointer without its first slash ("~1" is a slash in a name,
 * "~0" a tilde), but items of a list are named by what they are, because places
 * change: {name=app} is the item whose member `name` is "app", {=x} the text
 * "x" itself.  Missing maps on the way are created, and removed again by the
 * undo unless somebody else has put something into them.
 *
 * If a path leads through a text or to a missing item, or the JSON is invalid,
 * the edit turns failed, and edit_patch() returns the error.
 */
struct edit;

struct edit *edit_new(struct str json, struct error *err);
void edit_free(struct edit *e);

bool edit_has(struct edit *e, const char *path);
bool edit_text(struct edit *e, const char *path, struct buf *out); /* a text */
size_t edit_count(struct edit *e, const char *path); /* items of a list */
/* In the nth item of a list. */
bool edit_nth_text(struct edit *e, const char *path, size_t n, const char *key,
                   struct buf *out);
bool edit_nth_number(struct edit *e, const char *path, size_t n,
                     const char *key, int64_t *out);

/* Sets a member of a map. */
void edit_put(struct edit *e, const char *path, const char *json);
/* Appends to a list, which is created if necessary.  `key` is the member that
 * tells the items apart; "" for a list of texts. */
void edit_add(struct edit *e, const char *path, const char *key,
              const char *json);

/* Sets or removes (json NULL) a member without noting it. */
void edit_put_plain(struct edit *e, const char *path, const char *json);
/* Creates a map if it does not exist. */
void edit_make(struct edit *e, const char *path);

/* Undoes the changes in the note.  Values that somebody has changed since then
 * stay, and their paths are added to `kept`, a line each. */
void edit_undo(struct edit *e, struct str note, struct buf *kept);
/* What was noted before, by a change that stays, comes first in the note. */
void edit_note_before(struct edit *e, struct str note);

size_t edit_steps(const struct edit *e); /* 0: nothing has changed */
bool edit_patch(struct edit *e, struct buf *out, struct error *err);
void edit_note(struct edit *e, struct buf *out);
void edit_show(const struct edit *e, struct buf *out); /* for people: + and - */

/* "a/b~c" as a part of a path. */
void edit_escape(struct buf *out, struct str name);

#endif

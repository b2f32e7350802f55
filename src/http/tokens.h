#ifndef HTTP_TOKENS_H
#define HTTP_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "http/credentials.h"

/*
 * A file of secrets, read again when it changes.  A line is a token, or
 * "user:password"; empty lines and those that start with '#' are left out.
 * Bearer tokens are compared with tokens, HTTP basic with pairs, and its
 * password with tokens too, whatever the user is called.
 *
 * Any thread may ask.
 */
struct tokens;

/* A file that is not there, too large or without any secret is an error. */
struct tokens *tokens_new(const char *path, struct error *err);
void tokens_free(struct tokens *t);

/*
 * Looks whether the file has changed, at most once a second.  False, and
 * words for a log, when it cannot be used any more: then nobody has a token
 * until it can.
 */
bool tokens_refresh(struct tokens *t, struct error *err);

/* Does the file have them?  `who` gets the user, or "token LINE". */
bool tokens_have(struct tokens *t, const struct credentials *c, char *who,
                 size_t size);

/* May other users of the machine read or change it? */
bool tokens_are_exposed(const char *path);

/* The same on the file's text; takes the same time whichever line fits. */
bool tokens_find(struct str text, const struct credentials *c, char *who,
                 size_t size);

#endif

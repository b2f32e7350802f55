#ifndef HTTP_ACCESS_TOKENS_H
#define HTTP_ACCESS_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "http/access/credentials.h"
#include "http/server/exchange.h"

/*
 * A file of secrets, read again when it changes.  A line is a token, or
 * "user:password"; empty lines and those that start with '#' are skipped.
 * Bearer tokens are compared with tokens, HTTP basic with pairs, and its
 * password with tokens too, whatever the user is called.
 *
 * Attributes after a secret restrict it:
 *
 *     s3cret scope=write services=api,web-*
 *
 * scope is read, write or "read,write", which is the default; services is a
 * comma-separated list in which '*' ends a prefix.  The default is all.
 *
 * Any thread may ask.
 */
struct tokens;

/* A file that is not there, too large or without any secret is an error. */
struct tokens *tokens_new(const char *path, struct error *err);
void tokens_free(struct tokens *t);

/*
 * Checks whether the file has changed, at most once a second.  False, and a
 * message for the log, if it cannot be used any more: no token is valid until
 * it can.
 */
bool tokens_refresh(struct tokens *t, struct error *err);

/* Returns true if the file has these credentials; *out is then the identity
 * ("user bob", or "token LINE") and its scope. */
bool tokens_have(struct tokens *t, const struct credentials *c,
                 struct http_identity *out);

/* The same on the file's text; takes the same time whichever line fits. */
bool tokens_find(struct str text, const struct credentials *c,
                 struct http_identity *out);

/* Checks that there is at least one line and that all are well formed.  An
 * error names the line. */
bool tokens_check(struct str text, struct error *err);

#endif

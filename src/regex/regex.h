#ifndef REGEX_REGEX_H
#define REGEX_REGEX_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

/*
 * Regular expressions with Go's syntax, in linear time (RE2).
 *
 * A pattern is compiled once and asked "does it match anywhere in this
 * text?" often; one regex may be used by several threads at a time.
 */
struct regex;

/*
 * Fails with Go's words: error parsing regexp: missing closing ): `(a`
 */
struct regex *regex_new(struct str pattern, struct error *err);
void regex_free(struct regex *re);

/* Unanchored search. */
bool regex_matches(const struct regex *re, struct str text);

/* The pattern as given. */
struct str regex_pattern(const struct regex *re);

#endif

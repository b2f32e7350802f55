#ifndef REGEX_REGEX_H
#define REGEX_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

/*
 * Regular expressions with Go's syntax, in linear time (RE2).
 *
 * A pattern is compiled once and asked "does it match anywhere in this
 * text?" often; one regex may be used by several threads at a time.  One
 * that is made in a memory scope (base/memory_scope.h) ends with it.
 */
struct regex;

/*
 * Fails with Go's words: error parsing regexp: missing closing ): `(a`
 */
struct regex *regex_new(struct str pattern, struct error *err);
void regex_free(struct regex *re);

/* Unanchored search. */
bool regex_matches(const struct regex *re, struct str text);

/*
 * Matches the whole text and gives what the pairs of parentheses matched:
 * groups[0] is the text, groups[i] that of the i-th pair, "" if it took no
 * part; n of them, further ones are left out.  The groups are views of the
 * text, so one with bytes that are not UTF-8 does not match.
 */
bool regex_match_whole(const struct regex *re, struct str text,
                       struct str *groups, size_t n);

/* Pairs of parentheses that capture, and the number of the one with a name;
 * 0: there is none. */
size_t regex_group_count(const struct regex *re);
size_t regex_group_named(const struct regex *re, struct str name);

/* The pattern as given. */
struct str regex_pattern(const struct regex *re);

#endif

#ifndef PROFILE_NAME_MATCH_H
#define PROFILE_NAME_MATCH_H

#include "profile/profile.h"
#include "regex/regex.h"

/*
 * Matches a regular expression against the texts of a profile.  Each text is
 * matched once, however many functions and samples use it: the results are kept
 * by string id.
 *
 * Strings must not be added to the profile while it is in use.
 */
struct name_match {
    const struct profile *p;
    const struct regex *re;
    struct str (*of)(struct str name); /* what of a text is matched; or NULL */
    unsigned char *known;              /* by string id */
};

/* `re` may be NULL; then the functions below may not be called. */
void name_match_init(struct name_match *m, struct arena *a,
                     const struct profile *p, const struct regex *re,
                     struct str (*of)(struct str name));

bool name_matches(struct name_match *m, string_id id);

/* Name or file of the line's function. */
bool name_matches_line(struct name_match *m, const struct line *line);

/* File of the location's mapping. */
bool name_matches_mapping(struct name_match *m, const struct location *l);

#endif

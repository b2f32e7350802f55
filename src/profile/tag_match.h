#ifndef PROFILE_TAG_MATCH_H
#define PROFILE_TAG_MATCH_H

#include "base/buf.h"
#include "profile/measure.h"
#include "profile/profile.h"

/*
 * Expressions that choose samples by their labels: [KEY=]VALUE.
 *
 * VALUE is a range for numeric labels, both ends included:
 *
 *     64kb     that value         64kb:    that or more
 *     :64kb    that or less       4kb:1mb  between
 *
 * A label is compared in the range's unit; a range without unit does not
 * match keys with a known one.  Anything else is a list of regular
 * expressions, separated by commas, for string labels: with KEY one of them
 * must match a value of that key, without it each must match "key:value" of
 * some label.
 */
struct tag_match;

/*
 * `name` is the option's name, for messages.  If an expression was taken for a
 * range, `notes` gets a line that says so.  The profile and the units must
 * outlive the match, and samples be neither added nor relabelled meanwhile.
 */
struct tag_match *tag_match_new(const char *name, struct str expression,
                                const struct profile *p,
                                const struct label_units *units,
                                struct buf *notes, struct error *err);
void tag_match_free(struct tag_match *m);

/* Keeps the samples that match focus (if given) and not ignore (if given);
 * returns which matched any sample. */
struct tag_filter_matched {
    bool focus, ignore;
} profile_filter_tags(struct profile *p, struct tag_match *focus,
                      struct tag_match *ignore);

#endif

#ifndef PROFILE_FILTER_H
#define PROFILE_FILTER_H

#include "profile/profile.h"
#include "regex/regex.h"

/*
 * Taking samples, frames and labels away, in place.  Each function returns
 * which expressions matched anything, so that the caller can warn about the
 * others.
 *
 * An expression matches a location by the name or file of any of its lines,
 * or by the file of its mapping.  "Matched" is judged on all locations, also
 * on those that no sample uses.
 */

struct name_filter { /* any may be NULL */
    const struct regex *focus, *ignore, *hide, *show;
};

struct name_filter_matched {
    bool focus, ignore, hide, show;
};

/*
 * Keeps the samples with a location that matches focus and none that matches
 * ignore; takes from the rest the lines that match hide or do not match show
 * (all lines or none if it is the mapping that matches), the locations that
 * are left without lines by that, and then samples without locations (also
 * those that had none).
 */
struct name_filter_matched profile_filter_names(struct profile *p,
                                                struct name_filter filter);

/* Frames above the outermost match go; samples without match go. */
bool profile_show_from(struct profile *p, const struct regex *show_from);

/* Keeps the labels whose key matches show (if given) and not hide. */
struct label_filter_matched {
    bool show, hide;
} profile_filter_labels(struct profile *p, const struct regex *show,
                        const struct regex *hide);

/*
 * Removes the frames below those that drop_frames names and keep_frames does
 * not (the allocator's own frames in a heap profile, say).  The expressions
 * match whole names without arguments.  Fails only when one of them is not a
 * valid expression; nothing is changed then.
 */
bool profile_prune(struct profile *p, struct error *err);

/* Frames below the first match (from the leaf) go; the match stays.  Names
 * are matched without their arguments, files not at all. */
void profile_prune_from(struct profile *p, const struct regex *from);

#endif

#ifndef PROFILE_FILTER_H
#define PROFILE_FILTER_H

#include "profile/profile.h"
#include "regex/regex.h"

/*
 * Taking samples, frames and labels away, in place.  Each function says by
 * its results which expressions matched anything, so that the caller can
 * warn about those that did not.
 */

struct name_filter { /* any may be NULL */
    const struct regex *focus, *ignore, *hide, *show;
};

struct name_filter_matched {
    bool focus, ignore, hide, show;
};

struct name_filter_matched profile_filter_names(struct profile *p,
                                                struct name_filter filter);

/* Frames above the outermost match go; samples without match go. */
bool profile_show_from(struct profile *p, const struct regex *show_from);

/* Keeps the samples for which `keep` says true. */
void profile_filter_samples(struct profile *p,
                            bool (*keep)(const struct profile *p, size_t sample,
                                         void *arg),
                            void *arg);

/* Keeps the labels whose key matches show (if given) and not hide. */
struct label_filter_matched {
    bool show, hide;
} profile_filter_labels(struct profile *p, const struct regex *show,
                        const struct regex *hide);

/*
 * Removes the frames below those that drop_frames names and keep_frames does
 * not (the allocator's own frames in a heap profile, say).
 */
bool profile_prune(struct profile *p, struct error *err);

/* Frames below the first match (from the leaf) go; the match stays. */
void profile_prune_from(struct profile *p, const struct regex *from);

#endif

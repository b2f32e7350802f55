#ifndef PROFILE_TAG_FRAMES_H
#define PROFILE_TAG_FRAMES_H

#include "profile/profile.h"

/*
 * Frames made from labels, so that a graph can be split by them.
 *
 * roots and leaves are lists of label keys, separated by commas.  Every
 * sample gets a frame for each key: its function name is the values of the
 * key joined by commas (numbers printed in `unit`, or plainly when they have
 * none), its file name the key; a sample without the key gets a frame with
 * an empty name.  The first of `roots` becomes the root, the last of
 * `leaves` the leaf.
 *
 * Returns whether any sample had any of the keys.
 */
struct tag_frames_matched {
    bool root, leaf;
} profile_add_tag_frames(struct profile *p, struct str roots, struct str leaves,
                         struct str unit);

#endif

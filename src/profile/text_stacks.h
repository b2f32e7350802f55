#ifndef PROFILE_TEXT_STACKS_H
#define PROFILE_TEXT_STACKS_H

#include "profile/limits.h"
#include "profile/profile.h"

/*
 * Stacks that other tools write as text, with names already in them:
 *
 *     what `perf script` prints       an event's line, a line a frame, a blank
 *     folded stacks                   main;work;leaf 42      (a line a stack)
 *
 * perf's samples have the labels comm, pid and tid; its values are the number
 * of samples and, if the text tells it, the events that each stands for.
 */

/* Returns true if the whole text looks like one of these formats. */
bool text_stacks_detect(struct str text);

/* The profile of such a text.  The caller owns it; it is not checked. */
struct profile *text_stacks_parse(struct str text,
                                  const struct profile_limits *limits,
                                  struct error *err);

#endif

#ifndef PROFILE_SWEEP_H
#define PROFILE_SWEEP_H

#include "profile/profile.h"

/*
 * One walk over the samples of a profile that keeps some of them, in place:
 *
 *     struct sweep s;
 *     sweep_init(&s, p);
 *     while (sweep_next(&s))
 *         if (wanted(p, s.sample))
 *             sweep_keep(&s);
 *
 * What is kept moves to the front of the arrays.  Before sweep_keep the
 * caller may narrow the sample: move frame, frame_end, label and label_end
 * towards each other, or write inside these ranges of p->stack and
 * p->labels.  Values are p->values[sample * types.n].
 *
 * The profile is consistent again once sweep_next has returned false.
 */
struct sweep {
    struct profile *p;
    size_t sample;           /* the one looked at */
    size_t frame, frame_end; /* its frames: p->stack[frame .. frame_end) */
    size_t label, label_end; /* its labels: p->labels[label .. label_end) */

    size_t next;                     /* sample to look at next */
    size_t next_frame, next_label;   /* where it starts */
    size_t kept;                     /* samples kept so far */
    size_t kept_frames, kept_labels; /* and the ends of theirs */
};

void sweep_init(struct sweep *s, struct profile *p);
bool sweep_next(struct sweep *s);
void sweep_keep(struct sweep *s);

#endif

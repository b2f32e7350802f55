#ifndef CMD_PPROF_COMPLETE_H
#define CMD_PPROF_COMPLETE_H

#include "cmd/pprof/line.h"
#include "profile/profile.h"

/*
 * What the user of the shell may want to type: commands and options first,
 * then functions of the profile, values of options, labels, files.
 */
struct completer {
    const struct profile *profile;
    struct arena *arena;   /* for what is found once */
    VEC(struct str) names; /* of functions, sorted */
    VEC(struct str) keys;  /* of labels, sorted */
    bool collected;
};

/* A line_complete; arg is a struct completer. */
void complete_line(void *arg, struct arena *a, struct str before,
                   struct line_completions *out);

#endif

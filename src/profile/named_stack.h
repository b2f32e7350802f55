#ifndef PROFILE_NAMED_STACK_H
#define PROFILE_NAMED_STACK_H

#include "profile/limits.h"
#include "profile/profile.h"

/*
 * Builds a profile from stacks whose frames come with their names: functions,
 * locations and mappings are made once each, numbered from 1.
 */
struct named_stack {
    struct profile *profile;
    const struct profile_limits *limits;
    struct sample_builder samples;
    struct map functions, locations, mappings;
    size_t depth, string_bytes; /* of the open sample; of all names */
    VEC(struct label) labels;   /* of the open sample */
};

void named_stack_init(struct named_stack *s, struct profile *p,
                      const struct profile_limits *limits);

/* A frame of the open sample, leaf first.  `module` is the file it is in; "":
 * not known.  False: a limit is exceeded. */
bool named_stack_frame(struct named_stack *s, struct str function,
                       struct str module, uint64_t address, struct error *err);

void named_stack_label(struct named_stack *s, struct str key, struct str text);
void named_stack_number(struct named_stack *s, struct str key, int64_t number);

/* Ends the sample, with a value for each type. */
bool named_stack_end(struct named_stack *s, const int64_t *values,
                     struct error *err);

#endif

#ifndef PROFILE_SET_LABEL_H
#define PROFILE_SET_LABEL_H

#include "profile/profile.h"

/* Puts string label key=value on every sample, replacing such a key. */
void profile_set_label(struct profile *p, struct str key, struct str value);

/* Takes the string label away from every sample. */
void profile_remove_label(struct profile *p, struct str key);

#endif

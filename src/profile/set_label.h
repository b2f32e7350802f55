#ifndef PROFILE_SET_LABEL_H
#define PROFILE_SET_LABEL_H

#include "profile/profile.h"

/* Sets the string label key=value on every sample, replacing an existing
 * one. */
void profile_set_label(struct profile *p, struct str key, struct str value);

/* Removes the string label from every sample. */
void profile_remove_label(struct profile *p, struct str key);

#endif

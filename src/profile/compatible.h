#ifndef PROFILE_COMPATIBLE_H
#define PROFILE_COMPATIBLE_H

#include "profile/profile.h"

/* Are period type and sample types exactly the same?  The words say which
 * differ. */
bool profile_same_types(const struct profile *a, const struct profile *b,
                        struct error *err);

#endif

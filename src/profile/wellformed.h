#ifndef PROFILE_WELLFORMED_H
#define PROFILE_WELLFORMED_H

#include <stdbool.h>

#include "profile/wire_read.h"

/*
 * Do the bytes read as a profile.proto message: known fields have the right
 * wire types, all the way down, and nothing is cut off?  What indices and ids
 * point at is not looked at.
 */
bool proto_is_well_formed(struct wire_reader r);

#endif

#ifndef PROFILE_WELLFORMED_H
#define PROFILE_WELLFORMED_H

#include <stdbool.h>

#include "profile/wire_read.h"

/*
 * Returns true if the bytes are a profile.proto message: known fields have the
 * right wire types at all levels, and nothing is truncated.  Indices and ids
 * are not checked.
 */
bool proto_is_well_formed(struct wire_reader r);

#endif

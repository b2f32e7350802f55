#ifndef COLLECTOR_PROFILE_TYPE_H
#define COLLECTOR_PROFILE_TYPE_H

#include <stdbool.h>

#include "base/str.h"

/*
 * Names of profile types.  profefe knows cpu, heap, block, mutex, goroutine,
 * threadcreate, other and trace; here any name of lower-case letters, digits
 * and _ - . / : is one, up to PROFILE_TYPE_MAX bytes, but not "unknown".
 */
#define PROFILE_TYPE_MAX 64

bool profile_type_is_valid(struct str type);

/* Go execution traces: kept as they are, never merged. */
bool profile_type_is_opaque(struct str type);

#endif

#ifndef RUNTIME_HEAP_PUSH_H
#define RUNTIME_HEAP_PUSH_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

/*
 * Sends a heap profile to a collector as profefe's clients do:
 *
 *     POST BASE/api/0/profiles?service=SERVICE&type=heap
 *
 * Plain HTTP, for a collector nearby.  Ends within ten seconds in any case.
 * False: no such server, or it did not take it; err has its words.
 */
bool heap_push(const char *base_url, const char *service, struct str profile,
               struct error *err);

#endif

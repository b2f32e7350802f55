#ifndef SYMBOL_UNSYMBOLIZABLE_H
#define SYMBOL_UNSYMBOLIZABLE_H

#include <stdbool.h>

#include "base/str.h"

/*
 * Returns true if such a file has no symbols: [vdso], /dev/dri/…, //anon,
 * memfds, no name at all.
 */
bool symbolize_is_unsymbolizable(struct str file);

#endif

#ifndef SYMBOL_DEMANGLE_H
#define SYMBOL_DEMANGLE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"
#include "profile/profile.h"

/*
 * Readable names for C++ and Rust symbols.
 */
enum demangle_mode {
    DEMANGLE_SIMPLE,    /* std::vector::push_back: no parameters, templates */
    DEMANGLE_TEMPLATES, /* std::vector<int>::push_back */
    DEMANGLE_FULL,      /* std::vector<int>::push_back(int&&) */
    DEMANGLE_NONE,
};

/* Appends the readable form; false (and nothing appended) if the name is not
 * mangled. */
bool demangle_name(struct str mangled, enum demangle_mode mode,
                   struct buf *out);

/*
 * Gives every function of the profile its readable name, from its system name.
 * One that has a different name already is left alone unless `force`, or unless
 * that is its system name demangled in full, as libpprof writes it.  Names that
 * are not mangled but look like C++ lose the parts that the mode drops.
 */
void demangle_profile(struct profile *p, enum demangle_mode mode, bool force);

#endif

#ifndef SYMBOL_OBJECT_H
#define SYMBOL_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "dwarf/frame.h"
#include "symbol/object_types.h"

/*
 * A binary on this machine, opened to answer "what is at this address?".
 *
 * Addresses are those of the profile: where the file was mapped is given at
 * opening, and the address inside the file is computed from it (the load
 * base, for PIE, shared libraries, kernels and relocated files).
 */
struct object;

struct object *object_open(const char *path, struct object_mapping mapping,
                           struct error *err);
void object_free(struct object *o);

const char *object_path(const struct object *o);

/* Hex digits; "" when the file has none. */
struct str object_build_id(const struct object *o);

/* The address inside the file for one of the profile. */
bool object_file_address(struct object *o, uint64_t address, uint64_t *out,
                         struct error *err);

/* All symbols by address; they live as long as the object. */
const struct object_symbol *object_symbols(struct object *o, size_t *n);

/*
 * Finds the frames of n addresses at once: each unit of debug information is
 * read once however many addresses lie in it.  `found` is called for those that
 * have an answer, in no order.  With `names_only`, lines are not looked up.
 */
bool object_resolve(struct object *o, const uint64_t *addresses, size_t n,
                    bool names_only, symbol_found *found, void *arg,
                    struct error *err);

#endif

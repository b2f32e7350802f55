#ifndef RUNTIME_WRITE_CUSTOM_H
#define RUNTIME_WRITE_CUSTOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "runtime/write/snapshot.h"

/*
 * The program's own profiles: things that exist now, each with the stack that
 * created it.  Made by pprof_profile_new() and never freed, so a pointer to a
 * profile stays valid.
 *
 * A thing is known by its key; a hash index of keys, guarded by the profile's
 * lock, says which stack counts it.  Different stacks are kept once, as
 * everywhere, and stay when their things have gone.
 */
#define CUSTOM_MAX         32         /* profiles */
#define CUSTOM_MAX_ENTRIES (1u << 20) /* things in one */
#define CUSTOM_MAX_NAME    64

/* The i-th one as profiles.c lists it, in the order of their making; NULL:
 * there are fewer. */
const struct profile_kind *custom_at(size_t i);
const struct profile_kind *custom_find(struct str name); /* NULL: none */

/* Makes a new profile; NULL and *code (an errno) when it cannot be made. */
struct pprof_profile *custom_new(const char *name, int *code,
                                 struct error *err);

/* Counts a thing with the stack that begins at the return address `caller`.
 * Returns 0 or an errno. */
int custom_add(struct pprof_profile *p, const void *key, int64_t value,
               void *caller, struct error *err);
bool custom_remove(struct pprof_profile *p,
                   const void *key); /* was it there? */

/* For kinds that are custom. */
bool custom_take(const struct pprof_profile *p, struct snapshot *s,
                 struct error *err);
uint64_t custom_count(const struct pprof_profile *p);

/* In the child: a profile that another thread was changing is empty. */
void custom_after_fork(void);

#endif

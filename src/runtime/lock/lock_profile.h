#ifndef RUNTIME_LOCK_LOCK_PROFILE_H
#define RUNTIME_LOCK_LOCK_PROFILE_H

#include "runtime/write/snapshot.h"

/*
 * What locks.c has recorded as the profiles `block` and `mutex`, with Go's
 * sample types and text.  Functions for profiles.c.
 */
bool lock_take_block(struct snapshot *s, bool details, struct error *err);
bool lock_take_mutex(struct snapshot *s, bool details, struct error *err);
uint64_t lock_count_block(void); /* different stacks */
uint64_t lock_count_mutex(void);
bool lock_write_text(const struct snapshot *s, struct buf *out,
                     struct error *err);
const char *lock_block_off(void);
const char *lock_mutex_off(void);

#endif

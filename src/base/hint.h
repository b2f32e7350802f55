#ifndef BASE_HINT_H
#define BASE_HINT_H

#include <stddef.h>

/*
 * Words to the system about large pieces of memory.  Both are hints: on
 * failure, or where it would not pay, nothing happens.
 */

/* The bytes are not needed any more: whole pages among them go back to the
 * system.  The memory stays allocated; its content is undefined. */
void hint_discard(const void *start, size_t n);

/* The bytes are about to be filled: use huge pages, which cost less.  Give
 * all of an allocation: a mapping of two minds cannot grow in place. */
void hint_expect(void *start, size_t n);

#endif

#ifndef BASE_DISCARD_H
#define BASE_DISCARD_H

#include <stddef.h>

/*
 * Returns the whole pages among these bytes of a large allocation to the
 * system.  The memory stays allocated; its content is undefined.  Only a hint:
 * failure has no effect.
 */
void discard_pages(const void *start, size_t n);

#endif

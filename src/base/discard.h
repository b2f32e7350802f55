#ifndef BASE_DISCARD_H
#define BASE_DISCARD_H

#include <stddef.h>

/*
 * Bytes of a large allocation are not needed any more: whole pages among them
 * go back to the system at once.  The memory stays allocated; its content is
 * undefined.  Only a hint: failure changes nothing.
 */
void discard_pages(const void *start, size_t n);

#endif

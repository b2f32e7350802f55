#ifndef RUNTIME_ALLOC_HOOKS_H
#define RUNTIME_ALLOC_HOOKS_H

#include <stddef.h>

/*
 * What the wrapped malloc family shares with the wrapped C++ operators
 * (new_hooks.c): the rare halves of malloc and free.
 */

/* An allocation whose thread's bytes have run out. */
void *alloc_sampled_malloc(size_t size, const void *return_address);

/* Frees a block that may be a sampled one, or NULL. */
void alloc_free_known(void *p);

#endif

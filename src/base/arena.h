#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

#include "base/str.h"

/*
 * Memory with one lifetime: everything made for a command, a request or a
 * profile is allocated from one arena and freed with it.
 *
 * Allocation zeroes and never returns NULL; out of memory ends the program
 * with a message.  That is right for programs and wrong inside strangers:
 * src/runtime must not use this.
 */
struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *a);

/* n zeroed bytes, aligned for any type. */
void *arena_alloc(struct arena *a, size_t n);

/* count zeroed elements; an overflowing product counts as out of memory. */
void *arena_alloc_array(struct arena *a, size_t count, size_t size);

/*
 * Grows what arena_alloc gave for old_n bytes; the added bytes are zero.  In
 * place when it was the newest allocation or has a block of its own, else
 * copied and the old bytes stay unused until arena_free.
 */
void *arena_grow(struct arena *a, void *old, size_t old_n, size_t new_n);

/* Gives a large allocation of n bytes back before the arena ends.  A small
 * one shares its block with others and stays. */
void arena_release(struct arena *a, void *p, size_t n);

struct str arena_str(struct arena *a, struct str s); /* a copy */
char *arena_cstr(struct arena *a, struct str s);     /* with a NUL */
char *arena_printf(struct arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#define arena_new_array(a, T, n) ((T *)arena_alloc_array((a), (n), sizeof(T)))

#endif

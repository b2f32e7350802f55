#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * Memory with one lifetime: everything made for a command, a request or a
 * profile is allocated from one arena and freed with it.
 *
 * Allocation zeroes and never returns NULL.  When there is no memory left, a
 * command-line tool ends with a message.  In a server the request ends with
 * an error instead, and so does a request that exceeds its memory budget:
 * base/memory_scope.h has the rules for code that runs there.  Neither is
 * acceptable inside other people's programs: src/runtime must not use this.
 */
struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *a);

/* Frees the blocks that are cached for new arenas, at most 1 MB in all.  Tests
 * that count memory call it. */
void arena_free_spares(void);

/* Takes the arena out of the memory scope it was made in: it outlives the
 * request and no longer counts against its budget. */
void arena_detach(struct arena *a);

/* n zeroed bytes, aligned for any type. */
void *arena_alloc(struct arena *a, size_t n);

/* The same without the zeros, for callers that fill all of it. */
void *arena_alloc_raw(struct arena *a, size_t n);

/* count zeroed elements; an overflowing product counts as out of memory. */
void *arena_alloc_array(struct arena *a, size_t count, size_t size);

/* A hint that allocations of about n bytes in all follow: if they are small,
 * they are placed next to each other in one block of that size. */
void arena_expect(struct arena *a, size_t n);

/*
 * Grows an allocation of old_n bytes; the added bytes are zero.  The newest
 * allocation, or one with a block of its own, grows in place.  Others are
 * copied, and the old bytes stay unused until arena_free.
 */
void *arena_grow(struct arena *a, void *old, size_t old_n, size_t new_n);

/* Gives n bytes back before the arena ends if they are a large allocation or
 * the newest one.  Others stay: they share their block with their neighbours.
 */
void arena_release(struct arena *a, void *p, size_t n);

/* A buffer whose bytes are the arena's.  Its limit is the memory budget; it
 * fails, as every buf does, where an allocation would unwind. */
struct buf arena_buf(struct arena *a);

struct str arena_str(struct arena *a, struct str s); /* a copy */
char *arena_cstr(struct arena *a, struct str s);     /* with a NUL */
char *arena_printf(struct arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#define arena_new_array(a, T, n) ((T *)arena_alloc_array((a), (n), sizeof(T)))

#endif

#ifndef RUNTIME_HOOK_ALLOC_NEXT_H
#define RUNTIME_HOOK_ALLOC_NEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The allocator below the hooks: libc's, or another one that the program
 * brings (jemalloc, tcmalloc, mimalloc …).
 *
 * Until it is known, every entry is a stand-in that looks it up first.  The
 * lookup may need memory (dlsym allocates in some versions of libc), which
 * comes from a small arena of pages here.  Such a block looks
 * like a sampled one to free(), which then finds it here and leaves it alone.
 */
struct alloc_next {
    void *(*malloc)(size_t);
    void (*free)(void *);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*memalign)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*usable_size)(void *);
    /* It is libc's own.  A block of another one may be freed with its size
     * by a function that we do not see (sdallocx, tc_free_sized), which must
     * then be right: no sampled block of theirs may be aligned. */
    bool can_align;
};

extern struct alloc_next alloc_next __attribute__((visibility("hidden")));

/* The wrappers of these three (alloc_hooks.c).  In libc.a the functions are
 * in one object and strong, so ours under the same names are weak.  A program
 * that is linked statically gets libc's then, unless it is linked with
 * --wrap=malloc --wrap=free --wrap=realloc. */
void *alloc_hook_malloc(size_t size);
void alloc_hook_free(void *p);
void *alloc_hook_realloc(void *p, size_t size);

/* Finds the allocator; a second call changes nothing. */
void alloc_next_find(void);

/* The size of the block if it is one of the arena, else 0. */
size_t alloc_early_size(const void *p);

/* The next definition of a name after this library's; NULL: none. */
void *alloc_next_symbol(const char *name);

#endif

#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Zeroed memory straight from the system, for code that must not touch the
 * program's allocator (src/runtime, src/elf in process).  Untouched pages
 * cost address space only, so a generous reserve is cheap.
 *
 * All of these fail by returning NULL; pages_free(NULL, n) is a no-op.
 */
void *pages_alloc(size_t bytes);
void pages_free(void *p, size_t bytes);

/* Frees everything after the first `keep` bytes; *bytes is then the remaining
 * size, in whole pages. */
void pages_shrink(void *p, size_t *bytes, size_t keep);

/* A growing array on pages:
 *
 *     struct pages_vec v = {.size = sizeof(struct row)};
 *     struct row *r = pages_vec_push(&v, 1);      // NULL: out of memory
 *
 * Pointers into it die with the next push. */
struct pages_vec {
    void *p;
    size_t n;    /* elements in use */
    size_t cap;  /* elements there is room for */
    size_t size; /* bytes of one */
};

/* `count` zeroed elements more; the address of the first. */
void *pages_vec_push(struct pages_vec *v, size_t count);
void pages_vec_release(struct pages_vec *v);

#endif

#include "base/pages.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *pages_alloc(size_t bytes)
{
    void *p;

    if (bytes == 0)
        return NULL;
    p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void pages_free(void *p, size_t bytes)
{
    if (p && bytes)
        munmap(p, bytes);
}

void pages_shrink(void *p, size_t *bytes, size_t keep)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    keep = (keep + page - 1) / page * page;
    if (keep >= *bytes)
        return;
    pages_free((char *)p + keep, *bytes - keep);
    *bytes = keep;
}

static void *grow(void *p, size_t from, size_t to)
{
#if defined(__SANITIZE_THREAD__)
    /* ThreadSanitizer does not see mremap: it would take the last user of
     * the new addresses for one who uses them still. */
    void *moved = pages_alloc(to);

    if (moved) {
        memcpy(moved, p, from);
        pages_free(p, from);
    }
    return moved;
#else
    p = mremap(p, from, to, MREMAP_MAYMOVE);
    return p == MAP_FAILED ? NULL : p;
#endif
}

static bool vec_grow(struct pages_vec *v, size_t want)
{
    size_t cap = v->cap ? v->cap : 65536 / v->size + 1;
    void *p;

    while (cap < want)
        cap *= 2;
    if (cap > (size_t)-1 / 2 / v->size)
        return false;
    p = v->p ? grow(v->p, v->cap * v->size, cap * v->size)
             : pages_alloc(cap * v->size);
    if (!p)
        return false;
    v->p = p;
    v->cap = cap;
    return true;
}

void *pages_vec_push(struct pages_vec *v, size_t count)
{
    void *at;

    if (count > v->cap - v->n && !vec_grow(v, v->n + count))
        return NULL;
    at = (char *)v->p + v->n * v->size;
    v->n += count;
    return at;
}

void pages_vec_release(struct pages_vec *v)
{
    pages_free(v->p, v->cap * v->size);
    *v = (struct pages_vec){.size = v->size};
}

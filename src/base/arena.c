/*
 * Small allocations are carved from chunks; one of LARGE bytes or more gets
 * an mmap of its own, so that it can grow by mremap without a copy, be given
 * back early, and costs no page that is never touched.  (A vector of a
 * hundred million location indices is the case that matters.)
 */
#include "base/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGN       16u
#define FIRST_CHUNK (8u << 10)
#define LAST_CHUNK  (1u << 20)
#define LARGE       (256u << 10)

struct chunk {
    struct chunk *next;
    size_t used, cap; /* of data[] */
    _Alignas(ALIGN) char data[];
};

struct large {
    struct large *prev, *next;
    size_t mapped; /* bytes of the whole mapping, this header included */
    _Alignas(ALIGN) char data[];
};

struct arena {
    struct chunk *chunk; /* newest first */
    struct large *large;
    size_t next_chunk;
};

static _Noreturn void out_of_memory(size_t n)
{
    fprintf(stderr, "out of memory: no room for %zu bytes\n", n);
    exit(2);
}

struct arena *arena_new(void)
{
    struct arena *a = calloc(1, sizeof(*a));

    if (!a)
        out_of_memory(sizeof(*a));
    a->next_chunk = FIRST_CHUNK;
    return a;
}

void arena_free(struct arena *a)
{
    if (!a)
        return;
    while (a->chunk) {
        struct chunk *c = a->chunk;

        a->chunk = c->next;
        free(c);
    }
    while (a->large) {
        struct large *l = a->large;

        a->large = l->next;
        munmap(l, l->mapped);
    }
    free(a);
}

static size_t round_up(size_t n)
{
    if (n > SIZE_MAX - sizeof(struct large) - ALIGN)
        out_of_memory(n);
    return (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static void link_large(struct arena *a, struct large *l)
{
    l->prev = NULL;
    l->next = a->large;
    if (l->next)
        l->next->prev = l;
    a->large = l;
}

static void unlink_large(struct arena *a, struct large *l)
{
    if (l->prev)
        l->prev->next = l->next;
    else
        a->large = l->next;
    if (l->next)
        l->next->prev = l->prev;
}

static struct large *large_of(void *p)
{
    return (struct large *)((char *)p - offsetof(struct large, data));
}

static void *alloc_large(struct arena *a, size_t n)
{
    size_t total = n + sizeof(struct large);
    struct large *l = mmap(NULL, total, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (l == MAP_FAILED)
        out_of_memory(n);
    l->mapped = total;
    link_large(a, l);
    return l->data;
}

static void add_chunk(struct arena *a, size_t n)
{
    size_t cap = a->next_chunk > n ? a->next_chunk : n;
    struct chunk *c = malloc(sizeof(*c) + cap);

    if (!c)
        out_of_memory(cap);
    c->next = a->chunk;
    c->used = 0;
    c->cap = cap;
    a->chunk = c;
    if (a->next_chunk < LAST_CHUNK)
        a->next_chunk *= 2;
}

void *arena_alloc(struct arena *a, size_t n)
{
    char *p;

    n = round_up(n);
    if (n >= LARGE)
        return alloc_large(a, n);
    if (!a->chunk || a->chunk->cap - a->chunk->used < n)
        add_chunk(a, n);
    p = a->chunk->data + a->chunk->used;
    a->chunk->used += n;
    memset(p, 0, n);
    return p;
}

void *arena_alloc_array(struct arena *a, size_t count, size_t size)
{
    size_t n;

    if (__builtin_mul_overflow(count, size, &n))
        out_of_memory(SIZE_MAX);
    return arena_alloc(a, n);
}

static void *resize_large(struct arena *a, void *old, size_t new_n)
{
    struct large *l = large_of(old);
    size_t total = new_n + sizeof(struct large);

    unlink_large(a, l);
    l = mremap(l, l->mapped, total, MREMAP_MAYMOVE);
    if (l == MAP_FAILED)
        out_of_memory(new_n);
    l->mapped = total;
    link_large(a, l);
    return l->data;
}

static bool grow_in_chunk(struct arena *a, char *old, size_t old_n,
                          size_t new_n)
{
    struct chunk *c = a->chunk;
    size_t start;

    if (!c || old + old_n != c->data + c->used)
        return false;
    start = (size_t)(old - c->data);
    if (c->cap - start < new_n)
        return false;
    memset(old + old_n, 0, new_n - old_n);
    c->used = start + new_n;
    return true;
}

void *arena_grow(struct arena *a, void *old, size_t old_n, size_t new_n)
{
    size_t old_room = round_up(old_n);
    size_t new_room = round_up(new_n);
    void *p;

    assert(new_n >= old_n);
    if (old && new_room == old_room)
        return old;
    if (old && old_room >= LARGE)
        return resize_large(a, old, new_room);
    /* What is large lives in a mapping of its own, or nobody could tell. */
    if (old && old_room && new_room < LARGE &&
        grow_in_chunk(a, old, old_room, new_room))
        return old;
    p = arena_alloc(a, new_n);
    if (old && old_n)
        memcpy(p, old, old_n);
    return p;
}

void arena_release(struct arena *a, void *p, size_t n)
{
    struct large *l;

    if (!p || round_up(n) < LARGE)
        return;
    l = large_of(p);
    unlink_large(a, l);
    munmap(l, l->mapped);
}

struct str arena_str(struct arena *a, struct str s)
{
    return str_of(arena_cstr(a, s), s.n);
}

char *arena_cstr(struct arena *a, struct str s)
{
    char *p = arena_alloc(a, s.n + 1);

    if (s.n)
        memcpy(p, s.s, s.n);
    return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap, again;
    char *p;
    int n;

    va_start(ap, fmt);
    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, ap);
    p = arena_alloc(a, (size_t)(n < 0 ? 0 : n) + 1);
    if (n > 0)
        vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    va_end(ap);
    return p;
}

/*
 * Small allocations are carved from chunks; one of LARGE bytes or more gets
 * an mmap of its own, so that it can grow by mremap without a copy, be given
 * back early, and costs no page that is never touched.  (A vector of a
 * hundred million location indices is the case that matters.)
 *
 * A few chunks that are free wait for the next arena.  Reading small profiles
 * one after another would otherwise give the same pages back to the kernel and
 * get them again each time, which takes longer than decoding them.
 */
#include "base/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory_scope.h"

#define ALIGN       16u
#define FIRST_CHUNK (8u << 10)
#define LAST_CHUNK  (1u << 20)
#define LARGE       (256u << 10)

/* AddressSanitizer watches what is freed. */
#if defined(__SANITIZE_ADDRESS__)
#define FREES_AT_ONCE
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FREES_AT_ONCE
#endif
#endif

enum {
    SPARES = 4,
    SPARE_MIN = 32 << 10,
    SPARE_MAX = 256 << 10,
};

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
    size_t charged; /* bytes of chunks and large ones, for its scope */
    struct scope_resource resource;
};

static struct arena *arena_of(struct scope_resource *r)
{
    return (struct arena *)((char *)r - offsetof(struct arena, resource));
}

static void release_resource(struct scope_resource *r)
{
    arena_free(arena_of(r));
}

struct arena *arena_new(void)
{
    struct arena *a = calloc(1, sizeof(*a));

    if (!a)
        memory_scope_fail(memory_scope_current(), sizeof(*a));
    a->next_chunk = FIRST_CHUNK;
    memory_scope_adopt(&a->resource, release_resource);
    return a;
}

void arena_detach(struct arena *a)
{
    memory_scope_refund(a->resource.scope, a->charged);
    memory_scope_disown(&a->resource);
    a->charged = 0;
}

/* --- chunks that wait for the next arena ---------------------------------- */

static _Atomic(struct chunk *) spares[SPARES];

static void put_spare(struct chunk *c)
{
#ifndef FREES_AT_ONCE
    for (int i = 0; i < SPARES && c->cap >= SPARE_MIN && c->cap <= SPARE_MAX;
         i++) {
        struct chunk *none = NULL;

        if (atomic_compare_exchange_strong(&spares[i], &none, c))
            return;
    }
#endif
    free(c);
}

/* One with n bytes, or NULL. */
static struct chunk *take_spare(size_t n)
{
    for (int i = 0; i < SPARES; i++) {
        struct chunk *c;

        if (!atomic_load_explicit(&spares[i], memory_order_relaxed))
            continue;
        c = atomic_exchange(&spares[i], NULL);
        if (c && c->cap >= n)
            return c;
        if (c)
            put_spare(c);
    }
    return NULL;
}

void arena_free_spares(void)
{
    for (int i = 0; i < SPARES; i++)
        free(atomic_exchange(&spares[i], NULL));
}

void arena_free(struct arena *a)
{
    if (!a)
        return;
    arena_detach(a);
    while (a->chunk) {
        struct chunk *c = a->chunk;

        a->chunk = c->next;
        put_spare(c);
    }
    while (a->large) {
        struct large *l = a->large;

        a->large = l->next;
        munmap(l, l->mapped);
    }
    free(a);
}

/* An n that is too large to round stays so, and no allocation succeeds. */
static size_t round_up(size_t n)
{
    if (n > SIZE_MAX / 2)
        return SIZE_MAX / 2;
    return (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static bool charge(struct arena *a, size_t n)
{
    if (!memory_scope_charge(a->resource.scope, n))
        return false;
    a->charged += n;
    return true;
}

static void refund(struct arena *a, size_t n)
{
    if (!a->resource.scope)
        return; /* it may have been charged before it was detached */
    memory_scope_refund(a->resource.scope, n);
    a->charged -= n;
}

/* --- blocks, which may be refused ----------------------------------------- */

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

static void *try_large(struct arena *a, size_t n)
{
    size_t total = n + sizeof(struct large);
    struct large *l;

    if (!charge(a, total))
        return NULL;
    l = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
             -1, 0);
    if (l == MAP_FAILED) {
        refund(a, total);
        return NULL;
    }
    l->mapped = total;
    link_large(a, l);
    return l->data;
}

/* At least n bytes: less than usual near the end of a budget. */
static struct chunk *new_chunk(struct arena *a, size_t n, size_t usual)
{
    size_t cap = usual > n ? usual : n;
    struct chunk *c;

    while (!charge(a, cap)) {
        if (cap == n)
            return NULL;
        cap = cap / 2 > n ? cap / 2 : n;
    }
    c = malloc(sizeof(*c) + cap);
    if (c)
        c->cap = cap;
    else
        refund(a, cap);
    return c;
}

static bool add_chunk(struct arena *a, size_t n)
{
    struct chunk *c = NULL;

    if (n >= SPARE_MIN || a->next_chunk >= SPARE_MIN)
        c = take_spare(n);
    if (c && !charge(a, c->cap)) {
        put_spare(c);
        c = NULL;
    }
    if (!c)
        c = new_chunk(a, n, a->next_chunk);
    if (!c)
        return false;
    c->next = a->chunk;
    c->used = 0;
    a->chunk = c;
    if (a->next_chunk < LAST_CHUNK)
        a->next_chunk *= 2;
    return true;
}

/* n is rounded.  Not zeroed. */
static void *try_alloc_raw(struct arena *a, size_t n)
{
    char *p;

    if (n >= LARGE)
        return try_large(a, n);
    if ((!a->chunk || a->chunk->cap - a->chunk->used < n) && !add_chunk(a, n))
        return NULL;
    p = a->chunk->data + a->chunk->used;
    a->chunk->used += n;
    return p;
}

static void *try_alloc(struct arena *a, size_t n)
{
    void *p = try_alloc_raw(a, n);

    if (p && n < LARGE) /* the kernel's pages are zero */
        memset(p, 0, n);
    return p;
}

void arena_expect(struct arena *a, size_t n)
{
    /* Only a hint: an allocation that follows says whether there is room. */
    if (n < LARGE && (!a->chunk || a->chunk->cap - a->chunk->used < n))
        (void)add_chunk(a, n);
}

static void *try_resize_large(struct arena *a, void *old, size_t new_n)
{
    struct large *l = large_of(old), *moved;
    size_t total = new_n + sizeof(struct large), before = l->mapped;

    if (!charge(a, total - before))
        return NULL;
    unlink_large(a, l);
    moved = mremap(l, before, total, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) {
        link_large(a, l);
        refund(a, total - before);
        return NULL;
    }
    moved->mapped = total;
    link_large(a, moved);
    return moved->data;
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
    c->used = start + new_n;
    return true;
}

/* What is added is not zeroed, unless it is large. */
static void *try_grow_raw(struct arena *a, void *old, size_t old_n,
                          size_t new_n)
{
    size_t old_room = round_up(old_n);
    size_t new_room = round_up(new_n);
    void *p;

    assert(new_n >= old_n);
    if (old && new_room == old_room)
        return old;
    if (old && old_room >= LARGE)
        return try_resize_large(a, old, new_room);
    /* What is large lives in a mapping of its own, or nobody could tell. */
    if (old && old_room && new_room < LARGE &&
        grow_in_chunk(a, old, old_room, new_room))
        return old;
    p = try_alloc_raw(a, new_room);
    if (p && old && old_n)
        memcpy(p, old, old_n);
    return p;
}

static void *try_grow(struct arena *a, void *old, size_t old_n, size_t new_n)
{
    size_t old_room = round_up(old_n), new_room = round_up(new_n);
    char *p = try_grow_raw(a, old, old_n, new_n);

    if (p && new_room < LARGE && !(old && new_room == old_room))
        memset(p + old_n, 0, new_room - old_n);
    return p;
}

/* --- what callers see: memory, or no return ------------------------------- */

static void *or_fail(struct arena *a, void *p, size_t n)
{
    if (!p)
        memory_scope_fail(a->resource.scope, n);
    return p;
}

void *arena_alloc(struct arena *a, size_t n)
{
    return or_fail(a, try_alloc(a, round_up(n)), n);
}

void *arena_alloc_raw(struct arena *a, size_t n)
{
    return or_fail(a, try_alloc_raw(a, round_up(n)), n);
}

void *arena_alloc_array(struct arena *a, size_t count, size_t size)
{
    size_t n;

    if (__builtin_mul_overflow(count, size, &n))
        n = SIZE_MAX;
    return arena_alloc(a, n);
}

void *arena_grow(struct arena *a, void *old, size_t old_n, size_t new_n)
{
    return or_fail(a, try_grow(a, old, old_n, new_n), new_n);
}

void arena_release(struct arena *a, void *p, size_t n)
{
    size_t room = round_up(n);
    struct chunk *c = a->chunk;
    struct large *l;

    if (!p)
        return;
    if (room < LARGE) {
        assert(c && c->used <= c->cap);
        if (c && (char *)p + room == c->data + c->used)
            c->used -= room;
        return;
    }
    l = large_of(p);
    assert(l->mapped == room + sizeof(*l));
    unlink_large(a, l);
    refund(a, l->mapped);
    munmap(l, l->mapped);
}

/* --- buffers, which fail and do not unwind -------------------------------- */

static char *resize_buf(struct arena *a, char *data, size_t cap, size_t new_cap)
{
    char *p;

    if (new_cap == 0) {
        arena_release(a, data, cap);
        return NULL;
    }
    p = try_grow_raw(a, data, cap, new_cap);
    if (!p)
        memory_scope_spoil(a->resource.scope);
    return p;
}

struct buf arena_buf(struct arena *a)
{
    /* no limit: the arena's budget is one */
    return (struct buf){.max = BUF_NO_LIMIT, .arena = a, .resize = resize_buf};
}

/* --- texts ---------------------------------------------------------------- */

struct str arena_str(struct arena *a, struct str s)
{
    return str_of(arena_cstr(a, s), s.n);
}

char *arena_cstr(struct arena *a, struct str s)
{
    char *p = arena_alloc_raw(a, s.n + 1);

    if (s.n)
        memcpy(p, s.s, s.n);
    p[s.n] = '\0';
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

/*
 * The current scope is a thread-local variable and not a parameter: scratch
 * arenas are made deep inside functions that know nothing of requests, and
 * every one of them has to count.  Charging happens per chunk of an arena,
 * not per allocation, so that it costs nothing that can be measured.
 */
#include "base/memory_scope.h"

#include <assert.h>
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

struct memory_scope {
    struct memory_scope *outer;
    struct scope_resource *newest;
    size_t used, max;
    bool is_spoilt; /* a buf had to do without memory */
    struct error *err;
    jmp_buf landing;
};

static _Thread_local struct memory_scope *current;

/* --- resources ------------------------------------------------------------ */

void memory_scope_adopt(struct scope_resource *r,
                        void (*release)(struct scope_resource *r))
{
    struct memory_scope *s = current;

    *r = (struct scope_resource){.scope = s, .release = release};
    if (!s)
        return;
    r->older = s->newest;
    if (r->older)
        r->older->newer = r;
    s->newest = r;
}

void memory_scope_disown(struct scope_resource *r)
{
    if (!r->scope)
        return;
    if (r->newer)
        r->newer->older = r->older;
    else
        r->scope->newest = r->older;
    if (r->older)
        r->older->newer = r->newer;
    *r = (struct scope_resource){.release = r->release};
}

static void release_all(struct memory_scope *s)
{
    while (s->newest) {
        struct scope_resource *r = s->newest;

        memory_scope_disown(r);
        r->release(r);
    }
}

/* What a scope leaves behind belongs to the next one. */
static void hand_over(struct memory_scope *s)
{
    struct scope_resource *oldest = NULL;

    for (struct scope_resource *r = s->newest; r; r = r->older) {
        r->scope = s->outer;
        oldest = r;
    }
    if (!oldest || !s->outer)
        return;
    oldest->older = s->outer->newest;
    if (oldest->older)
        oldest->older->newer = oldest;
    s->outer->newest = s->newest;
}

struct memory_scope *memory_scope_current(void)
{
    return current;
}

/* --- the budget ----------------------------------------------------------- */

static bool has_room(const struct memory_scope *s, size_t n)
{
    return s->used <= s->max && n <= s->max - s->used;
}

bool memory_scope_charge(struct memory_scope *s, size_t n)
{
    for (struct memory_scope *i = s; i && current; i = i->outer)
        if (!has_room(i, n))
            return false;
    for (struct memory_scope *i = s; i; i = i->outer)
        i->used += n;
    return true;
}

void memory_scope_refund(struct memory_scope *s, size_t n)
{
    for (; s; s = s->outer) {
        assert(s->used >= n);
        s->used -= n;
    }
}

void memory_scope_spoil(struct memory_scope *s)
{
    if (s)
        s->is_spoilt = true;
}

void memory_scope_fail(struct memory_scope *s, size_t n)
{
    if (s && current)
        _longjmp(current->landing, 1);
    fprintf(stderr, "out of memory: no room for %zu bytes\n", n);
    exit(2);
}

/* Names the smallest budget around the work: the others had room for it. */
static void explain(const struct memory_scope *s, struct error *err)
{
    size_t max = MEMORY_UNLIMITED;

    for (; s; s = s->outer)
        if (s->max < max)
            max = s->max;
    if (max == MEMORY_UNLIMITED)
        error_set_code(err, ENOMEM, "out of memory");
    else
        error_set_code(err, ENOMEM,
                       "this needs more memory than the %zu bytes that one "
                       "request may use",
                       max);
}

/* --- running -------------------------------------------------------------- */

/* Apart from its caller, since a jump leaves the locals of the function that
 * called setjmp undefined. */
static bool run(struct memory_scope *s, void (*work)(void *arg), void *arg)
{
    if (_setjmp(s->landing) != 0)
        return false;
    work(arg);
    return true;
}

bool memory_scope_run(size_t max_bytes, void (*work)(void *arg), void *arg,
                      struct error *err)
{
    struct memory_scope s = {.outer = current, .max = max_bytes, .err = err};
    bool ok;

    current = &s;
    ok = run(&s, work, arg) && !s.is_spoilt;
    assert(current == &s); /* a pause must end before its scope does */
    if (!ok) {
        release_all(&s);
        explain(&s, err);
    }
    current = s.outer;
    hand_over(&s);
    return ok;
}

struct memory_scope *memory_scope_pause(void)
{
    struct memory_scope *paused = current;

    current = NULL;
    return paused;
}

void memory_scope_resume(struct memory_scope *paused)
{
    assert(!current);
    current = paused;
}

#ifndef BASE_MEMORY_SCOPE_H
#define BASE_MEMORY_SCOPE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * A memory budget for one piece of work, such as a request to a server.
 *
 *     static void answer(void *arg) { struct request *q = arg; … }
 *
 *     if (!memory_scope_run(budget_bytes, answer, &request, &err))
 *         reply(503, err.text);
 *
 * Every arena made by this thread while the work runs counts against the
 * budget.  An arena allocation that does not fit, or for which the system has
 * no memory, never returns: everything that belongs to the scope is released,
 * newest first, and memory_scope_run() returns false with an error whose code
 * is ENOMEM.  Without a scope the same allocation ends the program with a
 * message, which is right for a command-line tool.
 *
 * The work is left by longjmp, so code that runs inside a scope follows these
 * rules wherever it allocates from an arena:
 *
 * - A resource that lives outside arenas (a descriptor, a compiled regular
 *   expression) must belong to the scope: see memory_scope_adopt().  Arenas
 *   do so by themselves, so scratch arenas need no care.
 * - Text is built in an arena_buf().  A buf never unwinds.  If it does not fit,
 * it turns `failed`, and the scope fails when it ends.
 * - No lock may be held.  Where that is unavoidable, run the part under the
 *   lock in a scope of its own; it returns, and the lock can be released.
 * - What outlives the work (an entry of a cache) is taken out of the scope
 *   with arena_detach() before another thread can see it, or is made between
 *   memory_scope_pause() and memory_scope_resume().
 * - No frame of a foreign library that calls back into ours may be left this
 *   way: pause the scope around such calls.
 *
 * A scope belongs to one thread, and so do the arenas made in it.  Scopes
 * nest: an inner one counts against the outer ones too, and what it leaves
 * behind when it succeeds belongs to the outer one.
 */
struct memory_scope;

/* For a scope that has no budget of its own, only that of the outer ones. */
#define MEMORY_UNLIMITED ((size_t)-1)

bool memory_scope_run(size_t max_bytes, void (*work)(void *arg), void *arg,
                      struct error *err);

/* Until memory_scope_resume(), this thread works outside any scope: no
 * allocation is refused or counted. */
struct memory_scope *memory_scope_pause(void);
void memory_scope_resume(struct memory_scope *paused);

/*
 * Something that must be released when the scope is left by force.  It is a
 * member of the thing itself; the functions may be called without a scope,
 * where they do nothing.  A zeroed resource belongs to no scope.
 */
struct scope_resource {
    struct memory_scope *scope;
    struct scope_resource *newer, *older;
    void (*release)(struct scope_resource *r);
};

void memory_scope_adopt(struct scope_resource *r,
                        void (*release)(struct scope_resource *r));
void memory_scope_disown(struct scope_resource *r);

/* For arena.c.  The innermost scope of this thread, or NULL. */
struct memory_scope *memory_scope_current(void);

/* True if n more bytes fit into the scope and all around it,
 * which they then count against; a NULL scope has no limit. */
bool memory_scope_charge(struct memory_scope *s, size_t n);
void memory_scope_refund(struct memory_scope *s, size_t n);

/* A buf had to do without memory: the scope will fail when it ends. */
void memory_scope_spoil(struct memory_scope *s);

/* Leaves the innermost scope because n bytes are missing; ends the program if
 * the arena that failed belongs to no scope. */
void memory_scope_fail(struct memory_scope *s, size_t n)
    __attribute__((noreturn));

#endif

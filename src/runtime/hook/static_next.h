#ifndef RUNTIME_HOOK_STATIC_NEXT_H
#define RUNTIME_HOOK_STATIC_NEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * libc's own functions in a program that is linked statically.
 *
 * There dlsym(RTLD_NEXT) finds nothing behind a wrapper.  But libc.a has most
 * functions under two or three names, and we wrap only the public one: the
 * others still lead to libc.
 */

/* True in a program that is linked statically with libpprof-hooks.a. */
bool static_next_is_needed(void);

/* The function behind the wrapper of this name; NULL in a program that is
 * linked dynamically. */
void *static_next(const char *name);

/* The program was linked with --wrap=malloc: see alloc_hook_malloc(). */
bool static_next_malloc_is_wrapped(void);

/* In C++ programs: ends the call with std::bad_alloc after the new-handler
 * has been asked for memory.  Returns when the caller shall try again;
 * false: there is no C++ runtime, or it may not throw. */
bool static_next_new_failed(bool may_throw);

#endif

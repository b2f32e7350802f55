#ifndef RUNTIME_HOOK_HOOK_NEXT_H
#define RUNTIME_HOOK_HOOK_NEXT_H

#include <stdatomic.h>
#include <stddef.h>

/*
 * For functions that stand in front of libc's: the one behind, which is
 * libc's own or that of another library that does the same.
 *
 *     static hook_slot next;
 *     int (*real)(sem_t *) = hook_next(&next, "sem_wait");
 *
 * Looked up at the first call, which may come before any constructor ran.
 * Never NULL: a missing function is replaced by one that returns ENOSYS.
 */
typedef _Atomic(void *) hook_slot;

void *hook_find(hook_slot *slot, const char *name);

/* NULL before it was looked up. */
static inline void *hook_known(hook_slot *slot)
{
    return atomic_load_explicit(slot, memory_order_relaxed);
}

static inline void *hook_next(hook_slot *slot, const char *name)
{
    void *fn = hook_known(slot);

    return __builtin_expect(fn != NULL, 1) ? fn : hook_find(slot, name);
}

#endif

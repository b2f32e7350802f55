#include "runtime/hook/hook_next.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "runtime/hook/static_next.h"

static int missing(void)
{
    errno = ENOSYS;
    return ENOSYS;
}

void *hook_find(hook_slot *slot, const char *name)
{
    void *fn = static_next(name);

    /* Condition variables have changed their layout once.  Where the first
     * version is older than that, dlsym alone gave it in many a libc. */
#if defined(__x86_64__) && defined(__GLIBC__)
    if (!fn && (strcmp(name, "pthread_cond_wait") == 0 ||
                strcmp(name, "pthread_cond_timedwait") == 0))
        fn = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
#endif
    if (!fn && !static_next_is_needed())
        fn = dlsym(RTLD_NEXT, name);
    if (!fn)
        fn = (void *)missing;
    atomic_store_explicit(slot, fn, memory_order_relaxed);
    return fn;
}

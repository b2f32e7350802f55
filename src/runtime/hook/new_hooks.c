/*
 * C++'s operators new and delete, all forms, by their mangled names: this
 * library needs no C++ runtime.
 *
 * Most runtimes' operator new calls malloc, which is wrapped already; those
 * of jemalloc, tcmalloc and mimalloc do not.  So each form goes on to the
 * next definition of the very same form, as if we were not there, and counts
 * only what has not passed through malloc: then the thread's count of bytes
 * is what it was before.  A form that is seen to come through malloc is not
 * watched any more.
 *
 * A program that brings its own operators has them called instead of ours;
 * forms that it leaves to the runtime come here and go on to the runtime,
 * which calls the program's as ever.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "pprof/pprof.h"
#include "runtime/heap/heap.h"
#include "runtime/hook/alloc_next.h"
#include "runtime/hook/static_next.h"
#include "runtime/own_code.h"

/* On x86-64 and aarch64 a function may be called with more arguments than it
 * takes; all forms have three words at most. */
typedef void *operator_fn(uintptr_t, uintptr_t, uintptr_t);

struct operator_form {
    const char *name;
    _Atomic(operator_fn *) next;
    _Atomic bool comes_by; /* its blocks come through malloc */
};

/*
 * When there is no C++ runtime below us: in programs that are linked
 * statically, and in a C program that looks the names up, which has to do
 * without an exception when it is out of memory.
 */
static void *allocate(uintptr_t size, uintptr_t align, bool may_throw)
{
    void *p;

    size = size ? size : 1;
    do
        p = align ? alloc_next.memalign(align, size) : alloc_next.malloc(size);
    while (!p && static_next_new_failed(may_throw));
    return p;
}

static void *plain_new(uintptr_t size, uintptr_t a, uintptr_t b)
{
    (void)a;
    (void)b;
    return allocate(size, 0, true);
}

static void *nothrow_new(uintptr_t size, uintptr_t a, uintptr_t b)
{
    (void)a;
    (void)b;
    return allocate(size, 0, false);
}

static void *aligned_new(uintptr_t size, uintptr_t align, uintptr_t b)
{
    (void)b;
    return allocate(size, align, true);
}

static void *aligned_nothrow_new(uintptr_t size, uintptr_t align, uintptr_t b)
{
    (void)b;
    return allocate(size, align, false);
}

static void *plain_delete(uintptr_t p, uintptr_t a, uintptr_t b)
{
    (void)a;
    (void)b;
    alloc_next.free((void *)p);
    return NULL;
}

static operator_fn *own_operator(const char *name)
{
    bool nothrow = strstr(name, "nothrow") != NULL;

    if (strncmp(name, "_Zn", 3) != 0)
        return plain_delete;
    if (strstr(name, "St11align_val_t"))
        return nothrow ? aligned_nothrow_new : aligned_new;
    return nothrow ? nothrow_new : plain_new;
}

/* A runtime that came with a plugin is not in the scope that we see. */
static void *find_in_runtimes(const char *name)
{
    static const char *const runtimes[] = {"libstdc++.so.6", "libc++abi.so.1",
                                           "libc++.so.1"};
    void *found = NULL;

    for (size_t i = 0; !found && i < sizeof(runtimes) / sizeof(runtimes[0]);
         i++) {
        void *library = dlopen(runtimes[i], RTLD_LAZY | RTLD_NOLOAD);

        if (library)
            found = dlsym(library, name); /* it stays loaded */
    }
    return found;
}

static __attribute__((noinline, cold)) operator_fn *
find_next(struct operator_form *form)
{
    operator_fn *fn;

    *(void **)&fn = alloc_next_symbol(form->name);
    if (!fn && !static_next_is_needed())
        *(void **)&fn = find_in_runtimes(form->name);
    if (!fn)
        fn = own_operator(form->name);
    atomic_store(&form->next, fn);
    return fn;
}

static inline operator_fn *next_of(struct operator_form *form)
{
    operator_fn *fn = atomic_load_explicit(&form->next, memory_order_relaxed);

    return fn ? fn : find_next(form);
}

static __attribute__((noinline)) void *watched_new(struct operator_form *form,
                                                   uintptr_t size, uintptr_t a,
                                                   uintptr_t b,
                                                   const void *return_address)
{
    struct heap_thread before = heap_thread;
    void *p = next_of(form)(size, a, b);
    uint32_t rate;

    /* At rate 1 it is always 0, but a number was drawn. */
    if (heap_thread.left != before.left || heap_thread.seed != before.seed) {
        atomic_store_explicit(&form->comes_by, true, memory_order_relaxed);
        return p;
    }
    if (!heap_count(size))
        return p;
    rate = heap_due(size);
    if (rate && p)
        heap_enter(p, size, rate, return_address);
    return p;
}

#define NEW(symbol)                                                            \
    PPROF_API OWN_WRAPPER void *symbol(uintptr_t size, uintptr_t a,            \
                                       uintptr_t b) __attribute__((weak));     \
    void *symbol(uintptr_t size, uintptr_t a, uintptr_t b)                     \
    {                                                                          \
        static struct operator_form form = {.name = #symbol};                  \
                                                                               \
        if (atomic_load_explicit(&form.comes_by, memory_order_relaxed))        \
            return next_of(&form)(size, a, b);                                 \
        return watched_new(&form, size, a, b, __builtin_return_address(0));    \
    }

#define DELETE(symbol)                                                         \
    PPROF_API OWN_WRAPPER void symbol(void *p, uintptr_t a, uintptr_t b)       \
        __attribute__((weak));                                                 \
    void symbol(void *p, uintptr_t a, uintptr_t b)                             \
    {                                                                          \
        static struct operator_form form = {.name = #symbol};                  \
        struct live_block block;                                               \
                                                                               \
        if (heap_may_know(p))                                                  \
            heap_leave(p, &block);                                             \
        next_of (&form)((uintptr_t)p, a, b);                                   \
    }

/* new, new[]: plain, nothrow, aligned, aligned and nothrow */
NEW(_Znwm)
NEW(_Znam)
NEW(_ZnwmRKSt9nothrow_t)
NEW(_ZnamRKSt9nothrow_t)
NEW(_ZnwmSt11align_val_t)
NEW(_ZnamSt11align_val_t)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t)

/* delete, delete[]: plain, with size, nothrow, and all that aligned */
DELETE(_ZdlPv)
DELETE(_ZdaPv)
DELETE(_ZdlPvm)
DELETE(_ZdaPvm)
DELETE(_ZdlPvRKSt9nothrow_t)
DELETE(_ZdaPvRKSt9nothrow_t)
DELETE(_ZdlPvSt11align_val_t)
DELETE(_ZdaPvSt11align_val_t)
DELETE(_ZdlPvmSt11align_val_t)
DELETE(_ZdaPvmSt11align_val_t)
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t)
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t)

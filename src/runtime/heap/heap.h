#ifndef RUNTIME_HEAP_HEAP_H
#define RUNTIME_HEAP_HEAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "runtime/heap/heap_live.h"
#include "runtime/heap/heap_peak.h"
#include "runtime/unwind/stack_table.h"

/*
 * The heap sampler: chooses allocations and records them.  The hooks
 * (alloc_hooks.c) call it; snapshots read it (heap_profile.c).
 *
 * A thread counts its bytes down to the next sample (heap_math.h).  A sampled
 * block is entered with its stack, its size and the rate it was drawn at, so
 * its weight is fixed from then on; when it is freed, the same entry counts a
 * free.  What is in use is the difference.
 *
 * How free() knows a sampled block: it is aligned to HEAP_ALIGN, an address
 * test that needs no memory.  Only while there are sampled blocks that could
 * not be aligned (big ones; all of them at rates below HEAP_ALIGN_RATE, where
 * the padding would cost more than the program, and above allocators other
 * than libc's) others are looked at, too.  Those go through a filter by
 * address before the table is asked.
 *
 * The hooks run wherever malloc does: in signal handlers, in the loader, in
 * destructors of thread-locals.  No lock, no allocation, no call that could.
 */
#define HEAP_RATE_DEFAULT (512 * 1024)
#define HEAP_ALIGN        4096
#define HEAP_ALIGN_RATE   (64 * 1024) /* from here on blocks are aligned */
#define HEAP_ALIGN_MAX    (32 * 1024) /* bigger ones only where it is free */

/* While sampling is off, a thread checks again after this many bytes. */
#define HEAP_RECHECK_BYTES 65536

/* Go's depth for heap stacks. */
#define HEAP_MAX_FRAMES 128

/* A thread's part.  All zero is a thread that has not allocated yet. */
struct heap_thread {
    int64_t left;  /* bytes to the next sample; 0 or less: it is due */
    uint64_t seed; /* of its random numbers, 0: none yet */
    uint32_t rate; /* the number of the rate that `left` was drawn at; 0:
                      nothing is due, look again */
    uint32_t busy; /* HEAP_BUSY_* */
};

enum {
    HEAP_BUSY_SAMPLE = 1,  /* a sample is being taken: what is allocated
                              meanwhile, in a signal handler, is none */
    HEAP_BUSY_OWN = 2,     /* a thread of ours */
    HEAP_BUSY_RESOLVE = 4, /* the next allocator is being looked up */
};

extern __thread struct heap_thread heap_thread
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Counters by address for sampled blocks.  Neighbours share a counter, so that
 * a program's frees touch few lines of it; with one sample in 512 KiB it has
 * false positives for 3 % of the blocks. */
#define HEAP_FILTER_SLOTS 65536
#define HEAP_FILTER_SHIFT 14

#define HEAP_MAX_RATES 256

/* How the entries of `sites` are counted: sampled blocks that were allocated,
 * that were freed, and that were in use at the peak. */
enum { SITE_ALLOCS, SITE_FREES, SITE_PEAK };

/* Their frames: the offset of the stack in `stacks`, and the number of the
 * thread's set of labels. */
enum { SITE_STACK, SITE_LABELS, SITE_FRAMES };

struct heap {
    _Atomic uint32_t unaligned; /* sampled blocks that are not aligned */
    _Atomic uint32_t rate;      /* the number of today's, 0: off */
    _Atomic uint64_t rates[HEAP_MAX_RATES];
    _Atomic bool has_hooks;
    const char *hint;   /* how to get the hooks, if not the usual way */
    char taken_by[128]; /* the file whose malloc comes before ours, "" */

    /* Stacks, and for each stack, set of labels, size and rate the counts
     * (SITE_…); a site's tag is from heap_tag(). */
    struct stack_table stacks, sites;
    struct heap_live live;
    struct heap_peak peak;

    _Atomic uint64_t samples;
    _Atomic uint64_t nested;     /* due while another one was being taken */
    _Atomic uint64_t no_room;    /* counted without their stack */
    _Atomic uint64_t unlabelled; /* counted without their labels */
    _Atomic uint64_t lost;       /* not counted, or not as in use */
    _Atomic uint64_t ends[UNWIND_ENDS];
    int64_t start_ns; /* monotonic: what `born` counts from */
    _Atomic uint16_t filter[HEAP_FILTER_SLOTS];
};

extern struct heap heap __attribute__((visibility("hidden")));

static inline uint64_t heap_tag(uint64_t size, uint32_t rate)
{
    return size | (uint64_t)rate << 48;
}

static inline uint64_t heap_tag_size(uint64_t tag)
{
    return tag & (((uint64_t)1 << 48) - 1);
}

static inline uint32_t heap_tag_rate(uint64_t tag)
{
    return (uint32_t)(tag >> 48);
}

/* `born` counts tenths of a second. */
#define HEAP_BORN_NS 100000000

/* --- for the hooks ------------------------------------------------------ */

/* Counts an allocation down; true: heap_due() has to decide. */
static inline bool heap_count(size_t size)
{
    heap_thread.left -= (int64_t)size;
    return __builtin_expect(heap_thread.left <= 0, 0);
}

static inline _Atomic uint16_t *heap_filter(uintptr_t address)
{
    return &heap.filter[address >> HEAP_FILTER_SHIFT & (HEAP_FILTER_SLOTS - 1)];
}

/* Returns true if the block may be a sampled one. */
static inline bool heap_may_know(const void *p)
{
    uintptr_t a = (uintptr_t)p;

    if (__builtin_expect((a & (HEAP_ALIGN - 1)) != 0, 1) &&
        __builtin_expect(
            atomic_load_explicit(&heap.unaligned, memory_order_relaxed) == 0,
            1))
        return false;
    return __builtin_expect(
        atomic_load_explicit(heap_filter(a), memory_order_relaxed) != 0, 0);
}

/* Called when the countdown has reached zero.  Returns the number of the rate
 * if the block that is being allocated is a sample, else 0.  Draws the next
 * distance. */
uint32_t heap_due(size_t size);

/* Returns true if a sampled block of this size is to be page-aligned. */
static inline bool heap_aligns(uint32_t rate, size_t size)
{
    return size < HEAP_ALIGN_MAX &&
           atomic_load_explicit(&heap.rates[rate], memory_order_relaxed) >=
               HEAP_ALIGN_RATE;
}

/* Enters a sampled block; its stack starts where the hook returns to. */
void heap_enter(const void *p, size_t size, uint32_t rate,
                const void *return_address);

/* The block is about to be freed; false: it was not sampled. */
bool heap_leave(const void *p, struct live_block *out);

/* It was not freed after all. */
void heap_reenter(const struct live_block *block);

/* The entry for blocks of about this size that find no room in the tables. */
struct stack_record *heap_site_without_room(uint64_t size, uint32_t rate);

/* --- for everybody else ------------------------------------------------- */

/* Starts sampling at PPROF_MEM_RATE, else at the default; with 0 it is ready
 * but off.  False: out of memory. */
bool heap_start(struct error *err);

/* Sets the average number of bytes between samples; 1: every block, 0: none.
 * The calling thread uses it at once, others after some allocations.  False: no
 * hooks, or too many different rates. */
bool heap_set_rate(uint64_t rate, struct error *err);
uint64_t heap_rate(void); /* 0: off */

/* Why nothing is sampled, and how to enable it; NULL: it is enabled. */
const char *heap_switched_off(void);

#endif

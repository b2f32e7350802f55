#ifndef RUNTIME_THREAD_THREAD_LABELS_H
#define RUNTIME_THREAD_THREAD_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/*
 * Labels that the program sets for the current work of a thread.
 *
 * A set of labels is a number: a label and the set that it was pushed on; 0
 * is the empty one.  Equal sets have equal numbers.  A thread's current set
 * is one word in its thread-local state (pprof_thread.labels), which is all
 * that a signal handler reads.
 *
 * Sets are kept for as long as the process lives, in bounded memory: when it
 * is nearly used up, a new value is shown as "[other]", and when that has no
 * room either, the label is left out.  Async-signal-safe.
 */
#define LABEL_KEY_MAX   64 /* bytes; what is longer is cut off */
#define LABEL_VALUE_MAX 256
#define LABELS_MAX      32 /* of one sample */

struct label {
    struct str key, value; /* live as long as the process */
};

/* Gets the memory, for who is going to push in a handler.  False: there is
 * none. */
bool labels_prepare(void);

/* The set with one label more. */
uint32_t labels_push(uint32_t set, struct str key, struct str value);

/* The same with the name of a thread, as "thread". */
uint32_t labels_push_thread(uint32_t set, const char name[16]);

/* The set before labels_push_thread(). */
uint32_t labels_without_thread(uint32_t set);

/* The labels of a set, sorted by key, the innermost one of each key; their
 * number. */
size_t labels_list(uint32_t set, struct label out[LABELS_MAX]);

/* Labels that found no room. */
uint64_t labels_lost(void);

/* The state of a thread when it was sampled. */
enum label_state {
    STATE_NONE,
    STATE_RUNNING,
    STATE_RUNNABLE, /* it could, but waits for a CPU */
    STATE_SLEEPING,
    STATE_DISK, /* in a sleep that no signal ends */
    STATE_LOCK, /* waits for another thread */
    STATE_STOPPED,
};
const char *label_state_name(unsigned state);

/*
 * What the tag of a stack says: the labels, the thread, and the state that
 * the thread was in, each 0 for nothing.
 */
struct label_tag {
    uint32_t set;
    uint32_t tid; /* below 2^24 */
    unsigned state;
};

static inline uint64_t label_tag_pack(struct label_tag t)
{
    return (uint64_t)t.set << 32 | (uint64_t)(t.state & 0xff) << 24 |
           (t.tid & 0xffffff);
}

static inline struct label_tag label_tag_unpack(uint64_t tag)
{
    return (struct label_tag){(uint32_t)(tag >> 32), tag & 0xffffff,
                              tag >> 24 & 0xff};
}

/*
 * What the tag of a stack that has allocated says: the size of the block and
 * the labels of the thread.  Sets are numbered below 2^24; blocks of more
 * than a terabyte are shown as one of a terabyte.
 */
#define SIZE_TAG_BITS 40

static inline uint64_t size_tag_pack(uint64_t size, uint32_t set)
{
    uint64_t most = ((uint64_t)1 << SIZE_TAG_BITS) - 1;

    return (uint64_t)set << SIZE_TAG_BITS | (size < most ? size : most);
}

static inline uint64_t size_tag_size(uint64_t tag)
{
    return tag & (((uint64_t)1 << SIZE_TAG_BITS) - 1);
}

static inline uint32_t size_tag_set(uint64_t tag)
{
    return (uint32_t)(tag >> SIZE_TAG_BITS);
}

#endif

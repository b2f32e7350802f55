#ifndef RUNTIME_PUSH_PUSH_QUEUE_H
#define RUNTIME_PUSH_PUSH_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/*
 * Profiles that wait to be sent, in bounded memory.  When there is no room
 * for a new one the oldest go: what a program does now is worth more than
 * what it did when the collector went away.  The caller has a lock.
 */
struct push_profile {
    struct push_profile *next;
    const char *type; /* "cpu"; a constant */
    char path[640];   /* the file that it was read from; "": none */
    char note[32];    /* the label `note`; "": none */
    unsigned attempts;
    struct str bytes; /* in the same block of memory */
};

struct push_queue {
    struct push_profile *first, *last;
    size_t bytes, max_bytes; /* what was taken out and not freed counts */
    uint64_t lost;           /* profiles that found no room */
};

/* The profile is copied.  False: it is larger than the queue, or there is no
 * memory; that counts as lost. */
bool push_queue_add(struct push_queue *q, const struct push_profile *profile);

/* The oldest one, NULL: none.  Given back with _return (it was not sent) or
 * _free. */
struct push_profile *push_queue_take(struct push_queue *q);
void push_queue_return(struct push_queue *q, struct push_profile *p);
void push_queue_free(struct push_queue *q, struct push_profile *p);

/* Drops all that wait. */
void push_queue_clear(struct push_queue *q);

#endif

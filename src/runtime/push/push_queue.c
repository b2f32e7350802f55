/*
 * One block of memory for each profile, so that a queue that is full of small
 * profiles costs no more than it says.
 */
#include "runtime/push/push_queue.h"

#include <stdlib.h>

static size_t cost(const struct push_profile *p)
{
    return sizeof(*p) + p->bytes.n;
}

struct push_profile *push_queue_take(struct push_queue *q)
{
    struct push_profile *p = q->first;

    if (p) {
        q->first = p->next;
        if (!q->first)
            q->last = NULL;
        p->next = NULL;
    }
    return p;
}

void push_queue_return(struct push_queue *q, struct push_profile *p)
{
    p->next = q->first;
    q->first = p;
    if (!q->last)
        q->last = p;
}

void push_queue_free(struct push_queue *q, struct push_profile *p)
{
    q->bytes -= cost(p);
    free(p);
}

void push_queue_clear(struct push_queue *q)
{
    struct push_profile *p;

    while ((p = push_queue_take(q)) != NULL)
        push_queue_free(q, p);
}

/* Room for so many bytes, at the expense of the oldest. */
static bool make_room(struct push_queue *q, size_t bytes)
{
    struct push_profile *p;

    while (q->bytes + bytes > q->max_bytes &&
           (p = push_queue_take(q)) != NULL) {
        push_queue_free(q, p);
        q->lost++;
    }
    return q->bytes + bytes <= q->max_bytes;
}

bool push_queue_add(struct push_queue *q, const struct push_profile *profile)
{
    struct push_profile *p = NULL;

    if (cost(profile) <= q->max_bytes && make_room(q, cost(profile)))
        p = malloc(cost(profile));
    if (!p) {
        q->lost++;
        return false;
    }
    *p = *profile;
    p->next = NULL;
    p->bytes.s = memcpy(p + 1, profile->bytes.s, profile->bytes.n);
    if (q->last)
        q->last->next = p;
    else
        q->first = p;
    q->last = p;
    q->bytes += cost(p);
    return true;
}

#include "collector/scrape/schedule.h"

#include <stdlib.h>

static void place(struct schedule *s, size_t at, struct schedule_item *item)
{
    s->v[at - 1] = item;
    item->at = at;
}

static void move_up(struct schedule *s, struct schedule_item *item)
{
    size_t at = item->at;

    while (at > 1 && s->v[at / 2 - 1]->due_ns > item->due_ns) {
        place(s, at, s->v[at / 2 - 1]);
        at /= 2;
    }
    place(s, at, item);
}

static void move_down(struct schedule *s, struct schedule_item *item)
{
    size_t at = item->at, child;

    while ((child = 2 * at) <= s->n) {
        if (child < s->n && s->v[child]->due_ns < s->v[child - 1]->due_ns)
            child++;
        if (s->v[child - 1]->due_ns >= item->due_ns)
            break;
        place(s, at, s->v[child - 1]);
        at = child;
    }
    place(s, at, item);
}

bool schedule_add(struct schedule *s, struct schedule_item *item)
{
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 64;
        struct schedule_item **v = realloc(s->v, cap * sizeof(*v));

        if (!v)
            return false;
        s->v = v;
        s->cap = cap;
    }
    place(s, ++s->n, item);
    move_up(s, item);
    return true;
}

void schedule_remove(struct schedule *s, struct schedule_item *item)
{
    struct schedule_item *last;
    size_t at = item->at;

    if (at == 0)
        return;
    last = s->v[--s->n];
    item->at = 0;
    if (last == item)
        return;
    place(s, at, last);
    move_up(s, last);
    move_down(s, last);
}

struct schedule_item *schedule_first(const struct schedule *s)
{
    return s->n ? s->v[0] : NULL;
}

void schedule_release(struct schedule *s)
{
    free(s->v);
    *s = (struct schedule){0};
}

int64_t schedule_next(int64_t now_ns, int64_t interval_ns, uint64_t phase)
{
    int64_t offset = (int64_t)(phase % (uint64_t)interval_ns);
    int64_t next = now_ns - now_ns % interval_ns + offset;

    return next > now_ns ? next : next + interval_ns;
}

int64_t schedule_backoff(int64_t interval_ns, unsigned failures)
{
    int64_t most = SCHEDULE_MAX_BACKOFF_NS / interval_ns;
    int64_t wait = 1;

    for (unsigned i = 1; i < failures && wait < most; i++)
        wait *= 2;
    return wait < most ? wait : most > 1 ? most : 1;
}

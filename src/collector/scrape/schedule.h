#ifndef COLLECTOR_SCRAPE_SCHEDULE_H
#define COLLECTOR_SCRAPE_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * When things are due: a heap of items by time, and the times themselves.
 *
 * Times are aligned to the wall clock: a scrape with an interval of a minute
 * happens at the same second of every minute, which second its hash decides.
 * So targets are spread evenly, keep their place across restarts, and after
 * a pause the next time counts, not those that were missed.
 */
struct schedule_item {
    int64_t due_ns; /* of whatever clock the caller uses */
    size_t at;      /* its place in the heap, from 1; 0: not in it */
};

struct schedule {
    struct schedule_item **v;
    size_t n, cap;
};

/* False: no memory. */
bool schedule_add(struct schedule *s, struct schedule_item *item);
void schedule_remove(struct schedule *s, struct schedule_item *item);
struct schedule_item *schedule_first(const struct schedule *s); /* or NULL */
void schedule_release(struct schedule *s);

/* The first time after now_ns that is `phase` into an interval. */
int64_t schedule_next(int64_t now_ns, int64_t interval_ns, uint64_t phase);

/* How many intervals to wait after so many failures in a row: 1, 1, 2, 4 …,
 * but not more than SCHEDULE_MAX_BACKOFF_NS. */
#define SCHEDULE_MAX_BACKOFF_NS INT64_C(300000000000)
int64_t schedule_backoff(int64_t interval_ns, unsigned failures);

#endif

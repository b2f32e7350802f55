#ifndef COLLECTOR_QUERY_WINDOW_H
#define COLLECTOR_QUERY_WINDOW_H

#include "collector/call.h"
#include "collector/query/selector.h"

/*
 * The parameters that most queries of /api/1 have:
 *
 *     query=SELECTOR      which profiles (selector.h); all if missing
 *     from=TIME           default now-1h
 *     to=TIME             default now
 *     values=sent         every profile counts with the values it was sent
 *                         with (the default)
 *     values=changes      cumulative values count with their change since the
 *                         previous profile of the same process
 *
 * Read one, use it, release it.
 */
struct window {
    struct selector selector;
    struct store_query query;
    enum store_values values;
};

/* False: the call has been answered with an error. */
bool window_read(struct window *w, struct call *c);

/* The same with a prefix before each name ("base_query"), and the window
 * `other` for what is missing: its selector, and the time of the same length
 * just before it. */
bool window_read_base(struct window *w, struct call *c,
                      const struct window *other);
void window_release(struct window *w);

/* A duration parameter, `missing` if it is not there; not negative. */
bool window_duration(struct call *c, struct str name, int64_t missing,
                     int64_t *out);

/* A count parameter within 1..max, `missing` if it is not there. */
bool window_count(struct call *c, struct str name, uint64_t missing,
                  uint64_t max, uint64_t *out);

#endif

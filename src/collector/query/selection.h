#ifndef COLLECTOR_QUERY_SELECTION_H
#define COLLECTOR_QUERY_SELECTION_H

#include "collector/query/selector.h"
#include "store/id.h"

/*
 * The profiles of a page, as one line of text for a URL:
 *
 *     cpu{service="api"} now-1h..now
 *     heap{service="api"} 2026-01-31T08:00:00Z..2026-01-31T09:00:00Z changes
 *     id:bpc00mre1s7g00a0jlbg
 *
 * A selector, a time range, and how cumulative values count (store.h:
 * "changes", or "sent", which need not be said).  Without a range it is the
 * last hour.  `id:` names a single profile.
 */
struct selection {
    bool is_single;
    struct store_id id; /* if it is single; else the rest */
    struct selector selector;
    int64_t from_ns, to_ns;
    enum store_values values;
};

/* Relative times become absolute.  Release it. */
bool selection_parse(struct selection *out, struct arena *a, struct str text,
                     int64_t now_ns, struct error *err);
void selection_release(struct selection *s);

/* Appends the canonical form, with absolute times. */
void selection_format(const struct selection *s, struct arena *a,
                      struct buf *out);

/* What people call it: "api.cpu", with the values that labels must have
 * ("api.cpu.1.4.2").  From `a`. */
struct str selection_name(const struct selection *s, struct arena *a);

#endif

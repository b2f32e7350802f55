#ifndef COLLECTOR_SCRAPE_SHOW_VIEW_H
#define COLLECTOR_SCRAPE_SHOW_VIEW_H

#include "base/arena.h"
#include "collector/scrape/scraper_parts.h"
#include "collector/scrape/show.h"

/*
 * The targets in the order in which they are shown: by job, service and
 * instance.  The caller holds the scraper's lock.
 */
struct show_list {
    struct entry **v;
    size_t n;
};

struct show_list show_list_make(struct scraper *s, struct arena *a,
                                show_may_see *may_see, void *arg);

/* "up", "down" or "unknown": whether the last scrapes worked. */
enum show_health { SHOW_UNKNOWN, SHOW_UP, SHOW_DOWN };
enum show_health show_health_of(const struct entry *e);
const char *show_health_words(enum show_health h);

/* The name of a task: that of its profile, or "index". */
struct str show_task_name(const struct task *t);

#endif

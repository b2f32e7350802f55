#ifndef COLLECTOR_SCRAPE_REFRESH_H
#define COLLECTOR_SCRAPE_REFRESH_H

#include "collector/scrape/discovery.h"
#include "collector/scrape/scrape_config.h"

/*
 * A discovery that asks for its targets again and again on a thread of its
 * own.  If asking fails, the last targets remain and the failure is logged
 * once.
 */
struct refresh_source {
    /* The targets, with everything from `a`.  If it sets *same, nothing has
     * changed since the last call, and `out` is ignored.  May block for
     * seconds; stopping the discovery waits for it. */
    bool (*load)(void *self, struct arena *a, struct scrape_targets *out,
                 bool *same, struct error *err);
    void (*free)(void *self);
    void *self;
    int64_t interval_ns;
    const char *name; /* of the mechanism, for the log */
};

/* Takes source.self over, also when it fails. */
bool refresh_new(const struct refresh_source *source, struct discovery *out,
                 struct error *err);

#endif

#ifndef COLLECTOR_SCRAPE_DISCOVERY_H
#define COLLECTOR_SCRAPE_DISCOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/label_set.h"
#include "base/str.h"

/*
 * A mechanism that finds targets.  The scraper polls it from its own thread, so
 * none of these functions may block: slow work happens on a thread of the
 * mechanism.
 *
 * A target is a set of labels, as in Prometheus.  __address__ is required;
 * __scheme__, __path_prefix__, __profiles__, __seconds__, __interval__,
 * __service_name__, __tls_secret__ and __param_NAME override the job; all
 * others that begin with two underscores are for relabelling only.
 */

/* Certificates in memory, as PEM; "" = none. */
struct tls_material {
    struct str ca, cert, key;
};

struct discovery_ops {
    /* Changes with each change of the targets; 0 until the first result. */
    uint64_t (*version)(void *d);

    /* The targets as they are now, with all texts from `a`. */
    bool (*snapshot)(void *d, struct arena *a, struct label_set **out,
                     size_t *n, struct error *err);

    /* The certificates of a Secret, "NAMESPACE/NAME"; NULL: it has none.
     * False if it is not available, with the code EAGAIN while it is being
     * read for the first time. */
    bool (*secret)(void *d, struct arena *a, struct str name,
                   struct tls_material *out, struct error *err);

    /* True if the last refresh failed, with the reason; may be NULL. */
    bool (*failure)(void *d, struct error *out);

    /* A status line for people; may be NULL. */
    void (*status)(void *d, struct buf *out);

    void (*free)(void *d);
};

struct discovery {
    const struct discovery_ops *ops;
    void *self;
};

#endif

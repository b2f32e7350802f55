#ifndef COLLECTOR_SCRAPE_TRANSFER_H
#define COLLECTOR_SCRAPE_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "collector/scrape/discovery.h"
#include "collector/scrape/reason.h"
#include "collector/scrape/scrape_config.h"

/*
 * Many HTTP GETs at a time on one thread: libcurl's multi interface over an
 * epoll of our own, so that the cost of a turn depends on the events and not on
 * the number of open transfers.
 *
 *     transfers_start(t, &request, done, arg, &err);
 *     for (;;) {
 *         transfers_wait(t, timeout_ns);      // may be called without locks
 *         transfers_work(t);                  // calls `done`
 *     }
 *
 * Only transfers_wake() may be called from another thread.
 *
 * A body is limited, and so are all bodies together.
 */
struct transfers;
struct transfer;

struct transfer_request {
    const char *url;
    const struct scrape_access *access;
    const struct tls_material *tls; /* instead of access->tls's files; NULL */
    int64_t timeout_ns;             /* for the whole transfer */
    size_t max_bytes;
};

struct transfer_result {
    enum scrape_reason reason;
    struct error err; /* unless SCRAPE_OK */
    struct str body;  /* of a reply with status 200 */
    int status;       /* 0: no reply */
    int64_t duration_ns;
};

/* May start other transfers; the result ends with the call. */
typedef void transfer_done(void *arg, const struct transfer_result *r);

struct transfers *transfers_new(size_t memory_bytes, struct error *err);
void transfers_free(struct transfers *t); /* ends those under way */

/* NULL: it could not be started (a file cannot be read, no memory). */
struct transfer *transfers_start(struct transfers *t,
                                 const struct transfer_request *request,
                                 transfer_done *done, void *arg,
                                 struct error *err);

/* Ends it; `done` is not called. */
void transfers_cancel(struct transfer *x);

void transfers_wait(struct transfers *t, int64_t timeout_ns);
void transfers_work(struct transfers *t);
void transfers_wake(struct transfers *t); /* ends transfers_wait() */

/* Memory of all bodies now. */
size_t transfers_memory(const struct transfers *t);

#endif

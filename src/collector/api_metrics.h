#ifndef COLLECTOR_API_METRICS_H
#define COLLECTOR_API_METRICS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * Requests to the API, counted by method, path and status, as profefe counts
 * them:
 *
 *     profefe_api_requests_total
 *     profefe_api_request_duration_seconds    histogram
 *     profefe_api_request_size_bytes          summary without quantiles
 *     profefe_api_response_size_bytes         summary without quantiles
 *
 * Paths are the names of routes, never what a client sent, so that their
 * number is bounded.  A method that no route knows counts as "OTHER".  Any
 * thread may count.
 */
#define API_METRICS_MAX     256
#define API_METRICS_BUCKETS 11 /* and +Inf, which is the count */

struct api_metric {
    char method[8];
    const char *path; /* a literal */
    int code;
    uint64_t count;
    uint64_t buckets[API_METRICS_BUCKETS]; /* cumulative */
    int64_t duration_ns;
    uint64_t request_bytes, response_bytes;
};

struct api_metrics {
    pthread_mutex_t lock; /* of all below */
    struct api_metric v[API_METRICS_MAX];
    size_t n;
    uint64_t uncounted; /* requests that found no room */
};

void api_metrics_init(struct api_metrics *m);
void api_metrics_release(struct api_metrics *m);

struct api_request {
    struct str method;
    const char *path; /* a literal: "/api/0/profiles/__pid__" */
    int code;
    int64_t duration_ns;
    uint64_t request_bytes, response_bytes;
};

void api_metrics_add(struct api_metrics *m, const struct api_request *r);

/* Appends all of them in Prometheus' text format. */
void api_metrics_write(struct api_metrics *m, struct buf *out);

#endif

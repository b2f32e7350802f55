#ifndef COLLECTOR_STORE_METRICS_H
#define COLLECTOR_STORE_METRICS_H

#include "base/buf.h"
#include "store/store.h"

/* Appends the store's metrics in Prometheus' text format. */
void store_metrics_write(struct store *s, struct buf *out);

#endif

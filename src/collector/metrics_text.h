#ifndef COLLECTOR_METRICS_TEXT_H
#define COLLECTOR_METRICS_TEXT_H

#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * Prometheus' text format:
 *
 *     metric_family(out, "pprofd_profiles_total", "counter", "Profiles …");
 *     metric_u64(out, "pprofd_profiles_total", "{type=\"cpu\"}", 3);
 *
 * `labels` is "" or what metric_label() made.
 */
void metric_family(struct buf *out, const char *name, const char *type,
                   const char *help);
void metric_u64(struct buf *out, const char *name, const char *labels,
                uint64_t value);
void metric_seconds(struct buf *out, const char *name, const char *labels,
                    int64_t ns);

/* The value and the end of the line alone. */
void metric_add_seconds(struct buf *out, int64_t ns);

/* Appends key="value" with the value escaped; the caller writes braces and
 * commas. */
void metric_label(struct buf *out, const char *key, struct str value);

#endif

#ifndef BASE_TIME_TEXT_H
#define BASE_TIME_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

/*
 * Times and durations as APIs and configuration files write them.  All times
 * are nanoseconds since 1970, UTC; values out of range are clamped.
 */

/*
 * A time as a user writes it:
 *
 *     2026-01-31T08:00:00Z  2026-01-31T09:00:00.5+01:00   RFC 3339
 *     2026-01-31T08:00:00   2026-01-31                    UTC
 *     1769846400            1769846400.25                 Unix seconds
 *     now   now-1h30m   now+5m                            relative to now_ns
 */
bool time_parse(struct str text, int64_t now_ns, int64_t *out,
                struct error *err);

/* A time of profefe's API: 2026-01-31T08:00:00 with an optional fraction,
 * UTC.  The error is profefe's. */
bool time_parse_profefe(struct str text, int64_t *out, struct error *err);

/* "90s", "1h30m", "500ms", "7d", "2w"; a number alone is seconds.  Not
 * negative. */
bool duration_parse(struct str text, int64_t *out, struct error *err);

/* Appends a duration in the largest units without a fraction: "1h30m", "7d"; 0
 * is "0". */
void duration_add(struct buf *out, int64_t ns);

void time_add_rfc3339(struct buf *out, int64_t ns);       /* whole seconds */
void time_add_rfc3339_nanos(struct buf *out, int64_t ns); /* fraction if any */
/* As Go prints a time: "2030-01-01 00:00:00 +0000 UTC". */
void time_add_go(struct buf *out, int64_t ns);

#endif

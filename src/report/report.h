#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "base/buf.h"
#include "profile/profile.h"
#include "report/config.h"
#include "report/request.h"
#include "report/stack/growth.h"

/*
 * From a profile to the bytes of a report.  The terminal, the shell and the
 * page all come through here, so their numbers can never differ.
 */

/*
 * Appends the report to `out`.  Warnings ("Focus expression matched no
 * samples") are appended to `warnings`, a line each, also when it fails; the
 * caller shows them on stderr first.
 *
 * The profile is consumed: it is filtered and aggregated in place.  If you need
 * it again, pass profile_copy().
 */
bool report_write(struct profile *p, const struct report_request *request,
                  struct buf *out, struct buf *warnings, struct error *err);

/*
 * The lines that describe a profile (File, Type, Time, Duration …), each
 * with a newline: the greeting of the shell.  Warnings (about units of
 * labels) as in report_write.
 */
bool report_describe(const struct profile *p,
                     const struct report_config *config, struct buf *out,
                     struct buf *warnings, struct error *err);

/* The sum of the selected value (the "total" of reports). */
bool report_selected_total(const struct profile *p,
                           const struct report_config *config, int64_t *out,
                           struct error *err);

/* The index of the value that sample_index selects ("" is the default). */
bool report_sample_index(const struct profile *p, struct str name, size_t *out,
                         struct error *err);

/*
 * How much worse a profile is than its base.
 *
 * The profile holds both: the samples of the base are negated and have the
 * label pprof::base=true, as -diff_base makes them.  Filters and granularity of
 * the config are obeyed.  The profile is consumed, as by report_write.  The
 * name in *out is from `a`.
 */
bool report_growth(struct profile *p, const struct report_config *config,
                   enum growth_of of, struct arena *a, struct growth *out,
                   struct error *err);

#endif

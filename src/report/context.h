#ifndef REPORT_CONTEXT_H
#define REPORT_CONTEXT_H

#include "profile/measure.h"
#include "profile/profile.h"
#include "regex/regex.h"
#include "report/request.h"

/*
 * One report under way: the filtered, aggregated profile and what the formats
 * need to print it.  Made by report_write(), read by the format_* functions and
 * by the bodies in src/page; private to them.
 */
struct report {
    struct arena *arena; /* for the report's own things */
    struct profile *profile;
    const struct report_request *request;
    struct report_config config; /* after the command's overrides */

    size_t value_index;     /* which value of a sample is shown */
    struct str sample_type; /* its type, "mean_…" with -mean */
    struct str sample_unit;
    struct str output_unit; /* config.unit, or the common unit chosen */
    int64_t total;
    struct str title; /* base name of the main binary */
    struct label_units label_units;
    struct regex *argument; /* compiled request->argument, or NULL */
    struct buf *warnings;
};

/* The shown value of a sample, and what -mean divides it by (else 0). */
static inline int64_t report_value(const struct report *r, size_t sample)
{
    return r->profile->values[sample * r->profile->types.n + r->value_index];
}

static inline int64_t report_divisor(const struct report *r, size_t sample)
{
    return r->config.mean ? r->profile->values[sample * r->profile->types.n]
                          : 0;
}

/* Passes `out` to the request's drain when it has become long.  Call it between
 * records, in formats that never change earlier output. */
bool report_drain(const struct report *r, struct buf *out, struct error *err);

/* The value as divide_by makes it. */
int64_t report_divided(const struct report *r, int64_t value);

/* Appends a value in the output unit ("1.10s"), and a share of the total. */
void report_add_value(const struct report *r, struct buf *out, int64_t value);
void report_add_percent(const struct report *r, struct buf *out,
                        int64_t value); /* of r->total, padded */

/* "%10s" of report_add_value. */
void report_add_value_right(const struct report *r, struct buf *out,
                            int64_t value, int width);

/* Appends the "profile labels" (File, Type, Time …), a line each. */
void report_add_profile_labels(const struct report *r, struct buf *out);

/* "%10s" of a value, or of "." when it is zero: what listings print. */
void report_add_value_or_dot(const struct report *r, struct buf *out,
                             int64_t value, int width);

/*
 * The formats, one file each.  They append to `out`; text that is already
 * there when one fails is thrown away by the caller.
 */
bool format_callgrind(struct report *r, struct buf *out, struct error *err);
bool format_comments(struct report *r, struct buf *out, struct error *err);
bool format_disasm(struct report *r, struct buf *out, struct error *err);
bool format_dot(struct report *r, struct buf *out, struct error *err);
bool format_explain(struct report *r, struct buf *out, struct error *err);
bool format_flame(struct report *r, struct buf *out, struct error *err);
bool format_folded(struct report *r, struct buf *out, struct error *err);
bool format_json(struct report *r, struct buf *out, struct error *err);
bool format_list(struct report *r, struct buf *out, struct error *err);
bool format_markdown(struct report *r, struct buf *out, struct error *err);
bool format_proto(struct report *r, struct buf *out, struct error *err);
bool format_raw(struct report *r, struct buf *out, struct error *err);
bool format_speedscope(struct report *r, struct buf *out, struct error *err);
bool format_tags(struct report *r, struct buf *out, struct error *err);
bool format_text(struct report *r, struct buf *out, struct error *err);
bool format_topproto(struct report *r, struct buf *out, struct error *err);
bool format_traces(struct report *r, struct buf *out, struct error *err);
bool format_tree(struct report *r, struct buf *out, struct error *err);
bool format_weblist(struct report *r, struct buf *out, struct error *err);

#endif

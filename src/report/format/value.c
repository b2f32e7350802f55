/*
 * Values and shares as a report prints them.
 */
#include "base/number.h"
#include "base/utf8.h"
#include "report/context.h"

int64_t report_divided(const struct report *r, int64_t value)
{
    double ratio = 1 / r->config.divide_by;

    if (ratio > 0 && ratio != 1)
        return number_trunc((double)value * ratio);
    return value;
}

void report_add_value(const struct report *r, struct buf *out, int64_t value)
{
    measure_label(out, report_divided(r, value), r->sample_unit,
                  r->output_unit);
}

void report_add_value_right(const struct report *r, struct buf *out,
                            int64_t value, int width)
{
    size_t start = out->len;

    report_add_value(r, out, value);
    buf_align_right(out, start, (size_t)width);
}

void report_add_percent(const struct report *r, struct buf *out, int64_t value)
{
    measure_percentage(out, value, r->total);
}

void report_add_value_or_dot(const struct report *r, struct buf *out,
                             int64_t value, int width)
{
    if (value == 0)
        buf_add_right(out, STR("."), (size_t)width);
    else
        report_add_value_right(r, out, value, width);
}

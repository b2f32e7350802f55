/*
 * Values are written as integers or as seconds with nine decimals, so that
 * counters are exact: a double loses them beyond 2^53.
 */
#include "collector/metrics_text.h"

#include <inttypes.h>

void metric_family(struct buf *out, const char *name, const char *type,
                   const char *help)
{
    buf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void metric_u64(struct buf *out, const char *name, const char *labels,
                uint64_t value)
{
    buf_addf(out, "%s%s %" PRIu64 "\n", name, labels, value);
}

void metric_add_seconds(struct buf *out, int64_t ns)
{
    buf_addf(out, "%" PRId64 ".%09" PRId64 "\n", ns / 1000000000,
             ns % 1000000000);
}

void metric_seconds(struct buf *out, const char *name, const char *labels,
                    int64_t ns)
{
    buf_addf(out, "%s%s ", name, labels);
    metric_add_seconds(out, ns);
}

void metric_label(struct buf *out, const char *key, struct str value)
{
    buf_addf(out, "%s=\"", key);
    for (size_t i = 0; i < value.n; i++) {
        char c = value.s[i];

        if (c == '"' || c == '\\')
            buf_add_char(out, '\\');
        if (c == '\n')
            buf_add(out, STR("\\n"));
        else
            buf_add_char(out, c);
    }
    buf_add_char(out, '"');
}

/*
 * A small table searched from the start: a server has some twenty routes and
 * few statuses, and the search costs far less than the request it counts.
 */
#include "collector/api_metrics.h"

#include <inttypes.h>
#include <string.h>

#include "collector/metrics_text.h"

/* Prometheus' default buckets, in thousandths of a second. */
static const int bounds_ms[API_METRICS_BUCKETS] = {
    5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000};

void api_metrics_init(struct api_metrics *m)
{
    memset(m, 0, sizeof(*m));
    pthread_mutex_init(&m->lock, NULL);
}

void api_metrics_release(struct api_metrics *m)
{
    pthread_mutex_destroy(&m->lock);
}

static const char *known_method(struct str method)
{
    static const char *const known[] = {"GET",    "POST",  "PUT",    "HEAD",
                                        "DELETE", "PATCH", "OPTIONS"};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (str_eq(str_from(known[i]), method))
            return known[i];
    return "OTHER";
}

static struct api_metric *find_or_add(struct api_metrics *m, const char *method,
                                      const char *path, int code)
{
    struct api_metric *new;

    for (size_t i = 0; i < m->n; i++)
        if (m->v[i].code == code && strcmp(m->v[i].path, path) == 0 &&
            strcmp(m->v[i].method, method) == 0)
            return &m->v[i];
    if (m->n == API_METRICS_MAX)
        return NULL;
    new = &m->v[m->n++];
    memcpy(new->method, method, strlen(method) + 1);
    new->path = path;
    new->code = code;
    return new;
}

void api_metrics_add(struct api_metrics *m, const struct api_request *r)
{
    struct api_metric *metric;

    pthread_mutex_lock(&m->lock);
    metric = find_or_add(m, known_method(r->method), r->path, r->code);
    if (metric) {
        metric->count++;
        metric->duration_ns += r->duration_ns;
        metric->request_bytes += r->request_bytes;
        metric->response_bytes += r->response_bytes;
        for (size_t i = 0; i < API_METRICS_BUCKETS; i++)
            metric->buckets[i] +=
                r->duration_ns <= (int64_t)bounds_ms[i] * 1000000;
    } else {
        m->uncounted++;
    }
    pthread_mutex_unlock(&m->lock);
}

/* "{method="GET",path="…",code="200"" without the closing brace. */
static void add_labels(struct buf *out, const struct api_metric *metric,
                       bool with_code)
{
    buf_add_char(out, '{');
    if (with_code)
        buf_addf(out, "code=\"%d\",", metric->code);
    buf_addf(out, "method=\"%s\",path=\"%s\"", metric->method, metric->path);
}

static void write_counts(const struct api_metrics *m, struct buf *out)
{
    metric_family(out, "profefe_api_requests_total", "counter",
                  "Requests to the API.");
    for (size_t i = 0; i < m->n; i++) {
        buf_add(out, STR("profefe_api_requests_total"));
        add_labels(out, &m->v[i], true);
        buf_addf(out, "} %" PRIu64 "\n", m->v[i].count);
    }
}

static void write_durations(const struct api_metrics *m, struct buf *out)
{
    static const char name[] = "profefe_api_request_duration_seconds";

    metric_family(out, name, "histogram", "Time to answer a request.");
    for (size_t i = 0; i < m->n; i++) {
        const struct api_metric *metric = &m->v[i];

        for (size_t k = 0; k <= API_METRICS_BUCKETS; k++) {
            bool is_last = k == API_METRICS_BUCKETS;

            buf_addf(out, "%s_bucket", name);
            add_labels(out, metric, true);
            if (is_last)
                buf_addf(out, ",le=\"+Inf\"} %" PRIu64 "\n", metric->count);
            else
                buf_addf(out, ",le=\"%g\"} %" PRIu64 "\n", bounds_ms[k] / 1e3,
                         metric->buckets[k]);
        }
        buf_addf(out, "%s_sum", name);
        add_labels(out, metric, true);
        buf_add(out, STR("} "));
        metric_add_seconds(out, metric->duration_ns);
        buf_addf(out, "%s_count", name);
        add_labels(out, metric, true);
        buf_addf(out, "} %" PRIu64 "\n", metric->count);
    }
}

/* Sizes are not split by status: only the first row of a method and path
 * prints, with the sum of all. */
static bool is_first_of_its_path(const struct api_metrics *m, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(m->v[k].path, m->v[i].path) == 0 &&
            strcmp(m->v[k].method, m->v[i].method) == 0)
            return false;
    return true;
}

static void write_sizes(const struct api_metrics *m, struct buf *out,
                        const char *name, const char *help, bool of_requests)
{
    metric_family(out, name, "summary", help);
    for (size_t i = 0; i < m->n; i++) {
        uint64_t sum = 0, count = 0;

        if (!is_first_of_its_path(m, i))
            continue;
        for (size_t k = i; k < m->n; k++)
            if (strcmp(m->v[k].path, m->v[i].path) == 0 &&
                strcmp(m->v[k].method, m->v[i].method) == 0) {
                sum += of_requests ? m->v[k].request_bytes
                                   : m->v[k].response_bytes;
                count += m->v[k].count;
            }
        buf_addf(out, "%s_sum", name);
        add_labels(out, &m->v[i], false);
        buf_addf(out, "} %" PRIu64 "\n%s_count", sum, name);
        add_labels(out, &m->v[i], false);
        buf_addf(out, "} %" PRIu64 "\n", count);
    }
}

void api_metrics_write(struct api_metrics *m, struct buf *out)
{
    pthread_mutex_lock(&m->lock);
    write_counts(m, out);
    write_durations(m, out);
    write_sizes(m, out, "profefe_api_request_size_bytes",
                "Size of requests with their headers.", true);
    write_sizes(m, out, "profefe_api_response_size_bytes", "Size of replies.",
                false);
    metric_family(out, "pprofd_api_requests_uncounted_total", "counter",
                  "Requests that are missing in the figures above because the "
                  "table is full.");
    metric_u64(out, "pprofd_api_requests_uncounted_total", "", m->uncounted);
    pthread_mutex_unlock(&m->lock);
}

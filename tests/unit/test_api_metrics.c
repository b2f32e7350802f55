#include "test.h"

#include "collector/api_metrics.h"
#include "collector/metrics_text.h"

static void count(struct api_metrics *m, const char *method, const char *path,
                  int code, int64_t ms)
{
    api_metrics_add(m, &(struct api_request){.method = str_from(method),
                                             .path = path,
                                             .code = code,
                                             .duration_ns = ms * 1000000,
                                             .request_bytes = 100,
                                             .response_bytes = 7});
}

static bool has_line(const struct buf *out, const char *line)
{
    return strstr(out->data, line) != NULL;
}

TEST(requests_are_counted_as_profefe_counts_them)
{
    struct buf out = BUF_INIT(1 << 20);
    struct api_metrics m;

    api_metrics_init(&m);
    count(&m, "GET", "/api/0/profiles", 200, 3);
    count(&m, "GET", "/api/0/profiles", 200, 30);
    count(&m, "GET", "/api/0/profiles", 404, 20000);
    count(&m, "BREW", "/api/0/profiles", 405, 1);
    api_metrics_write(&m, &out);
    buf_cstr(&out);
    EXPECT(has_line(&out, "profefe_api_requests_total{code=\"200\",method="
                          "\"GET\",path=\"/api/0/profiles\"} 2\n"));
    EXPECT(has_line(&out, "_bucket{code=\"200\",method=\"GET\",path="
                          "\"/api/0/profiles\",le=\"0.005\"} 1\n"));
    EXPECT(has_line(&out, "_bucket{code=\"200\",method=\"GET\",path="
                          "\"/api/0/profiles\",le=\"0.05\"} 2\n"));
    EXPECT(has_line(&out, "_bucket{code=\"404\",method=\"GET\",path="
                          "\"/api/0/profiles\",le=\"10\"} 0\n"));
    EXPECT(has_line(&out, "_bucket{code=\"404\",method=\"GET\",path="
                          "\"/api/0/profiles\",le=\"+Inf\"} 1\n"));
    EXPECT(has_line(&out, "_seconds_sum{code=\"200\",method=\"GET\",path="
                          "\"/api/0/profiles\"} 0.033000000\n"));
    EXPECT(has_line(&out, "request_size_bytes_sum{method=\"GET\",path="
                          "\"/api/0/profiles\"} 300\n"));
    EXPECT(has_line(&out, "request_size_bytes_count{method=\"GET\",path="
                          "\"/api/0/profiles\"} 3\n"));
    EXPECT(has_line(&out, "method=\"OTHER\""));
    buf_release(&out);
    api_metrics_release(&m);
}

TEST(their_number_is_bounded)
{
    struct buf out = BUF_INIT(4 << 20);
    struct api_metrics m;

    api_metrics_init(&m);
    for (int code = 0; code < API_METRICS_MAX + 5; code++)
        count(&m, "GET", "/", code, 1);
    EXPECT(m.n == API_METRICS_MAX && m.uncounted == 5);
    api_metrics_write(&m, &out);
    EXPECT(buf_ok(&out));
    buf_cstr(&out);
    EXPECT(has_line(&out, "pprofd_api_requests_uncounted_total 5\n"));
    buf_release(&out);
    api_metrics_release(&m);
}

TEST(label_values_are_escaped)
{
    struct buf out = BUF_INIT(64);

    metric_label(&out, "k", STR("a\"b\\c\nd"));
    EXPECT_STR(buf_str(&out), "k=\"a\\\"b\\\\c\\nd\"");
    buf_release(&out);
}

TEST_MAIN

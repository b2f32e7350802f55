/*
 * A request to the page, head and body as they come from a socket: routes,
 * query words, reports with whatever options, profiles that are dropped, with
 * a base of the command line or without (which, the length decides).
 * Replies must be what they say they are.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/json_view.h"
#include "page/file_source.h"
#include "page/page.h"

enum { MAX_HEAD = 1 << 14, MAX_BODY = 1 << 16 };

static void must(bool condition)
{
    if (!condition)
        abort();
}

static uint32_t add_location(struct profile *p, const char *outer,
                             const char *inner)
{
    const char *const names[] = {inner, outer};
    uint32_t start = (uint32_t)p->lines.n;

    for (int i = inner ? 0 : 1; i < 2; i++) {
        *vec_push(p->arena, &p->functions) = (struct function){
            .id = p->functions.n + 1,
            .name = profile_intern(p, str_from(names[i])),
            .filename = profile_intern(p, STR("src/\"<a>.c"))};
        *vec_push(p->arena, &p->lines) =
            (struct line){.function = (uint32_t)p->functions.n - 1, .line = 7};
    }
    *vec_push(p->arena, &p->locations) =
        (struct location){.id = p->locations.n + 1,
                          .address = 0x1000 + 16 * p->locations.n,
                          .mapping = 0,
                          .line_start = start,
                          .n_lines = (uint32_t)p->lines.n - start};
    return (uint32_t)p->locations.n - 1;
}

static struct profile *make_profile(void)
{
    struct profile *p = profile_new();
    struct sample_builder b;
    string_id key = profile_intern(p, STR("request"));
    uint32_t places[4];

    *vec_push(p->arena, &p->types) = (struct value_type){
        profile_intern(p, STR("samples")), profile_intern(p, STR("count"))};
    *vec_push(p->arena, &p->types) = (struct value_type){
        profile_intern(p, STR("cpu")), profile_intern(p, STR("nanoseconds"))};
    *vec_push(p->arena, &p->mappings) =
        (struct mapping){.id = 1,
                         .start = 0x1000,
                         .limit = 0x2000,
                         .file = profile_intern(p, STR("/nonexistent/app"))};
    places[0] = add_location(p, "main", NULL);
    places[1] = add_location(p, "ns::work<int>", "inlined.func1");
    places[2] = add_location(p, "</script>\"'&", NULL);
    places[3] = add_location(p, "main", NULL);
    p->locations.v[3].n_lines = 0;
    sample_builder_init(&b, p);
    for (uint32_t i = 0; i < 12; i++) {
        int64_t values[] = {i, i % 5 == 4 ? -1000 : 1000 * (int64_t)i};

        for (uint32_t k = 0; k < i % 4; k++)
            sample_builder_frame(&b, places[(i + k) % 4]);
        if (i % 3 == 0)
            sample_builder_label(&b, (struct label){.key = key, .str = key});
        sample_builder_end(&b, values);
    }
    return p;
}

/* Lines, each "name: value" and CRLF, without control characters. */
static void check_headers(struct str headers)
{
    struct str rest = headers, line;

    must(headers.n == 0 || str_has_suffix(headers, STR("\r\n")));
    while (str_split(&rest, '\n', &line)) {
        if (line.n == 0 && rest.n == 0)
            return;
        must(line.n > 2 && line.s[line.n - 1] == '\r');
        must(str_find(line, STR(": ")) > 0);
        for (size_t i = 0; i + 1 < line.n; i++)
            must((unsigned char)line.s[i] >= ' ' && line.s[i] != 0x7f);
    }
}

static void check(const struct http_exchange *x)
{
    struct str headers = buf_str(&x->headers), body = buf_str(&x->body);
    struct json_view v;

    must(x->status >= 200 && x->status < 500);
    check_headers(headers);
    must(str_contains(headers, STR("Content-Security-Policy: ")) ||
         x->status == 304);
    if (str_contains(headers, STR("Content-Encoding: gzip")))
        return;
    if (str_contains(headers, STR("Content-Type: application/json")) &&
        x->status != 304)
        must(json_view(body, &v));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = str_of((const char *)data, size);
    struct report_config config;
    struct profile_pair pair = {0};
    struct page_options options = {.config = &config};
    struct file_source_options files = {.name = STR("fuzz")};
    struct http_client client = {.address = "127.0.0.1:9"};
    struct http_request request;
    struct http_exchange x = {.request = &request,
                              .client = &client,
                              .status = 200,
                              .headers = BUF_INIT(1 << 16),
                              .body = BUF_INIT(1 << 24)};
    struct page *page;
    size_t used;
    int status;

    if (http_parse_head(bytes, MAX_HEAD, &request, &used, &status) !=
        HTTP_COMPLETE)
        return 0;
    request.body = str_skip(bytes, used);
    if (request.body.n > MAX_BODY)
        return 0;
    config_init(&config);
    pair.profile = make_profile();
    if (size % 2 == 1)
        pair.base = make_profile();
    files.marks_base = size % 4 == 1;
    page = page_new(file_source(pair, &files), &options);
    page_handle(&x, page);
    check(&x);
    buf_release(&x.headers);
    buf_release(&x.body);
    page_free(page);
    return 0;
}

#ifndef TESTS_PAGE_SUPPORT_H
#define TESTS_PAGE_SUPPORT_H

/* A page without a socket: requests as text, replies as struct. */
#include <assert.h>
#include <stdlib.h>

#include "base/gzip.h"
#include "base/json_view.h"
#include "page/file_source.h"
#include "page/page.h"
#include "sketch.h"

struct reply {
    int status;
    struct buf headers, body;
};

static inline void reply_release(struct reply *r)
{
    buf_release(&r->headers);
    buf_release(&r->body);
}

struct asker {
    struct page *page;
    const char *client;  /* NULL: 127.0.0.1 */
    const char *host;    /* NULL: localhost:8080 */
    const char *headers; /* further lines, each with CRLF */
    struct str body;
};

/* "GET /ui/top" */
static inline struct reply ask(const struct asker *a, const char *line)
{
    struct buf text = BUF_INIT(BUF_NO_LIMIT);
    struct http_client client = {.is_tls = false};
    struct http_request request;
    struct http_exchange x = {.request = &request,
                              .client = &client,
                              .status = 200,
                              .headers = BUF_INIT(BUF_NO_LIMIT),
                              .body = BUF_INIT((size_t)1 << 30)};
    size_t used;
    int status;

    buf_addf(&text, "%s HTTP/1.1\r\nHost: %s\r\n%s\r\n", line,
             a->host ? a->host : "localhost:8080",
             a->headers ? a->headers : "");
    if (http_parse_head(buf_str(&text), 1 << 16, &request, &used, &status) !=
        HTTP_COMPLETE)
        assert(false && "a request in a test");
    snprintf(client.address, sizeof(client.address), "%s",
             a->client ? a->client : "127.0.0.1:9");
    request.body = a->body;
    if (page_admit(&x, true, a->page) == HTTP_ADMITTED)
        page_handle(&x, a->page);
    buf_release(&text);
    return (struct reply){x.status, x.headers, x.body};
}

static inline bool has_header(const struct reply *r, const char *line)
{
    return str_contains(buf_str(&r->headers), str_from(line));
}

/* The text of a member of a JSON reply; "" if it is not there. */
static inline struct str member(const struct reply *r, const char *name)
{
    struct json_view v, m;

    if (!json_view(buf_str(&r->body), &v) ||
        !json_view_member(v, str_from(name), &m))
        return STR("");
    return m.text;
}

static inline struct page *page_of(const char *text,
                                   struct page_options *options)
{
    static struct report_config config;

    config_init(&config);
    options->config = &config;
    return page_new(file_source((struct profile_pair){.profile = sketch(text)},
                                &(struct file_source_options){
                                    .name = STR("test.pb"),
                                    .is_local = options->local_only}),
                    options);
}

#endif

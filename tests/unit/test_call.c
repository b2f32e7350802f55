/*
 * JSON replies of the collector are gzipped for other machines; calls whose
 * client has gone end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/gzip.h"
#include "collector/call.h"
#include "collector/context.h"
#include "test.h"

#define GZIP "Accept-Encoding: gzip, br\r\n"

static struct buf text;

/* Makes a reply of `size` bytes for a client; true if it went out gzipped. */
static bool is_packed(const char *client, const char *headers, size_t size,
                      int status)
{
    struct http_client from = {.is_tls = false};
    struct http_request request;
    struct http_exchange x = {.request = &request,
                              .client = &from,
                              .status = status,
                              .headers = BUF_INIT(1 << 16),
                              .body = BUF_INIT(1 << 20)};
    struct call c = {.x = &x};
    struct buf plain = BUF_INIT(1 << 20);
    struct error err;
    size_t used;
    int refused;
    bool packed;

    buf_clear(&text);
    buf_addf(&text, "GET /api/1/x HTTP/1.1\r\nHost: a\r\n%s\r\n", headers);
    EXPECT(http_parse_head(buf_str(&text), 1 << 16, &request, &used,
                           &refused) == HTTP_COMPLETE);
    snprintf(from.address, sizeof(from.address), "%s", client);
    for (size_t i = 0; i < size; i++)
        buf_add_char(&x.body, "0123456789"[i % 10]);
    call_json(&c);
    call_pack(&c);
    packed =
        str_contains(buf_str(&x.headers), STR("Content-Encoding: gzip\r\n"));
    if (packed) {
        EXPECT(gzip_inflate(buf_str(&x.body), &plain, &err));
        EXPECT(plain.len == size);
        EXPECT(x.body.len < size);
    } else {
        EXPECT(x.body.len == size);
    }
    buf_release(&plain);
    buf_release(&x.headers);
    buf_release(&x.body);
    return packed;
}

TEST(large_replies_are_gzipped_for_other_machines)
{
    text = BUF_INIT(1 << 16);
    EXPECT(is_packed("10.1.2.3:4", GZIP, 100000, 200));
    EXPECT(is_packed("[2001:db8::1]:4", GZIP, 100000, 200));
    EXPECT(!is_packed("10.1.2.3:4", GZIP, 100, 200));
    EXPECT(!is_packed("10.1.2.3:4", "", 100000, 200));
    EXPECT(
        !is_packed("10.1.2.3:4", "Accept-Encoding: gzip;q=0\r\n", 100000, 200));
    EXPECT(!is_packed("10.1.2.3:4", GZIP, 100000, 503));
    buf_release(&text);
}

TEST(on_this_machine_they_are_sent_as_they_are)
{
    text = BUF_INIT(1 << 16);
    EXPECT(!is_packed("127.0.0.1:4", GZIP, 100000, 200));
    EXPECT(!is_packed("[::1]:4", GZIP, 100000, 200));
    buf_release(&text);
}

TEST(a_call_may_end_after_some_time)
{
    struct collector collector = {.options.has_no_clients = true};
    struct call c = {.collector = &collector};
    struct store_budget budget = call_budget(&c);

    EXPECT(!budget.cancelled);
    c.until_ns = clock_monotonic_ns() + INT64_C(1000000000000);
    budget = call_budget(&c);
    EXPECT(!budget.cancelled(budget.arg));
    c.until_ns = clock_monotonic_ns();
    EXPECT(budget.cancelled(budget.arg));
}

TEST_MAIN

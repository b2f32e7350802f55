#include "page/guard.h"

#include "http/host.h"
#include "page/reply.h"

static bool is_loopback(const struct http_client *c)
{
    struct str address = str_from(c->address);

    return c->is_unix || str_has_prefix(address, STR("127.")) ||
           str_has_prefix(address, STR("[::1]:")) ||
           str_has_prefix(address, STR("[::ffff:127."));
}

bool guard_admit(struct page_request *q)
{
    const struct http_request *r = q->x->request;

    if (q->page->options.local_only && !is_loopback(q->x->client)) {
        reply_text(q, 403, STR("permission denied"));
        return false;
    }
    if (q->page->options.certificates_only) {
        if (q->x->client->has_certificate)
            return true;
        reply_text(q, 403, STR("a client certificate is needed"));
        return false;
    }
    if (q->page->options.key)
        return access_key_check(q->page->options.key, q->x);
    if (!http_host_is_fine(r, NULL)) {
        reply_text(q, 403,
                   STR("this page is not served under that name: use the "
                       "address that pprof printed"));
        return false;
    }
    return true;
}

bool guard_is_own(const struct page_request *q)
{
    const struct http_request *r = q->x->request;

    return http_request_header(r, STR("X-Pprof")).s ||
           str_eq(http_request_header(r, STR("Sec-Fetch-Site")),
                  STR("same-origin"));
}

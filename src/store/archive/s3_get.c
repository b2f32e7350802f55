/*
 * Reading: objects, and listings page by page.
 */
#include "store/archive/s3_client.h"

#include "base/percent.h"
#include "store/archive/s3_request.h"

#define LISTING_MAX ((size_t)16 << 20)

bool s3_get(struct s3_client *c, struct str bucket, struct str key,
            struct buf *out, struct error *err)
{
    struct s3_request r = {.client = c,
                           .method = STR("GET"),
                           .bucket = bucket,
                           .key = key,
                           .out = out};

    return s3_request_run(&r, err);
}

/* A page of the listing; `token` is that of this page, then of the next. */
static bool list_page(struct s3_client *c, struct str bucket, struct str prefix,
                      s3_each_object *each, void *arg, struct buf *token,
                      struct error *err)
{
    struct buf query = BUF_INIT(4 * S3_TEXT_MAX), page = BUF_INIT(LISTING_MAX);
    struct buf next = BUF_INIT(S3_TEXT_MAX);
    struct s3_request r = {
        .client = c, .method = STR("GET"), .bucket = bucket, .out = &page};
    bool ok;

    if (token->len) {
        buf_add(&query, STR("continuation-token="));
        percent_encode(&query, buf_str(token), "");
        buf_add_char(&query, '&');
    }
    buf_add(&query, STR("list-type=2&prefix="));
    percent_encode(&query, prefix, "");
    r.query = buf_str(&query);
    ok = s3_request_run(&r, err) &&
         s3_xml_list(buf_str(&page), each, arg, &next, err);
    if (ok && next.len && str_eq(buf_str(&next), buf_str(token)))
        ok = error_set(err,
                       "list s3://%" STR_FMT ": the server sends the same "
                       "page again and again",
                       STR_ARG(bucket));
    buf_clear(token);
    buf_add(token, buf_str(&next));
    buf_release(&query);
    buf_release(&page);
    buf_release(&next);
    return ok;
}

bool s3_list(struct s3_client *c, struct str bucket, struct str prefix,
             s3_each_object *each, void *arg, struct error *err)
{
    struct buf token = BUF_INIT(S3_TEXT_MAX);
    bool ok;

    do
        ok = list_page(c, bucket, prefix, each, arg, &token, err);
    while (ok && token.len);
    buf_release(&token);
    return ok;
}

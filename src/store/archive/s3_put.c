/*
 * A large object is uploaded in parts, so that a connection that breaks costs
 * a part and not everything.  Parts of an upload that fails are deleted, as
 * far as the server still answers; a life-cycle rule of the bucket gets rid of
 * the rest.
 */
#include "base/percent.h"
#include "store/archive/s3_request.h"

#define PARTS_MAX  10000 /* S3's own limit */
#define REPLY_MAX  ((size_t)64 << 10)
#define ETAG_MAX   ((size_t)1 << 10)
#define ANSWER_MAX (PARTS_MAX * (ETAG_MAX + 100))

struct upload {
    struct s3_client *client;
    struct str bucket, key;
    struct buf id;   /* percent-encoded */
    struct buf list; /* the XML that joins the parts */
};

static bool ask(struct upload *u, struct str method, struct str query,
                struct str body, struct buf *out, struct buf *etag,
                struct error *err)
{
    struct s3_request r = {.client = u->client,
                           .method = method,
                           .bucket = u->bucket,
                           .key = u->key,
                           .query = query,
                           .body = body,
                           .out = out,
                           .etag = etag};

    return s3_request_run(&r, err);
}

static bool begin(struct upload *u, struct error *err)
{
    struct buf reply = BUF_INIT(REPLY_MAX), id = BUF_INIT(S3_TEXT_MAX);
    bool ok = ask(u, STR("POST"), STR("uploads="), STR(""), &reply, NULL, err);

    if (ok && !s3_xml_find(buf_str(&reply), STR("UploadId"), &id))
        ok = error_set(err,
                       "write s3://%" STR_FMT "/%" STR_FMT
                       ": the server did not start a multipart upload; is this "
                       "an S3 endpoint?",
                       STR_ARG(u->bucket), STR_ARG(u->key));
    percent_encode(&u->id, buf_str(&id), "");
    buf_release(&reply);
    buf_release(&id);
    return ok;
}

static void add_xml(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.s[i] == '"')
            buf_add(out, STR("&quot;"));
        else if (text.s[i] == '&')
            buf_add(out, STR("&amp;"));
        else if (text.s[i] == '<')
            buf_add(out, STR("&lt;"));
        else
            buf_add_char(out, text.s[i]);
}

static bool send_part(struct upload *u, unsigned number, struct str bytes,
                      struct error *err)
{
    struct buf query = BUF_INIT(4 * S3_TEXT_MAX), etag = BUF_INIT(ETAG_MAX);
    bool ok;

    buf_addf(&query, "partNumber=%u&uploadId=%" STR_FMT, number,
             STR_ARG(buf_str(&u->id)));
    ok = ask(u, STR("PUT"), buf_str(&query), bytes, NULL, &etag, err);
    buf_addf(&u->list, "<Part><PartNumber>%u</PartNumber><ETag>", number);
    add_xml(&u->list, buf_str(&etag));
    buf_add(&u->list, STR("</ETag></Part>"));
    buf_release(&query);
    buf_release(&etag);
    return ok;
}

/* The server may report a failure in a reply with status 200, since joining
 * takes longer than it may keep a client waiting. */
static bool join(struct upload *u, struct str query, struct error *err)
{
    struct buf reply = BUF_INIT(REPLY_MAX), code = BUF_INIT(S3_TEXT_MAX);
    bool ok;

    buf_add(&u->list, STR("</CompleteMultipartUpload>"));
    ok = (buf_ok(&u->list) || error_set(err, "out of memory")) &&
         ask(u, STR("POST"), query, buf_str(&u->list), &reply, NULL, err);
    if (ok && s3_xml_find(buf_str(&reply), STR("Code"), &code))
        ok = error_set(err,
                       "write s3://%" STR_FMT "/%" STR_FMT
                       ": the parts could not be joined: %.200s",
                       STR_ARG(u->bucket), STR_ARG(u->key), buf_cstr(&code));
    buf_release(&reply);
    buf_release(&code);
    return ok;
}

static bool put_parts(struct upload *u, struct str bytes, size_t part_bytes,
                      struct error *err)
{
    struct buf query = BUF_INIT(4 * S3_TEXT_MAX);
    struct error why;
    bool ok = true;

    buf_addf(&query, "uploadId=%" STR_FMT, STR_ARG(buf_str(&u->id)));
    buf_add(&u->list, STR("<CompleteMultipartUpload>"));
    for (unsigned i = 1; ok && bytes.n; i++) {
        struct str part =
            str_first(bytes, bytes.n < part_bytes ? bytes.n : part_bytes);

        ok = send_part(u, i, part, err);
        bytes = str_skip(bytes, part.n);
    }
    ok = ok && join(u, buf_str(&query), err);
    if (!ok)
        ask(u, STR("DELETE"), buf_str(&query), STR(""), NULL, NULL, &why);
    buf_release(&query);
    return ok;
}

static bool put_in_parts(struct s3_client *c, struct str bucket, struct str key,
                         struct str bytes, size_t part_bytes, struct error *err)
{
    struct upload u = {.client = c,
                       .bucket = bucket,
                       .key = key,
                       .id = BUF_INIT(4 * S3_TEXT_MAX),
                       .list = BUF_INIT(ANSWER_MAX)};
    bool ok = begin(&u, err) && put_parts(&u, bytes, part_bytes, err);

    buf_release(&u.id);
    buf_release(&u.list);
    return ok;
}

bool s3_put(struct s3_client *c, struct str bucket, struct str key,
            struct str bytes, struct error *err)
{
    struct s3_request r = {.client = c,
                           .method = STR("PUT"),
                           .bucket = bucket,
                           .key = key,
                           .body = bytes};

    if (bytes.n > S3_OBJECT_MAX)
        return error_set(err,
                         "write s3://%" STR_FMT "/%" STR_FMT
                         ": %zu bytes are more than an object may have",
                         STR_ARG(bucket), STR_ARG(key), bytes.n);
    if (bytes.n > S3_PART_BYTES)
        return put_in_parts(c, bucket, key, bytes, S3_PART_BYTES, err);
    return s3_request_run(&r, err);
}

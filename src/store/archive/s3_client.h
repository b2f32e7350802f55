#ifndef STORE_ARCHIVE_S3_CLIENT_H
#define STORE_ARCHIVE_S3_CLIENT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "store/archive/s3_xml.h"

/*
 * Objects of an S3 bucket: put, get, list.
 *
 * Requests are signed, and address the bucket in the path, which every
 * S3-compatible server understands.  Redirects are not followed.  Temporary
 * failures (no connection, status 5xx, SlowDown) are retried a few times, with
 * growing pauses.  One thread at a time.
 *
 * Errors contain the server's code and message, bucket and key, and what to do
 * about it; never a secret key or a token.
 */
#define S3_PART_BYTES ((size_t)8 << 20)       /* larger objects go in parts */
#define S3_OBJECT_MAX (10000 * S3_PART_BYTES) /* S3 allows 10,000 parts */
#define S3_KEY_MAX    1024                    /* bytes of an object's key */

struct s3_settings {
    struct str endpoint; /* "http://127.0.0.1:9000"; "": Amazon's */
    struct str region;   /* "": us-east-1 */
    struct str key_id, secret;
    struct str token;   /* of temporary credentials; "": none */
    struct str ca_file; /* the CA of the endpoint; "": the system's */
};

struct s3_client;

/* The texts are copied.  NULL and err if there is no libcurl or a setting is
 * wrong. */
struct s3_client *s3_client_new(const struct s3_settings *s, struct error *err);
void s3_client_free(struct s3_client *c); /* NULL is allowed */

/* From any thread: makes current and later requests fail soon. */
void s3_client_cancel(struct s3_client *c);

/* Creates or replaces an object; readers see all of it or the old one. */
bool s3_put(struct s3_client *c, struct str bucket, struct str key,
            struct str bytes, struct error *err);

/* Appends the object to `out`, whose max is the limit. */
bool s3_get(struct s3_client *c, struct str bucket, struct str key,
            struct buf *out, struct error *err);

/* Calls `each` for each object whose key begins with `prefix`, in the order
 * of the keys.  `each` may put and get. */
bool s3_list(struct s3_client *c, struct str bucket, struct str prefix,
             s3_each_object *each, void *arg, struct error *err);

#endif

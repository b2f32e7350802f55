#ifndef STORE_ARCHIVE_S3_REQUEST_H
#define STORE_ARCHIVE_S3_REQUEST_H

#include "store/archive/s3_client.h"

/*
 * One request of a client, over all its tries.
 */
struct s3_request {
    struct s3_client *client;
    struct str method; /* a literal: "GET", "PUT", "POST", "DELETE" */
    struct str bucket, key;
    struct str query; /* percent-encoded, sorted */
    struct str body;
    struct buf *out;  /* gets the body of a reply with status 200; or NULL */
    struct buf *etag; /* gets that header; or NULL */

    /* Of s3_request_run(). */
    size_t out_start;   /* the length of `out` before the try */
    struct buf refusal; /* gets the body of any other reply */
    long status;        /* 0: no reply */
};

/* False: the server refused it, or all attempts failed. */
bool s3_request_run(struct s3_request *r, struct error *err);

#endif

#ifndef STORE_ARCHIVE_S3_SIGN_H
#define STORE_ARCHIVE_S3_SIGN_H

#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * AWS Signature Version 4, which every S3-compatible server understands.
 */
struct s3_header {
    struct str name, value; /* the name in lower case */
};

struct s3_to_sign {
    struct str method;
    struct str path;  /* percent-encoded */
    struct str query; /* percent-encoded, sorted by name; "" if none */
    const struct s3_header *headers; /* sorted by name; all are signed */
    size_t n_headers;
    struct str payload_hash; /* SHA-256 of the body in hex */
    struct str date;         /* "20130524T000000Z" */
    struct str region, service;
};

/* Appends the value of the Authorization header. */
void s3_sign(const struct s3_to_sign *r, struct str key_id, struct str secret,
             struct buf *out);

/* SHA-256 in hexadecimal digits, as headers carry it. */
#define S3_HASH_TEXT 64
void s3_hash(struct str bytes, char out[S3_HASH_TEXT]);

#endif

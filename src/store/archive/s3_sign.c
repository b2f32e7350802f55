/*
 * The steps are those of the AWS documentation: a canonical form of the
 * request, its hash in a "string to sign", and a key derived from the secret,
 * the day, the region and the service.
 */
#include "store/archive/s3_sign.h"

#include "base/hmac.h"
#include "base/number.h"

#define CANONICAL_MAX ((size_t)64 << 10)

void s3_hash(struct str bytes, char out[S3_HASH_TEXT])
{
    unsigned char digest[SHA256_BYTES];

    sha256(bytes, digest);
    number_put_bytes(out, digest, sizeof(digest));
}

static void add_names(struct buf *out, const struct s3_to_sign *r)
{
    for (size_t i = 0; i < r->n_headers; i++)
        buf_addf(out, "%s%" STR_FMT, i ? ";" : "", STR_ARG(r->headers[i].name));
}

static void add_canonical(struct buf *out, const struct s3_to_sign *r)
{
    buf_addf(out, "%" STR_FMT "\n%" STR_FMT "\n%" STR_FMT "\n",
             STR_ARG(r->method), STR_ARG(r->path), STR_ARG(r->query));
    for (size_t i = 0; i < r->n_headers; i++)
        buf_addf(out, "%" STR_FMT ":%" STR_FMT "\n",
                 STR_ARG(r->headers[i].name),
                 STR_ARG(str_trim(r->headers[i].value)));
    buf_add_char(out, '\n');
    add_names(out, r);
    buf_addf(out, "\n%" STR_FMT, STR_ARG(r->payload_hash));
}

static struct str day_of(const struct s3_to_sign *r)
{
    return str_first(r->date, r->date.n < 8 ? r->date.n : 8);
}

static void add_scope(struct buf *out, const struct s3_to_sign *r)
{
    buf_addf(out, "%" STR_FMT "/%" STR_FMT "/%" STR_FMT "/aws4_request",
             STR_ARG(day_of(r)), STR_ARG(r->region), STR_ARG(r->service));
}

static void derive_key(const struct s3_to_sign *r, struct str secret,
                       unsigned char key[SHA256_BYTES])
{
    const struct str steps[] = {day_of(r), r->region, r->service,
                                STR("aws4_request")};
    struct buf first = BUF_INIT(4096);
    struct str at;

    buf_addf(&first, "AWS4%" STR_FMT, STR_ARG(secret));
    at = buf_str(&first);
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        hmac_sha256(at, steps[i], key);
        at = str_of((const char *)key, SHA256_BYTES);
    }
    explicit_bzero(first.data, first.len);
    buf_release(&first);
}

void s3_sign(const struct s3_to_sign *r, struct str key_id, struct str secret,
             struct buf *out)
{
    struct buf text = BUF_INIT(CANONICAL_MAX), sign = BUF_INIT(4096);
    unsigned char key[SHA256_BYTES], signature[SHA256_BYTES];
    char hash[S3_HASH_TEXT], hex[2 * SHA256_BYTES];

    add_canonical(&text, r);
    s3_hash(buf_str(&text), hash);
    buf_addf(&sign, "AWS4-HMAC-SHA256\n%" STR_FMT "\n", STR_ARG(r->date));
    add_scope(&sign, r);
    buf_addf(&sign, "\n%.*s", S3_HASH_TEXT, hash);
    derive_key(r, secret, key);
    hmac_sha256(str_of((const char *)key, sizeof(key)), buf_str(&sign),
                signature);
    number_put_bytes(hex, signature, sizeof(signature));
    buf_addf(out, "AWS4-HMAC-SHA256 Credential=%" STR_FMT "/", STR_ARG(key_id));
    add_scope(out, r);
    buf_add(out, STR(",SignedHeaders="));
    add_names(out, r);
    buf_addf(out, ",Signature=%.*s", (int)sizeof(hex), hex);
    buf_release(&text);
    buf_release(&sign);
    explicit_bzero(key, sizeof(key));
}

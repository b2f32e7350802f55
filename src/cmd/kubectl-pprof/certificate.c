/*
 * Elliptic curves and not RSA: such a key is made in a millisecond.
 */
#include "cmd/kubectl-pprof/certificate.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

#define PEM_MAX       ((size_t)64 << 10)
#define DAY_SECONDS   ((long)24 * 60 * 60)
#define CLOCK_SECONDS 300 /* by which other machines' clocks may be late */

static bool add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX ctx;
    X509_EXTENSION *extension;
    bool ok;

    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    extension = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    ok = extension && X509_add_ext(cert, extension, -1);
    X509_EXTENSION_free(extension);
    return ok;
}

static bool set_serial(X509 *cert)
{
    unsigned char bytes[16];
    BIGNUM *number;
    bool ok = RAND_bytes(bytes, sizeof(bytes)) == 1;

    bytes[0] &= 0x7f; /* positive */
    number = ok ? BN_bin2bn(bytes, sizeof(bytes), NULL) : NULL;
    ok = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert));
    BN_free(number);
    return ok;
}

/* A certificate that is not signed yet; NULL when memory runs out. */
static X509 *start(EVP_PKEY *key, const char *name, X509 *issuer)
{
    X509 *cert = X509_new();
    X509_NAME *subject = cert ? X509_get_subject_name(cert) : NULL;

    if (cert && X509_set_version(cert, X509_VERSION_3) && set_serial(cert) &&
        X509_gmtime_adj(X509_getm_notBefore(cert), -CLOCK_SECONDS) &&
        X509_gmtime_adj(X509_getm_notAfter(cert),
                        CERTIFICATE_DAYS * DAY_SECONDS) &&
        X509_set_pubkey(cert, key) &&
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                                   (const unsigned char *)name, -1, -1, 0) &&
        X509_set_issuer_name(cert,
                             X509_get_subject_name(issuer ? issuer : cert)))
        return cert;
    X509_free(cert);
    return NULL;
}

static X509 *make_ca(EVP_PKEY *key)
{
    X509 *ca = start(key, "kubectl-pprof", NULL);

    if (ca &&
        add_extension(ca, ca, NID_basic_constraints,
                      "critical,CA:TRUE,pathlen:0") &&
        add_extension(ca, ca, NID_key_usage, "critical,keyCertSign") &&
        add_extension(ca, ca, NID_subject_key_identifier, "hash") &&
        X509_sign(ca, key, EVP_sha256()))
        return ca;
    X509_free(ca);
    return NULL;
}

static void add_names(struct buf *out, const char *names)
{
    struct str rest = str_from(names), name;

    buf_add(out, STR("IP:127.0.0.1"));
    while (str_split(&rest, ',', &name))
        buf_addf(out, ",DNS:%" STR_FMT, STR_ARG(name));
}

static X509 *make_leaf(EVP_PKEY *key, const char *common_name,
                       const char *names, X509 *ca, EVP_PKEY *ca_key)
{
    struct buf alternatives = BUF_INIT(PEM_MAX);
    X509 *cert = start(key, common_name, ca);
    bool ok;

    add_names(&alternatives, names);
    ok = cert && buf_ok(&alternatives) &&
         add_extension(cert, ca, NID_basic_constraints, "critical,CA:FALSE") &&
         add_extension(cert, ca, NID_key_usage, "critical,digitalSignature") &&
         add_extension(cert, ca, NID_ext_key_usage, "serverAuth,clientAuth") &&
         add_extension(cert, ca, NID_authority_key_identifier, "keyid") &&
         add_extension(cert, ca, NID_subject_alt_name,
                       buf_cstr(&alternatives)) &&
         X509_sign(cert, ca_key, EVP_sha256());
    buf_release(&alternatives);
    if (ok)
        return cert;
    X509_free(cert);
    return NULL;
}

/* What was written to the BIO; overwrites it. */
static bool take(BIO *bio, bool written, struct buf *out)
{
    char *text;
    long n = bio ? BIO_get_mem_data(bio, &text) : 0;

    if (written && n > 0)
        buf_add_bytes(out, text, (size_t)n);
    if (n > 0)
        OPENSSL_cleanse(text, (size_t)n);
    BIO_free(bio);
    return written && n > 0 && buf_ok(out);
}

static bool write_cert(X509 *cert, struct buf *out)
{
    BIO *bio = BIO_new(BIO_s_mem());

    return take(bio, bio && PEM_write_bio_X509(bio, cert), out);
}

static bool write_key(EVP_PKEY *key, struct buf *out)
{
    BIO *bio = BIO_new(BIO_s_mem());

    return take(
        bio,
        bio && PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL),
        out);
}

bool certificate_make(struct certificate *out, const char *common_name,
                      const char *names, struct error *err)
{
    EVP_PKEY *ca_key = EVP_EC_gen("P-256"), *key = EVP_EC_gen("P-256");
    X509 *ca = ca_key && key ? make_ca(ca_key) : NULL;
    X509 *cert = ca ? make_leaf(key, common_name, names, ca, ca_key) : NULL;
    bool ok;

    *out = (struct certificate){BUF_INIT(PEM_MAX), BUF_INIT(PEM_MAX),
                                BUF_INIT(PEM_MAX)};
    ok = cert && write_cert(cert, &out->cert) && write_cert(ca, &out->ca) &&
         write_key(key, &out->key);
    X509_free(cert);
    X509_free(ca);
    EVP_PKEY_free(key);
    EVP_PKEY_free(ca_key);
    if (ok)
        return true;
    certificate_release(out);
    return error_set(err, "cannot make a certificate for %s", common_name);
}

void certificate_release(struct certificate *c)
{
    if (c->key.data)
        explicit_bzero(c->key.data, c->key.cap);
    buf_release(&c->cert);
    buf_release(&c->key);
    buf_release(&c->ca);
}

/*
 * Signatures are those that the AWS documentation and the Signature Version 4
 * test suite give for their example requests.
 */
#include "test.h"

#include "base/clock.h"
#include "base/hmac.h"
#include "base/number.h"
#include "store/archive/object_key.h"
#include "store/archive/profefe_key.h"
#include "store/archive/s3_sign.h"
#include "store/archive/s3_xml.h"

#define NOTHING                                                                \
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static void expect_hmac(struct str key, struct str text, const char *want)
{
    unsigned char digest[SHA256_BYTES];
    char hex[2 * SHA256_BYTES];

    hmac_sha256(key, text, digest);
    number_put_bytes(hex, digest, sizeof(digest));
    EXPECT_STR(str_of(hex, sizeof(hex)), want);
}

TEST(hmac_is_that_of_rfc_4231)
{
    char key[131];

    expect_hmac(STR("Jefe"), STR("what do ya want for nothing?"),
                "5bdcc146bf60754e6a042426089575c7"
                "5a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof(key));
    expect_hmac(str_of(key, sizeof(key)),
                STR("Test Using Larger Than Block-Size Key - Hash Key First"),
                "60e431591ee0b67f0d8a26aacbf5b77f"
                "8e0bc6213728c5140546040f0ee37f54");
}

/* The signature of a request of the S3 documentation: examplebucket on
 * 2013-05-24. */
static void expect_signature(struct str method, struct str path,
                             struct str query, const struct s3_header *headers,
                             size_t n, struct str hash, const char *want)
{
    struct buf out = BUF_INIT(4096);
    ptrdiff_t at;

    s3_sign(&(struct s3_to_sign){method, path, query, headers, n, hash,
                                 STR("20130524T000000Z"), STR("us-east-1"),
                                 STR("s3")},
            STR("AKIAIOSFODNN7EXAMPLE"),
            STR("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"), &out);
    at = str_find(buf_str(&out), STR("Signature="));
    EXPECT(at > 0);
    if (at > 0)
        EXPECT_STR(str_skip(buf_str(&out), (size_t)at + 10), want);
    buf_release(&out);
}

#define HOST                                                                   \
    {                                                                          \
        STR("host"), STR("examplebucket.s3.amazonaws.com")                     \
    }
#define DATE                                                                   \
    {                                                                          \
        STR("x-amz-date"), STR("20130524T000000Z")                             \
    }
#define HASH                                                                   \
    {                                                                          \
        STR("x-amz-content-sha256"), STR(NOTHING)                              \
    }

TEST(documented_get_of_an_object)
{
    const struct s3_header headers[] = {
        HOST, {STR("range"), STR("bytes=0-9")}, HASH, DATE};

    expect_signature(STR("GET"), STR("/test.txt"), STR(""), headers, 4,
                     STR(NOTHING),
                     "f0e8bdb87c964420e857bd35b5d6ed31"
                     "0bd44f0170aba48dd91039c6036bdb41");
}

TEST(documented_put_of_an_object)
{
    static const char hash[] = "44ce7dd67c959e0d3524ffac1771dfbb"
                               "a87d2b6b4b4e99e42034a8b803f8b072";
    const struct s3_header headers[] = {
        {STR("date"), STR("Fri, 24 May 2013 00:00:00 GMT")},
        HOST,
        {STR("x-amz-content-sha256"), str_from(hash)},
        DATE,
        {STR("x-amz-storage-class"), STR("REDUCED_REDUNDANCY")}};
    char of_body[S3_HASH_TEXT];

    s3_hash(STR("Welcome to Amazon S3."), of_body);
    EXPECT_STR(str_of(of_body, sizeof(of_body)), hash);
    expect_signature(STR("PUT"), STR("/test%24file.text"), STR(""), headers, 5,
                     str_from(hash),
                     "98ad721746da40c64f1a55b78f14c238"
                     "d841ea1380cd77a1b5971af0ece108bd");
}

TEST(documented_listing_and_subresource)
{
    const struct s3_header headers[] = {HOST, HASH, DATE};

    expect_signature(STR("GET"), STR("/"), STR("lifecycle="), headers, 3,
                     STR(NOTHING),
                     "fea454ca298b7da1c68078a5d1bdbfbb"
                     "e0d65c699e0f91ac7a200a0136783543");
    expect_signature(STR("GET"), STR("/"), STR("max-keys=2&prefix=J"), headers,
                     3, STR(NOTHING),
                     "34b48302e7b5fa45bde8084f4b7868a8"
                     "6f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(get_vanilla_of_the_test_suite)
{
    const struct s3_header headers[] = {
        {STR("host"), STR("example.amazonaws.com")},
        {STR("x-amz-date"), STR("20150830T123600Z")}};
    struct buf out = BUF_INIT(4096);

    s3_sign(&(struct s3_to_sign){STR("GET"), STR("/"), STR(""), headers, 2,
                                 STR(NOTHING), STR("20150830T123600Z"),
                                 STR("us-east-1"), STR("service")},
            STR("AKIDEXAMPLE"), STR("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            &out);
    EXPECT_STR(buf_str(&out),
               "AWS4-HMAC-SHA256 "
               "Credential=AKIDEXAMPLE/20150830/us-east-1/service/"
               "aws4_request,SignedHeaders=host;x-amz-date,Signature="
               "5fa00fa31553b73ebf1942676e86291e"
               "8372ff2a2260956d9b8aae1d763fbf31");
    buf_release(&out);
}

static bool note(void *arg, struct str key, uint64_t size, struct error *err)
{
    struct buf *seen = arg;

    (void)err;
    buf_addf(seen, "%" STR_FMT "=%llu ", STR_ARG(key),
             (unsigned long long)size);
    return true;
}

static bool list(const char *xml, struct buf *seen, struct buf *next)
{
    struct error err;

    return s3_xml_list(str_from(xml), note, seen, next, &err);
}

TEST(listings)
{
    struct buf seen = BUF_INIT(4096), next = BUF_INIT(4096);

    EXPECT(list("<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"x\">"
                "<Name>b</Name><Prefix></Prefix><KeyCount>2</KeyCount>"
                "<Contents><Key>a&amp;b/&#xe9;&#32;c</Key><Size>12</Size>"
                "</Contents><!-- <Contents> --><Contents><Key>d&lt;&unknown;"
                "</Key><Size>0</Size></Contents>"
                "<NextContinuationToken>t=1</NextContinuationToken>"
                "</ListBucketResult>",
                &seen, &next));
    EXPECT_STR(buf_str(&seen), "a&b/\xc3\xa9 c=12 d<&unknown;=0 ");
    EXPECT_STR(buf_str(&next), "t=1");
    EXPECT(!list("<ListBucketResult><Contents><Key>a</Key></Contents>", &seen,
                 &next)); /* cut short */
    EXPECT(!list("<html>not found</html>", &seen, &next));
    EXPECT(!list("<ListBucketResult><Contents></Contents></ListBucketResult>",
                 &seen, &next));
    EXPECT(!list("", &seen, &next));
    buf_release(&seen);
    buf_release(&next);
}

TEST(elements_by_name)
{
    struct buf out = BUF_INIT(4096);

    EXPECT(s3_xml_find(STR("<Error><Code>AccessDenied</Code></Error>"),
                       STR("Code"), &out));
    EXPECT_STR(buf_str(&out), "AccessDenied");
    EXPECT(!s3_xml_find(STR("<Error><Code"), STR("Code"), &out));
    buf_release(&out);
}

TEST(keys_of_profiles)
{
    const struct store_label labels[] = {{STR("a b"), STR(",=/%")},
                                         {STR("empty"), STR("")}};
    struct store_profile p = {.service = STR(".."),
                              .type = STR("cpu"),
                              .labels = labels,
                              .n_labels = 2,
                              .created_at_ns = INT64_C(1559250605250000000)};
    struct arena *a = arena_new();
    struct buf key = arena_buf(a);
    struct store_put put;
    struct store_id id;

    buf_add(&key, STR("some/where/"));
    object_key_add(&key, &p, false);
    EXPECT_STR(buf_str(&key),
               "some/where/%2E%2E/cpu/2019-05-30/1559250605250000000-"
               "00000000000000000000,a%20b=%2C%3D%2F%25,empty=.pb.gz");
    EXPECT(object_key_parse(a, buf_str(&key), &put, &id));
    EXPECT_STR(put.service, "..");
    EXPECT(put.n_labels == 2 && put.created_at_ns == p.created_at_ns);
    EXPECT_STR(put.labels[0].key, "a b");
    EXPECT_STR(put.labels[0].value, ",=/%");
    EXPECT(!put.is_delta && !put.is_opaque);
    key.len -= STR(".pb.gz").n;
    buf_add(&key, STR(".delta.pb.gz"));
    EXPECT(object_key_parse(a, buf_str(&key), &put, &id) && put.is_delta);
    EXPECT(!object_key_parse(a, STR(""), &put, &id));
    EXPECT(!object_key_parse(a, STR("a/b/2019-05-30/1-x.pb.gz"), &put, &id));
    EXPECT(!object_key_parse(a, STR("a/b/2019-05-30/.pb.gz"), &put, &id));
    arena_free(a);
}

TEST(keys_of_profefe)
{
    struct arena *a = arena_new();
    struct store_put put;
    struct store_id id;
    char text[STORE_ID_TEXT + 1];

    EXPECT(profefe_key_parse(
        a, STR("x/P0.team__api/1/bmvf8kbnc5s0000000g0,k=a,b%20c,v=1.0/x"), &put,
        &id));
    store_id_format(&id, text);
    EXPECT_STR(str_from(text), "bmvf8kbnc5s0000000g0");
    EXPECT_STR(put.service, "team__api");
    EXPECT_STR(put.type, "cpu");
    EXPECT(put.n_labels == 2 && !put.is_opaque);
    EXPECT_STR(put.labels[0].value, "a,b%20c");
    EXPECT_STR(put.labels[1].value, "1.0/x");
    EXPECT(put.created_at_ns == INT64_C(1572795473) * SECOND);
    EXPECT(
        profefe_key_parse(a, STR("P0.a/128/bmvf8kbnc5s0000000g0"), &put, &id));
    EXPECT(put.is_opaque && put.n_labels == 0);
    EXPECT(
        !profefe_key_parse(a, STR("P0.a/99/bmvf8kbnc5s0000000g0"), &put, &id));
    EXPECT(!profefe_key_parse(a, STR("P0.a/1/short"), &put, &id));
    EXPECT(!profefe_key_parse(a, STR("P0./1/bmvf8kbnc5s0000000g0"), &put, &id));
    EXPECT(
        !profefe_key_parse(a, STR("P0.a/1/bmvf8kbnc5s0000000g0,x"), &put, &id));
    EXPECT(!profefe_key_parse(a, STR("a/1/bmvf8kbnc5s0000000g0"), &put, &id));
    arena_free(a);
}

TEST_MAIN

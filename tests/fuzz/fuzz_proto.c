/*
 * Bytes as profile.proto: they decode to a sound profile or give an error.  A
 * profile is the same when its bytes are consumed, and what is written of it
 * reads and writes as itself.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/gzip.h"
#include "profile/check.h"
#include "profile/decode.h"
#include "profile/encode.h"
#include "profile/wellformed.h"

static const struct profile_limits limits = {
    .input_bytes = 1 << 20,
    .inflated_bytes = 1 << 20,
    .samples = 1 << 16,
    .string_bytes = 1 << 20,
    .stack_depth = 1 << 16,
};

static void must(bool condition)
{
    if (!condition)
        abort();
}

static struct buf encoded(const struct profile *p)
{
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    profile_encode(p, &b);
    must(buf_ok(&b));
    return b;
}

static void consume(struct str bytes, struct str want)
{
    struct buf copy = BUF_INIT(BUF_NO_LIMIT), again, z = copy, out = copy;
    enum decode_verdict verdict;
    struct error err;
    struct profile *p;

    buf_add(&copy, bytes);
    p = profile_decode_consume(&copy, &limits, &verdict, &err);
    must(p != NULL);
    again = encoded(p);
    must(str_eq(buf_str(&again), want));
    must(profile_encode_gzip_consume(p, &z, &err));
    must(gzip_inflate(buf_str(&z), &out, &err));
    must(str_eq(buf_str(&out), want));
    profile_free(p);
    buf_release(&again);
    buf_release(&z);
    buf_release(&out);
}

static void is_stable(struct str bytes)
{
    enum decode_verdict verdict;
    struct error err;
    struct profile *p = profile_decode(bytes, &limits, &verdict, &err);
    struct buf again;

    must(p != NULL);
    again = encoded(p);
    must(str_eq(buf_str(&again), bytes));
    profile_free(p);
    buf_release(&again);
}

/* Writing may lose labels that are all zero, and reading merges strings; once
 * written, nothing changes any more. */
static void rewrite(struct str bytes)
{
    enum decode_verdict verdict;
    struct error err;
    struct profile *p = profile_decode(bytes, &limits, &verdict, &err);
    struct buf again;

    must(p != NULL);
    again = encoded(p);
    is_stable(buf_str(&again));
    profile_free(p);
    buf_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = str_of((const char *)data, size);
    struct wire_reader r = {.at = data, .end = size ? data + size : data};
    bool well_formed = proto_is_well_formed(r);
    enum decode_verdict verdict;
    struct error err;
    struct profile *p;
    struct buf b;

    p = profile_decode(bytes, &limits, &verdict, &err);
    if (!p) {
        must(verdict == DECODE_NOT_PROTO || err.text[0]);
        must(well_formed || verdict != DECODE_UNSOUND);
        return 0;
    }
    must(well_formed);
    must(profile_check(p, &err));
    b = encoded(p);
    consume(bytes, buf_str(&b));
    rewrite(buf_str(&b));
    profile_free(p);
    buf_release(&b);
    return 0;
}

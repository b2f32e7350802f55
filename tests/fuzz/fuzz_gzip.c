/*
 * Bytes as gzip: they inflate within the limit or give an error.  The same
 * bytes as content: they come back from deflating and inflating.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/gzip.h"
#include "base/inflate_fault.h"

enum { LIMIT = 1 << 20 };

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void round_trip(struct str bytes)
{
    struct buf z = BUF_INIT(BUF_NO_LIMIT), out = BUF_INIT(bytes.n);
    struct error err;

    must(gzip_deflate(bytes, &z, &err));
    must(gzip_inflate(buf_str(&z), &out, &err));
    must(str_eq(buf_str(&out), bytes));
    must(inflate_is_sound(str_skip(buf_str(&z), 10), &err));
    buf_release(&z);
    buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = str_of((const char *)data, size);
    struct buf out = BUF_INIT(LIMIT);
    struct error err = {""};
    bool ok = gzip_inflate(bytes, &out, &err);

    must(out.len <= LIMIT);
    must(ok == (err.text[0] == '\0'));
    must(!ok || gzip_detect(bytes));
    buf_release(&out);
    inflate_is_sound(bytes, &err);
    if (!gzip_detect(bytes)) /* making a compressor is slow */
        round_trip(bytes);
    return 0;
}

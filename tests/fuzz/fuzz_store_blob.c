/*
 * Damaged data in a store: dictionary, descriptions and samples with right
 * checksums and wrong contents.  The input is two lengths of two bytes each,
 * then the three parts before compression.
 */
#include <stdlib.h>

#include "profile/check.h"
#include "store/build.h"
#include "store/rebuild.h"
#include "store/segment.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n);

static void read_rows(struct block_reader *r, const struct dict *d)
{
    struct error err;
    bool more = false;

    while (block_next(r, &more, &err) && more) {
        struct profile *p;

        if (r->meta.flags & (ROW_SUM | ROW_OPAQUE))
            continue;
        p = rebuild_profile(d, &r->meta, &r->samples, &err);
        if (p && !profile_check(p, &err))
            abort();
        profile_free(p);
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
    struct buf packed[3];
    struct str part[3], rest;
    struct block_reader r = {0};
    struct dict d;
    struct error err;

    if (n < 4)
        return 0;
    rest = str_of((const char *)data + 4, n - 4);
    for (int i = 0; i < 3; i++) {
        size_t length =
            i < 2 ? data[2 * i] | (size_t)data[2 * i + 1] << 8 : rest.n;

        part[i] = str_first(rest, length < rest.n ? length : rest.n);
        rest = str_skip(rest, part[i].n);
        packed[i] = BUF_INIT(BUF_NO_LIMIT);
        if (!squeeze(part[i], 1, &packed[i]))
            abort();
    }
    if (segment_unpack(buf_str(&packed[0]), &d, &err)) {
        if (block_open(&r, buf_str(&packed[1]), buf_str(&packed[2]), true, &d,
                       &err))
            read_rows(&r, &d);
        block_reader_release(&r);
        dict_release(&d);
    }
    for (int i = 0; i < 3; i++)
        buf_release(&packed[i]);
    return 0;
}

/*
 * Reading blocks, row by row.
 */
#include <stdlib.h>

#include "store/build.h"
#include "store/header.h"
#include "store/intern.h"
#include "store/pack.h"
#include "store/segment.h"

#define BLOCK_LIMIT ((size_t)1 << 30)

static bool damaged(struct error *err)
{
    return error_set(err, "block: stored data are damaged");
}

void block_reader_release(struct block_reader *r)
{
    buf_release(&r->metas);
    buf_release(&r->packed);
    row_meta_release(&r->meta);
    row_samples_release(&r->samples);
    row_samples_release(&r->before);
    *r = (struct block_reader){0};
}

bool block_open(struct block_reader *r, struct str meta, struct str samples,
                bool with_samples, const struct dict *d, struct error *err)
{
    r->d = d;
    r->metas.max = r->packed.max = STORE_BUF_BYTES;
    r->with_samples = with_samples;
    r->has_before = false;
    buf_clear(&r->metas);
    buf_clear(&r->packed);
    r->samples.n = r->before.n = 0;
    if (!unsqueeze(meta, BLOCK_LIMIT, &r->metas, err) ||
        (with_samples && !unsqueeze(samples, BLOCK_LIMIT, &r->packed, err)))
        return error_wrap(err, "block");
    r->meta_at = unpack_begin(buf_str(&r->metas));
    r->packed_at = unpack_begin(buf_str(&r->packed));
    if (with_samples) {
        if (!wire_more(&r->packed_at) || *r->packed_at.at > 1)
            return damaged(err);
        r->has_before = *r->packed_at.at++;
        /* The columns of the row before are known with the first row. */
    }
    r->at_first = true;
    return true;
}

static bool next_samples(struct block_reader *r, struct error *err)
{
    const struct row_meta *m = &r->meta;
    bool first = r->at_first;
    uint64_t cumulative;
    struct str packed;
    size_t types;

    if (!dict_header_types(r->d, m->header, &types, &cumulative))
        return damaged(err);
    if (!first) {
        row_samples_swap(&r->samples, &r->before);
        r->has_before = true;
    } else if (r->has_before) {
        if (!unpack_bytes(&r->packed_at, &packed) ||
            !row_unpack(packed, 0, types, r->d, NULL, &r->before))
            return damaged(err);
    }
    if (!unpack_bytes(&r->packed_at, &packed) ||
        !row_unpack(packed, m->period, row_columns(m, cumulative), r->d,
                    r->has_before ? &r->before : NULL, &r->samples))
        return damaged(err);
    return true;
}

bool block_next(struct block_reader *r, bool *more, struct error *err)
{
    *more = wire_more(&r->meta_at);
    if (!*more)
        return !r->with_samples || !wire_more(&r->packed_at) || damaged(err);
    if (!row_meta_unpack(&r->meta, &r->meta_at, r->d))
        return damaged(err);
    if (r->with_samples && !next_samples(r, err))
        return false;
    r->at_first = false;
    return true;
}

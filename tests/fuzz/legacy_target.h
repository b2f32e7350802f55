#ifndef TESTS_FUZZ_LEGACY_TARGET_H
#define TESTS_FUZZ_LEGACY_TARGET_H

/*
 * What the fuzz targets of the legacy formats share: one parser over some
 * bytes, and what must be true of a profile that it makes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profile/check.h"
#include "profile/decode.h"
#include "profile/encode.h"
#include "profile/legacy_common.h"

static const struct profile_limits legacy_target_limits = {
    .input_bytes = 1 << 20,
    .inflated_bytes = 1 << 20,
    .samples = 1 << 12,
    .string_bytes = 1 << 16,
    .stack_depth = 1 << 12,
};

static inline void must(bool condition)
{
    if (!condition)
        abort();
}

/* Everything is numbered from 1, and what is pointed at is there. */
static inline void must_be_whole(const struct profile *p)
{
    struct error err;

    must(profile_check(p, &err));
    for (size_t i = 0; i < p->loc_start[p->n_samples]; i++)
        must(p->stack[i] < p->locations.n);
    for (size_t i = 0; i < p->locations.n; i++) {
        const struct location *loc = &p->locations.v[i];

        must(loc->id == i + 1);
        must(loc->mapping == NO_INDEX || loc->mapping < p->mappings.n);
        for (uint32_t k = 0; k < loc->n_lines; k++)
            must(p->lines.v[loc->line_start + k].function < p->functions.n);
    }
    for (size_t i = 0; i < p->functions.n; i++)
        must(p->functions.v[i].id == i + 1);
    for (size_t i = 0; i < p->mappings.n; i++)
        must(p->mappings.v[i].id == i + 1);
}

/*
 * Written and read once its bytes are settled: labels that are all zero are
 * lost on the way, so the second writing is compared with the third.
 */
static inline struct profile *written_and_read(const struct profile *p,
                                               struct buf *bytes)
{
    struct profile_limits limits = legacy_target_limits;
    enum decode_verdict verdict;
    struct profile *again;
    struct error err;

    limits.string_bytes = SIZE_MAX; /* the names of dropped frames count too */
    buf_clear(bytes);
    profile_encode(p, bytes);
    again = profile_decode(buf_str(bytes), &limits, &verdict, &err);
    must(again != NULL);
    return again;
}

static inline void must_survive_writing(const struct profile *p)
{
    struct buf x = BUF_INIT(BUF_NO_LIMIT), y = BUF_INIT(BUF_NO_LIMIT);
    struct profile *first = written_and_read(p, &x);
    struct profile *second = written_and_read(first, &x);

    profile_encode(second, &y);
    must(str_eq(buf_str(&x), buf_str(&y)));
    must(second->n_samples == p->n_samples);
    profile_free(second);
    profile_free(first);
    buf_release(&x);
    buf_release(&y);
}

static inline int legacy_target(enum legacy_result (*parse)(struct legacy *,
                                                            struct str),
                                struct str bytes)
{
    struct error err = {""};
    struct legacy l;
    enum legacy_result result;

    if (bytes.n > legacy_target_limits.input_bytes)
        return 0;
    legacy_init(&l, &legacy_target_limits, &err);
    result = parse(&l, bytes);
    legacy_release(&l);
    if (result == LEGACY_OK) {
        must_be_whole(l.profile);
        must_survive_writing(l.profile);
    }
    must((result == LEGACY_FAILED) == (err.text[0] != 0));
    profile_free(l.profile);
    return 0;
}

#endif

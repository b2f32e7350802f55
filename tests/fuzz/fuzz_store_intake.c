/*
 * The store's own reader of profile.proto against the analyser's: what it
 * accepts the other must accept, and what comes out of the store's numbers
 * must be what went in.
 */
#include <assert.h>
#include <stdlib.h>

#include "profile/encode.h"
#include "profile/merge.h"
#include "profile/read.h"
#include "store/intake.h"
#include "store/intern.h"
#include "store/rebuild.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n);

/* Merging numbers everything by first use. */
static void encode(struct profile *p, struct buf *out)
{
    struct error err;
    struct profile *m = profile_merge(&p, 1, &err);

    assert(m);
    profile_encode(m, out);
    profile_free(m);
}

static void compare(struct intake *in, struct profile *want)
{
    struct dict d;
    struct label_guard guard = {.max_values = 1000000};
    struct interner t = {0};
    struct buf a = BUF_INIT(BUF_NO_LIMIT), b = BUF_INIT(BUF_NO_LIMIT);
    struct profile *got;
    struct error err;

    assert(dict_init(&d));
    /* The second time everything is known. */
    for (int i = 0; i < 2; i++) {
        assert(intern_profile(&t, in, &d, &guard, false));
        got = rebuild_profile(&d, &t.meta, &t.samples, &err);
        assert(got && got->n_samples == want->n_samples);
        assert(got->mappings.n == want->mappings.n);
        assert(got->comments.n == want->comments.n);
        if (want->n_samples < 1000) {
            buf_clear(&a);
            buf_clear(&b);
            encode(got, &a);
            encode(want, &b);
            assert(str_eq(buf_str(&a), buf_str(&b)));
        }
        profile_free(got);
    }
    buf_release(&a);
    buf_release(&b);
    interner_release(&t);
    label_guard_release(&guard);
    dict_release(&d);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
    struct str bytes = str_of((const char *)data, n);
    struct intake_bounds bounds = {1 << 20, 1 << 12, 1 << 22, 1 << 20};
    struct intake in = {0};
    struct error err;

    if (intake_read(&in, bytes, &bounds, &err) == INTAKE_OK) {
        struct profile *p = profile_read_memory(bytes, NULL, &err);

        assert(p);
        compare(&in, p);
        profile_free(p);
    }
    intake_release(&in);
    return 0;
}

/*
 * Two profiles, made compatible and merged; the result must be sound, small
 * and keep the totals.  The input is two bytes, the length of the first
 * profile (little endian), and then both.
 */
#include <stdint.h>
#include <stdlib.h>

#include "profile/check.h"
#include "profile/encode.h"
#include "profile/compatible.h"
#include "profile/merge.h"
#include "profile/scale.h"
#include "profile/set_label.h"
#include "profile/read.h"

static const struct profile_limits limits = {
    .input_bytes = 1 << 16,
    .inflated_bytes = 1 << 20,
    .samples = 1 << 12,
    .string_bytes = 1 << 16,
    .stack_depth = 1 << 12,
};

static void must(bool condition)
{
    if (!condition)
        abort();
}

static uint64_t total(const struct profile *p, size_t type)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < p->n_samples; i++)
        sum += (uint64_t)p->values[i * p->types.n + type];
    return sum;
}

static bool has_zero_sample(const struct profile *p)
{
    for (size_t i = 0; i < p->n_samples; i++) {
        int64_t any = 0;

        for (size_t t = 0; t < p->types.n; t++)
            any |= p->values[i * p->types.n + t];
        if (!any)
            return true;
    }
    return false;
}

static struct profile *merge(struct profile *a, struct profile *b)
{
    struct profile *both[] = {a, b};
    struct error err;
    struct profile *p = profile_merge(both, b ? 2 : 1, &err);

    must(p != NULL);
    must(profile_check(p, &err));
    must(!has_zero_sample(p));
    for (size_t i = 0; i < p->locations.n; i++)
        must(p->locations.v[i].id == i + 1);
    return p;
}

static void must_be_same(const struct profile *a, const struct profile *b)
{
    struct buf x = BUF_INIT(BUF_NO_LIMIT), y = BUF_INIT(BUF_NO_LIMIT);

    profile_encode(a, &x);
    profile_encode(b, &y);
    must(str_eq(buf_str(&x), buf_str(&y)));
    buf_release(&x);
    buf_release(&y);
}

static void check_sum(struct profile *a, struct profile *b)
{
    struct profile *sum = merge(a, b), *again = merge(sum, NULL);

    for (size_t t = 0; t < sum->types.n; t++)
        must(total(sum, t) == total(a, t) + total(b, t));
    must_be_same(sum, again);
    profile_free(again);
    profile_free(sum);
}

/* A base's label keeps its samples apart, then they cancel without it. */
static void check_difference(struct profile *a)
{
    struct profile *base = profile_copy(a), *difference;

    for (size_t i = 0; i < base->n_samples * base->types.n; i++)
        base->values[i] = (int64_t) - (uint64_t)base->values[i];
    profile_set_label(base, STR("pprof::base"), STR("true"));
    difference = merge(a, base);
    profile_free(difference);
    profile_remove_label(base, STR("pprof::base"));
    profile_remove_label(a, STR("pprof::base"));
    difference = merge(a, base);
    must(difference->n_samples == 0);
    profile_free(difference);
    profile_free(base);
}

static void check_pair(struct profile *a, struct profile *b)
{
    struct profile *both[] = {a, b};
    struct error err;

    if (!profile_make_compatible(both, 2, &err))
        return;
    check_sum(a, b);
    must(profile_normalize(a, b, &err));
    check_sum(b, a);
    check_difference(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data + 2;
    struct profile *a, *b;
    struct error err;
    size_t n;

    if (size < 2)
        return 0;
    size -= 2;
    n = data[0] | (size_t)data[1] << 8;
    if (n > size)
        n = size;
    a = profile_read_memory(str_of(bytes, n), &limits, &err);
    b = profile_read_memory(str_of(bytes + n, size - n), &limits, &err);
    if (a && b)
        check_pair(a, b);
    profile_free(a);
    profile_free(b);
    return 0;
}

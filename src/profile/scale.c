#include "profile/scale.h"

#include <math.h>

#include "base/i64.h"
#include "base/number.h"
#include "profile/same_types.h"
#include "profile/sweep.h"

/* Scales one sample's values; false if none of the scaled is left. */
static bool scale_row(int64_t *row, const double *ratios, size_t n)
{
    bool alive = false;

    for (size_t i = 0; i < n; i++) {
        if (ratios[i] == 1)
            continue;
        row[i] = number_trunc(round((double)row[i] * ratios[i]));
        alive |= row[i] != 0;
    }
    return alive;
}

void profile_scale_n(struct profile *p, const double *ratios)
{
    size_t n = p->types.n, ones = 0;
    struct sweep s;

    while (ones < n && ratios[ones] == 1)
        ones++;
    if (ones == n)
        return;
    sweep_init(&s, p);
    while (sweep_next(&s))
        if (scale_row(p->values + s.sample * n, ratios, n))
            sweep_keep(&s);
}

void profile_scale(struct profile *p, double ratio)
{
    struct arena *scratch = arena_new();
    double *ratios = arena_new_array(scratch, double, p->types.n);

    for (size_t i = 0; i < p->types.n; i++)
        ratios[i] = ratio;
    profile_scale_n(p, ratios);
    arena_free(scratch);
}

static int64_t total(const struct profile *p, size_t type)
{
    int64_t sum = 0;

    for (size_t i = 0; i < p->n_samples; i++)
        sum = i64_add(sum, p->values[i * p->types.n + type]);
    return sum;
}

bool profile_normalize(struct profile *p, const struct profile *base,
                       struct error *err)
{
    struct arena *scratch;
    double *ratios;

    if (!profile_same_types(p, base, err))
        return false;
    scratch = arena_new();
    ratios = arena_new_array(scratch, double, p->types.n);
    for (size_t i = 0; i < p->types.n; i++) {
        int64_t own = total(p, i);

        if (own != 0)
            ratios[i] = (double)total(base, i) / (double)own;
    }
    profile_scale_n(p, ratios);
    arena_free(scratch);
    return true;
}

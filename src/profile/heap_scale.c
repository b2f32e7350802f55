#include "profile/heap_scale.h"

#include <math.h>

#include "base/number.h"

/*
 * exp(x) to the bit as Go computes it on x86-64, the machine that the texts
 * we are compared with come from.  libm's differs in the last bit for one x
 * in twenty, and 1 - exp(-x) makes that bit larger: bytes in a report.
 *
 * The method is that of N. Shibata, "Efficient evaluation methods of
 * elementary functions suitable for SIMD computation" (2010): with
 * x = k ln 2 + 16 r, a Taylor series gives exp(r) - 1, which is squared up
 * four times by (1 + y)^2 - 1 = y (y + 2).
 */
static double exp_like_go(double x)
{
    static const double ln2_high = 0.69314718055966295651160180568695068359375;
    static const double ln2_low = 0.28235290563031577122588448175013436e-12;
    /* 1/9! would be next. */
    static const double factors[] = {1.0 / 40320, 1.0 / 5040, 1.0 / 720,
                                     1.0 / 120,   1.0 / 24,   1.0 / 6,
                                     1.0 / 2,     1};
    double k = nearbyint(x * 1.44269504088896340735992468100189214);
    double r, series = factors[0], y;

    if (!isfinite(x) || fabs(k) > 1000)
        return exp(x); /* 1 - exp(x) is 1 or huge: no bit matters */
    r = fma(-k, ln2_high, x);
    r = fma(-k, ln2_low, r) / 16;
    for (int i = 1; i < 8; i++)
        series = fma(series, r, factors[i]);
    y = r * series;
    for (int i = 0; i < 3; i++)
        y *= y + 2;
    return ldexp(fma(y, y + 2, 1), (int)k);
}

void heap_scale(int64_t *count, int64_t *bytes, int64_t rate)
{
    double average, scale;

    if (*count == 0 || *bytes == 0) {
        *count = *bytes = 0;
        return;
    }
    if (rate <= 1)
        return;
    average = (double)*bytes / (double)*count;
    scale = 1 / (1 - exp_like_go(-average / (double)rate));
    *count = number_trunc((double)*count * scale);
    *bytes = number_trunc((double)*bytes * scale);
}

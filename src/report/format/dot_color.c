#include "report/format/dot_color.h"

#include <math.h>
#include <stdint.h>

#include "base/number.h"

/* A colour in hue, saturation and value turns grey below this share. */
#define GREY_BELOW 0.2
/* Moves shares away from grey: share^(1-SHIFT). */
#define SHIFT 0.7

/* NaN, which a report without total has, becomes 0. */
static uint8_t channel(double x)
{
    return x >= 0 ? (uint8_t)(x * 255) : 0;
}

struct dot_color dot_color(double share, bool background)
{
    double saturation = background ? 0.1 : 1.0;
    double value = background ? 0.93 : 0.7;
    double red = value, green = value, blue;
    struct dot_color c = {"#"};

    if (share > 1)
        share = 1;
    if (share < -1)
        share = -1;
    if (fabs(share) < GREY_BELOW)
        saturation *= fabs(share) / GREY_BELOW;
    if (share > 0)
        share = pow(share, 1.0 - SHIFT);
    if (share < 0)
        share = -pow(-share, 1.0 - SHIFT);
    if (share < 0)
        red = value * (1 + saturation * share);
    else
        green = value * (1 - saturation * share);
    blue = value * (1 - saturation);
    number_put_bytes(c.text + 1,
                     (uint8_t[]){channel(red), channel(green), channel(blue)},
                     3);
    return c;
}

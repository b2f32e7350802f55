#include "report/format/ansi.h"

#include <math.h>
#include <stdlib.h>

/* The steps of each channel in the 6 x 6 x 6 cube that starts at 16. */
static const int cube_steps[] = {0, 95, 135, 175, 215, 255};

static int nearest_step(int channel)
{
    int best = 0;

    for (int i = 1; i < 6; i++)
        if (abs(cube_steps[i] - channel) < abs(cube_steps[best] - channel))
            best = i;
    return best;
}

static void add_colour(const struct ansi *t, int kind, struct rgb c)
{
    if (t->true_colour)
        buf_addf(t->out, "\033[%d;2;%d;%d;%dm", kind, c.r, c.g, c.b);
    else
        buf_addf(t->out, "\033[%d;5;%dm", kind,
                 16 + 36 * nearest_step(c.r) + 6 * nearest_step(c.g) +
                     nearest_step(c.b));
}

void ansi_foreground(const struct ansi *t, struct rgb c)
{
    add_colour(t, 38, c);
}

void ansi_background(const struct ansi *t, struct rgb c)
{
    add_colour(t, 48, c);
}

void ansi_reverse(const struct ansi *t)
{
    buf_add(t->out, STR("\033[7m"));
}

void ansi_reset(const struct ansi *t)
{
    buf_add(t->out, STR("\033[0m"));
}

/* One channel: how far the hue is from that channel's own. */
static uint8_t channel(double n, double hue, double saturation,
                       double lightness)
{
    double k = fmod(n + hue * 12, 12);
    double a = saturation * fmin(lightness, 1 - lightness);
    double c = lightness - a * fmax(-1, fmin(fmin(k - 3, 9 - k), 1));

    return (uint8_t)lround(c * 255);
}

struct rgb rgb_from_hsl(double hue, double saturation, double lightness)
{
    return (struct rgb){.r = channel(0, hue, saturation, lightness),
                        .g = channel(8, hue, saturation, lightness),
                        .b = channel(4, hue, saturation, lightness)};
}

struct rgb rgb_darker(struct rgb c)
{
    return (struct rgb){(uint8_t)(c.r * 2 / 3), (uint8_t)(c.g * 2 / 3),
                        (uint8_t)(c.b * 2 / 3)};
}

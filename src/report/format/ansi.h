#ifndef REPORT_FORMAT_ANSI_H
#define REPORT_FORMAT_ANSI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * Terminal colours.  A colour is written as 24 bits where the terminal can take
 * that, else as the nearest of the 256 colours that nearly all terminals have.
 */
struct rgb {
    uint8_t r, g, b;
};

struct ansi {
    struct buf *out;
    bool true_colour;
};

void ansi_foreground(const struct ansi *t, struct rgb c);
void ansi_background(const struct ansi *t, struct rgb c);
void ansi_reverse(const struct ansi *t); /* foreground and background swap */
void ansi_reset(const struct ansi *t);

/* A light colour, on which dark text reads well: hue in turns (0 and 1 are
 * red), lightness and saturation from 0 to 1. */
struct rgb rgb_from_hsl(double hue, double saturation, double lightness);

/* For a line in a box of that colour. */
struct rgb rgb_darker(struct rgb c);

#endif

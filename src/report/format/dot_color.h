#ifndef REPORT_FORMAT_DOT_COLOR_H
#define REPORT_FORMAT_DOT_COLOR_H

#include <stdbool.h>

/*
 * "#b20000": red for a share of 1, grey near 0, green for -1.  Backgrounds
 * are pale.  Shares beyond 1 count as 1.
 */
struct dot_color {
    char text[8];
};

struct dot_color dot_color(double share, bool background);

#endif

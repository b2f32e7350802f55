#ifndef CMD_PPROF_PICTURE_H
#define CMD_PPROF_PICTURE_H

#include "base/buf.h"
#include "base/error.h"

/*
 * A graph in DOT as a picture, drawn by Graphviz: format is what dot -T takes.
 * An SVG is changed so that a browser shows all of it and can pan and zoom.
 */
bool picture_draw(const char *format, struct str dot, struct buf *out,
                  struct error *err);

/* What picture_draw does to dot's SVG. */
void picture_make_zoomable(struct str svg, struct buf *out);

#endif

/*
 * Graphviz writes an SVG of fixed size.  To make it fit a window and respond
 * to the mouse, its root element loses its size, its content is put into a
 * group, and a small script that moves and scales the group is added.
 */
#include "cmd/pprof/picture.h"

#include <stdio.h>

#include "base/process.h"

/* Drag to pan, wheel to zoom at the pointer. */
static const char script[] =
    "<script type=\"text/ecmascript\"><![CDATA[\n"
    "addEventListener('load', function () {\n"
    "  var svg = document.documentElement;\n"
    "  var port = document.getElementById('viewport');\n"
    "  var held = null;\n"
    "  function at(e) {\n"
    "    var p = svg.createSVGPoint();\n"
    "    p.x = e.clientX;\n"
    "    p.y = e.clientY;\n"
    "    return p;\n"
    "  }\n"
    "  function set(m) {\n"
    "    port.setAttribute('transform', 'matrix(' +\n"
    "      [m.a, m.b, m.c, m.d, m.e, m.f].join(' ') + ')');\n"
    "  }\n"
    "  svg.addEventListener('wheel', function (e) {\n"
    "    var p = at(e).matrixTransform(port.getCTM().inverse());\n"
    "    var m = port.getCTM().translate(p.x, p.y)\n"
    "      .scale(Math.pow(1.1, -Math.sign(e.deltaY)));\n"
    "    set(m.translate(-p.x, -p.y));\n"
    "    e.preventDefault();\n"
    "  }, {passive: false});\n"
    "  svg.addEventListener('mousedown', function (e) {\n"
    "    held = {p: at(e), m: port.getCTM()};\n"
    "    e.preventDefault();\n"
    "  });\n"
    "  svg.addEventListener('mousemove', function (e) {\n"
    "    if (!held) return;\n"
    "    var p = at(e), m = held.m;\n"
    "    var moved = svg.createSVGMatrix()\n"
    "      .translate(p.x - held.p.x, p.y - held.p.y);\n"
    "    set(moved.multiply(m));\n"
    "  });\n"
    "  addEventListener('mouseup', function () { held = null; });\n"
    "});\n"
    "]]></script>\n";

/* Appends `from` with every "&;" (an empty entity that dot writes for an
 * empty text) made valid. */
static void add_with_entities(struct buf *out, struct str from)
{
    ptrdiff_t at;

    while ((at = str_find(from, STR("&;"))) >= 0) {
        buf_add(out, str_first(from, (size_t)at));
        buf_add(out, STR("&amp;;"));
        from = str_skip(from, (size_t)at + 2);
    }
    buf_add(out, from);
}

/* Appends everything up to the mark (which stays in *rest); false if there
 * is none. */
static bool add_until(struct buf *out, struct str *rest, struct str mark)
{
    ptrdiff_t at = str_find(*rest, mark);

    if (at < 0)
        return false;
    add_with_entities(out, str_first(*rest, (size_t)at));
    *rest = str_skip(*rest, (size_t)at);
    return true;
}

/* <svg width="…" height="…" viewBox="…": the whole window instead. */
static void add_full_size(struct buf *out, struct str *rest)
{
    struct str tag = *rest;
    ptrdiff_t box = str_find(tag, STR("viewBox=\""));
    ptrdiff_t end = str_find_char(tag, '>');

    if (box < 0 || end < box)
        return;
    tag = str_skip(tag, (size_t)box + strlen("viewBox=\""));
    ptrdiff_t quote = str_find_char(tag, '"');
    if (quote < 0)
        return;
    buf_add(out, STR("<svg width=\"100%\" height=\"100%\""));
    *rest = str_skip(tag, (size_t)quote + 1);
}

void picture_make_zoomable(struct str svg, struct buf *out)
{
    struct str rest = svg;

    if (add_until(out, &rest, STR("<svg width=")))
        add_full_size(out, &rest);
    if (add_until(out, &rest, STR("<g id=\"graph"))) {
        buf_add(out, str_from(script));
        buf_add(out, STR("<g id=\"viewport\" transform=\"scale(0.5,0.5) "
                         "translate(0,0)\">"));
        if (add_until(out, &rest, STR("</svg>")))
            buf_add(out, STR("</g>"));
    }
    add_with_entities(out, rest);
}

bool picture_draw(const char *format, struct str dot, struct buf *out,
                  struct error *err)
{
    char option[16];
    struct buf drawn = BUF_INIT(BUF_OF_TOOL);
    bool is_svg = strcmp(format, "svg") == 0;

    snprintf(option, sizeof(option), "-T%s", format);
    char *argv[] = {(char[]){"dot"}, option, NULL};
    bool ok = process_filter(argv, dot, is_svg ? &drawn : out, err) ||
              error_wrap(err, "failed to execute dot. Is Graphviz installed? "
                              "Error");
    if (ok && is_svg)
        picture_make_zoomable(buf_str(&drawn), out);
    buf_release(&drawn);
    return ok;
}

#ifndef BASE_HTML_H
#define BASE_HTML_H

#include "base/buf.h"

/*
 * Appends a text with what HTML would take for its own written as entities:
 * & < > " ' and +, as Go's template package does.  Good between tags and
 * inside a quoted attribute, not in a script or a style.
 */
void buf_add_html(struct buf *out, struct str text);

#endif

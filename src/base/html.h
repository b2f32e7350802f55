#ifndef BASE_HTML_H
#define BASE_HTML_H

#include "base/buf.h"

/*
 * Appends a text with & < > " ' and + written as entities, as Go's template
 * package does.  Safe between tags and inside a quoted attribute, but not in a
 * script or a style.
 */
void buf_add_html(struct buf *out, struct str text);

#endif

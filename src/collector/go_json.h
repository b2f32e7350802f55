#ifndef COLLECTOR_GO_JSON_H
#define COLLECTOR_GO_JSON_H

#include "base/buf.h"
#include "base/str.h"

/*
 * Appends a JSON string, escaped as Go's encoding/json does it by default:
 * <, >, &, U+2028 and U+2029 as \uXXXX, bytes that are not UTF-8 as \ufffd.
 * Clients of profefe compare these texts.
 */
void go_json_string(struct buf *out, struct str text);

#endif

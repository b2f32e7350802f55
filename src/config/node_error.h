#ifndef CONFIG_NODE_ERROR_H
#define CONFIG_NODE_ERROR_H

#include "config/node.h"

/*
 * Errors about a document and its nodes; each returns false.
 */

/* "file:line:column: words", from 1; line 0: without. */
bool document_fail(const struct document *d, uint32_t line, uint32_t column,
                   struct error *err, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* "file:line:column: PATH words", without line and column in JSON.  The second
 * one gives the place of the node's key. */
bool node_fail(const struct node *n, struct error *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool node_fail_key(const struct node *n, struct error *err, const char *fmt,
                   ...) __attribute__((format(printf, 3, 4)));

#endif

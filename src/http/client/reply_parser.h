#ifndef HTTP_CLIENT_REPLY_PARSER_H
#define HTTP_CLIENT_REPLY_PARSER_H

#include "base/buf.h"
#include "http/server/chunks.h"
#include "http/server/message.h"

/*
 * A server's reply, as far as a client of small APIs needs it: the status, and
 * the body that Content-Length, chunks or the end of the connection says is
 * complete.  Works on bytes as they arrive; none is read twice.
 *
 *     struct reply_parser p;
 *     reply_parser_init(&p);
 *     while (… && reply_parser_feed(&p, bytes, &body) == HTTP_INCOMPLETE)
 *         …
 *     reply_parser_release(&p);
 */
struct reply_parser {
    int status; /* once the head is complete */
    bool has_head, is_chunked, has_length;
    uint64_t length;
    uint64_t retry_after_s; /* Retry-After, if it is a number of seconds */
    struct buf head;
    size_t line_at; /* of `head`: where the current line starts */
    struct http_chunks chunks;
};

void reply_parser_init(struct reply_parser *p);
void reply_parser_release(struct reply_parser *p);

/* Appends to `body`, whose max is the limit: beyond it, MALFORMED. */
enum http_parsed reply_parser_feed(struct reply_parser *p, struct str bytes,
                                   struct buf *body);

/* The server has closed the connection: returns true if the reply is
 * complete. */
bool reply_parser_end(const struct reply_parser *p);

#endif

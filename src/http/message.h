#ifndef HTTP_MESSAGE_H
#define HTTP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * HTTP/1.x requests from bytes, and replies to bytes.
 *
 * Everything in a parsed request is a view of the bytes it came from;
 * nothing is allocated, nothing is unbounded.  The parser is strict where
 * laxness has been a hole (a Content-Length beside Transfer-Encoding, bare
 * CR, blanks before a colon, control bytes) and takes what real clients send.
 */
#define HTTP_MAX_HEADERS 64

struct http_header {
    struct str name, value;
};

struct http_request {
    struct str method;
    struct str target; /* as it was sent: /debug/pprof/heap?debug=1 */
    struct str path;   /* of the target, not decoded */
    struct str query;  /* of the target, without '?', not decoded */
    int minor;         /* HTTP/1.minor */
    struct http_header headers[HTTP_MAX_HEADERS];
    size_t n_headers;
    bool keep_alive;
    bool chunked;        /* the body comes in chunks */
    bool expects_100;    /* the client waits for "100 Continue" */
    uint64_t body_bytes; /* Content-Length, 0 without */
    struct str body;     /* once it is complete */
};

enum http_parsed {
    HTTP_INCOMPLETE, /* more bytes are needed */
    HTTP_COMPLETE,
    HTTP_MALFORMED, /* *status says which 4xx or 5xx to answer */
};

/*
 * Reads the request line and headers from the front of `bytes`.  When
 * complete, *used is their length, blank line included.  A head of more than
 * max_bytes is refused with 431.
 */
enum http_parsed http_parse_head(struct str bytes, size_t max_bytes,
                                 struct http_request *out, size_t *used,
                                 int *status);

/*
 * Unpacks a chunked body at the front of bytes[0..n) in place: *body_n bytes
 * of body are left at its start, *used bytes were read.  More than max_body
 * bytes are refused with 413.  Call it again from the start when more bytes
 * have come: an incomplete body is not touched.
 */
enum http_parsed http_unpack_chunks(char *bytes, size_t n, size_t max_body,
                                    size_t *body_n, size_t *used, int *status);

/* The value of a header, by name without regard to case; s == NULL if
 * absent. */
struct str http_request_header(const struct http_request *r, struct str name);

/* The standard words for a status: 404 -> "Not Found". */
const char *http_status_words(int status);

/*
 * Appends the head of a reply: status line, Date, Content-Length (of
 * body_bytes), Connection, then `headers` (complete lines, each ending in
 * CRLF), then the blank line.
 */
void http_write_head(struct buf *out, int status, struct str headers,
                     uint64_t body_bytes, bool keep_alive);

#endif

#ifndef HTTP_SERVER_MESSAGE_H
#define HTTP_SERVER_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * HTTP/1.x requests from bytes, and replies to bytes.
 *
 * Everything in a parsed request is a view of the bytes it came from; nothing
 * is allocated, and everything is limited.  The parser is strict where leniency
 * has caused vulnerabilities (Content-Length together with Transfer-Encoding,
 * bare CR, white space before a colon, control bytes) and accepts what real
 * clients send.
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
    struct str body;     /* once it is complete: for handlers, not admission */
};

enum http_parsed {
    HTTP_INCOMPLETE, /* more bytes are needed */
    HTTP_COMPLETE,
    HTTP_MALFORMED, /* *status says which 4xx or 5xx to answer */
};

/*
 * Looks for the end of a head in bytes that arrive piece by piece, without
 * scanning any byte twice.  Call it again with the same bytes and more; zero
 * the struct for the next request.
 *
 * COMPLETE: the head is the first scan->at bytes, for http_parse_head().
 * MALFORMED: longer than max_bytes (431), or a first line that is no request
 * line (400, 505): said at once, since the blank line may never come.
 */
struct http_head_scan {
    size_t at;        /* bytes looked at */
    size_t line_at;   /* where the current line starts */
    bool has_request; /* the request line was seen */
};

enum http_parsed http_scan_head(struct http_head_scan *scan, struct str bytes,
                                size_t max_bytes, int *status);

/*
 * Reads the request line and headers from the front of `bytes`.  When
 * complete, *used is their length, blank line included.  A head of more than
 * max_bytes is refused with 431.
 */
enum http_parsed http_parse_head(struct str bytes, size_t max_bytes,
                                 struct http_request *out, size_t *used,
                                 int *status);

/* The value of a header, by name without regard to case; s == NULL if
 * absent. */
struct str http_request_header(const struct http_request *r, struct str name);

/* Returns true if the word is in a header that is a list, such as "gzip,
 * br;q=0.5".  Words with q=0 do not count. */
bool http_header_lists(struct str value, struct str word);

/* The standard words for a status: 404 -> "Not Found". */
const char *http_status_words(int status);

/*
 * Appends the head of a reply: status line, Date, the framing of the body,
 * Connection, then `headers` (complete lines, each ending in CRLF), then the
 * blank line.
 */
enum http_framing {
    HTTP_FRAMING_LENGTH,  /* Content-Length: body_bytes */
    HTTP_FRAMING_CHUNKED, /* Transfer-Encoding: chunked */
    HTTP_FRAMING_CLOSE,   /* the body ends with the connection: HTTP/1.0 */
};

struct http_reply_head {
    int status;
    struct str headers;
    enum http_framing framing;
    uint64_t body_bytes;
    bool keep_alive;
};

void http_write_head(struct buf *out, const struct http_reply_head *head);

/* Appends text of a client in quotes, for a line of a log: control characters
 * and quotes become '?'. */
void http_add_quoted(struct buf *out, struct str text);

#endif

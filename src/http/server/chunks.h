#ifndef HTTP_SERVER_CHUNKS_H
#define HTTP_SERVER_CHUNKS_H

#include <stdint.h>

#include "base/buf.h"
#include "http/server/message.h"

/*
 * Decodes a body in "Transfer-Encoding: chunked".
 *
 * A state machine: every byte is looked at once, however the bytes are cut
 * into reads, so a sender of tiny chunks costs no more than the bytes it
 * sends.  Chunk extensions and trailers are skipped; both are bounded.
 *
 * Start from a zeroed struct.
 */
enum http_chunks_state {
    CHUNKS_SIZE,      /* hex digits */
    CHUNKS_EXTENSION, /* the rest of the line of the size */
    CHUNKS_SIZE_CR,   /* … its CR: LF must follow */
    CHUNKS_DATA,
    CHUNKS_DATA_END, /* CRLF or LF behind the data */
    CHUNKS_DATA_CR,
    CHUNKS_TRAILER,    /* at the start of a line after the last chunk */
    CHUNKS_TRAILER_IN, /* within such a line */
    CHUNKS_TRAILER_CR, /* CR at the start of a line: LF ends the body */
    CHUNKS_DONE,
};

struct http_chunks {
    enum http_chunks_state state;
    uint64_t left;   /* of the chunk; or its size, while that is read */
    unsigned digits; /* of the size */
    size_t skipped;  /* bytes of extensions and trailers */
    uint64_t data;   /* decoded so far */
};

/*
 * Takes bytes off the front of *in and appends the decoded ones to `out`.
 * COMPLETE: *in starts behind the body.  INCOMPLETE: all of *in was used.
 * MALFORMED: *status is 400, or 413 for more than max_body bytes.  Ask
 * buf_ok(out), too: memory may run out.
 */
enum http_parsed http_chunks_decode(struct http_chunks *c, struct str *in,
                                    size_t max_body, struct buf *out,
                                    int *status);

#endif

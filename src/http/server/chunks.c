/*
 * One switch over the states.  Data is copied in runs, everything else is
 * read byte by byte.  A line may end in LF alone, as some clients write it,
 * but a CR that no LF follows is refused: proxies disagree about its meaning.
 */
#include "http/server/chunks.h"

#include <assert.h>

#define MAX_SKIPPED ((size_t)64 << 10) /* extensions and trailers */
#define MAX_DIGITS  16

/* The line of a chunk's size has ended. */
static bool begin_chunk(struct http_chunks *c, size_t max_body, int *status)
{
    if (c->digits == 0)
        return false;
    if (c->left > max_body - c->data) {
        *status = 413;
        return false;
    }
    c->state = c->left ? CHUNKS_DATA : CHUNKS_TRAILER;
    c->digits = 0;
    return true;
}

static bool read_size(struct http_chunks *c, char byte)
{
    int digit = str_digit(byte);

    if (digit < 16) {
        c->left = c->digits ? c->left << 4 | (unsigned)digit : (unsigned)digit;
        return ++c->digits <= MAX_DIGITS;
    }
    if (c->digits == 0)
        return false;
    c->state = CHUNKS_EXTENSION;
    return byte == ';' || byte == ' ' || byte == '\t';
}

static void take_data(struct http_chunks *c, struct str *in, struct buf *out)
{
    size_t n = c->left < in->n ? (size_t)c->left : in->n;

    buf_add(out, str_first(*in, n));
    *in = str_skip(*in, n);
    c->left -= n;
    c->data += n;
    if (c->left == 0)
        c->state = CHUNKS_DATA_END;
}

/* One byte that is not data; false: malformed. */
static bool take_byte(struct http_chunks *c, char byte, size_t max_body,
                      int *status)
{
    switch (c->state) {
    case CHUNKS_SIZE:
    case CHUNKS_EXTENSION:
        if (byte == '\r') {
            c->state = CHUNKS_SIZE_CR;
            return true;
        }
        if (byte == '\n')
            return begin_chunk(c, max_body, status);
        if (c->state == CHUNKS_SIZE)
            return read_size(c, byte);
        return ++c->skipped <= MAX_SKIPPED;
    case CHUNKS_SIZE_CR:
        return byte == '\n' && begin_chunk(c, max_body, status);
    case CHUNKS_DATA_END:
    case CHUNKS_DATA_CR:
        if (byte == '\r' && c->state == CHUNKS_DATA_END) {
            c->state = CHUNKS_DATA_CR;
            return true;
        }
        c->state = CHUNKS_SIZE;
        return byte == '\n';
    case CHUNKS_TRAILER:
        c->state = byte == '\n'   ? CHUNKS_DONE
                   : byte == '\r' ? CHUNKS_TRAILER_CR
                                  : CHUNKS_TRAILER_IN;
        return ++c->skipped <= MAX_SKIPPED;
    case CHUNKS_TRAILER_IN:
        if (byte == '\n')
            c->state = CHUNKS_TRAILER;
        return ++c->skipped <= MAX_SKIPPED;
    case CHUNKS_TRAILER_CR:
        c->state = CHUNKS_DONE;
        return byte == '\n';
    case CHUNKS_DATA:
    case CHUNKS_DONE:
        break;
    }
    return false;
}

enum http_parsed http_chunks_decode(struct http_chunks *c, struct str *in,
                                    size_t max_body, struct buf *out,
                                    int *status)
{
    assert(c->data <= max_body);
    while (in->n > 0 && c->state != CHUNKS_DONE) {
        char byte = in->s[0];

        if (c->state == CHUNKS_DATA) {
            take_data(c, in, out);
            continue;
        }
        *in = str_skip(*in, 1);
        *status = 400;
        if (!take_byte(c, byte, max_body, status))
            return HTTP_MALFORMED;
    }
    return c->state == CHUNKS_DONE ? HTTP_COMPLETE : HTTP_INCOMPLETE;
}

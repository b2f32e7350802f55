/*
 * The head is collected until its blank line and then read once; the body is
 * decoded as it arrives.  A reply with two lengths, or with an encoding that
 * was not asked for, is refused rather than guessed at.
 */
#include "http/client/reply_parser.h"

#define MAX_HEAD_BYTES  ((size_t)32 << 10)
#define MAX_RETRY_AFTER 86400 /* seconds; more is not meant seriously */

void reply_parser_init(struct reply_parser *p)
{
    *p = (struct reply_parser){.head = BUF_INIT(MAX_HEAD_BYTES)};
}

void reply_parser_release(struct reply_parser *p)
{
    buf_release(&p->head);
}

/* "HTTP/1.1 201 Created" */
static bool parse_status(struct str line, int *out)
{
    uint64_t status;

    if (line.n < 12 || !str_has_prefix(line, STR("HTTP/1.")) ||
        line.s[8] != ' ' || (line.n > 12 && line.s[12] != ' ') ||
        !str_to_u64(str_of(line.s + 9, 3), 10, &status) || status < 100)
        return false;
    *out = (int)status;
    return true;
}

static bool parse_header(struct str line, struct reply_parser *p)
{
    ptrdiff_t colon = str_find_char(line, ':');
    struct str name, value;

    if (colon <= 0)
        return false;
    name = str_first(line, (size_t)colon);
    value = str_trim(str_skip(line, (size_t)colon + 1));
    if (str_eq_nocase(name, STR("Transfer-Encoding"))) {
        if (p->is_chunked || !str_eq_nocase(value, STR("chunked")))
            return false;
        p->is_chunked = true;
    } else if (str_eq_nocase(name, STR("Content-Length"))) {
        if (p->has_length || !str_to_u64(value, 10, &p->length))
            return false;
        p->has_length = true;
    } else if (str_eq_nocase(name, STR("Retry-After"))) {
        if (!str_to_u64(value, 10, &p->retry_after_s) ||
            p->retry_after_s > MAX_RETRY_AFTER)
            p->retry_after_s = 0;
    }
    return true;
}

static bool parse_head(struct reply_parser *p)
{
    struct str head = buf_str(&p->head), line;

    if (!str_next_line(&head, &line) || !parse_status(line, &p->status))
        return false;
    while (str_next_line(&head, &line) && line.n > 0)
        if (!parse_header(line, p))
            return false;
    /* Two lengths are one too many to trust either. */
    return !(p->is_chunked && p->has_length);
}

/* Takes bytes of the head off the front, up to its blank line. */
static enum http_parsed take_head(struct reply_parser *p, struct str *bytes)
{
    while (bytes->n > 0) {
        ptrdiff_t lf = str_find_char(*bytes, '\n');
        size_t n = lf < 0 ? bytes->n : (size_t)lf + 1;
        struct str line;

        buf_add(&p->head, str_first(*bytes, n));
        *bytes = str_skip(*bytes, n);
        if (!buf_ok(&p->head))
            return HTTP_MALFORMED;
        if (lf < 0)
            break;
        line = str_skip(buf_str(&p->head), p->line_at);
        if (line.n == 1 || str_eq(line, STR("\r\n"))) {
            p->has_head = parse_head(p);
            return p->has_head ? HTTP_COMPLETE : HTTP_MALFORMED;
        }
        p->line_at = p->head.len;
    }
    return HTTP_INCOMPLETE;
}

static enum http_parsed take_body(struct reply_parser *p, struct str bytes,
                                  struct buf *body)
{
    enum http_parsed parsed = HTTP_INCOMPLETE;
    int ignored;

    if (p->is_chunked) {
        parsed =
            http_chunks_decode(&p->chunks, &bytes, body->max, body, &ignored);
    } else {
        if (p->has_length && p->length > body->max)
            return HTTP_MALFORMED;
        if (p->has_length && bytes.n > p->length - body->len)
            bytes.n = (size_t)(p->length - body->len);
        buf_add(body, bytes);
        if (p->has_length && body->len == p->length)
            parsed = HTTP_COMPLETE;
    }
    return buf_ok(body) ? parsed : HTTP_MALFORMED;
}

enum http_parsed reply_parser_feed(struct reply_parser *p, struct str bytes,
                                   struct buf *body)
{
    if (!p->has_head) {
        enum http_parsed parsed = take_head(p, &bytes);

        if (parsed != HTTP_COMPLETE)
            return parsed;
    }
    return take_body(p, bytes, body);
}

bool reply_parser_end(const struct reply_parser *p)
{
    return p->has_head && !p->is_chunked && !p->has_length;
}

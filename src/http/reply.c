#include "http/reply.h"

#include <strings.h>

#define MAX_HEAD_BYTES ((size_t)32 << 10)

struct reply_head {
    int status;
    bool chunked, has_length;
    uint64_t length;
};

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

static bool is_named(struct str name, struct str wanted)
{
    return name.n == wanted.n && strncasecmp(name.s, wanted.s, name.n) == 0;
}

static bool parse_header(struct str line, struct reply_head *h)
{
    ptrdiff_t colon = str_find_char(line, ':');
    struct str name, value;

    if (colon <= 0)
        return false;
    name = str_first(line, (size_t)colon);
    value = str_trim(str_skip(line, (size_t)colon + 1));
    if (is_named(name, STR("Transfer-Encoding"))) {
        if (h->chunked || !is_named(value, STR("chunked")))
            return false;
        h->chunked = true;
    } else if (is_named(name, STR("Content-Length"))) {
        if (h->has_length || !str_to_u64(value, 10, &h->length))
            return false;
        h->has_length = true;
    }
    return true;
}

static bool parse_head(struct str head, struct reply_head *h)
{
    struct str line;

    if (!str_next_line(&head, &line) || !parse_status(line, &h->status))
        return false;
    while (str_next_line(&head, &line))
        if (!parse_header(line, h))
            return false;
    /* Two lengths are one too many to trust either. */
    return !(h->chunked && h->has_length);
}

enum http_parsed http_parse_reply(char *bytes, size_t n, size_t max_body,
                                  bool ended, int *status, size_t *body_at,
                                  size_t *body_n)
{
    struct str all = str_of(bytes, n);
    ptrdiff_t end = str_find(all, STR("\r\n\r\n"));
    struct reply_head h = {0};
    size_t used;
    int ignored;

    if (end < 0)
        return n > MAX_HEAD_BYTES || ended ? HTTP_MALFORMED : HTTP_INCOMPLETE;
    if (!parse_head(str_first(all, (size_t)end), &h))
        return HTTP_MALFORMED;
    *status = h.status;
    *body_at = (size_t)end + 4;
    n -= *body_at;
    if (h.chunked) {
        enum http_parsed parsed = http_unpack_chunks(
            bytes + *body_at, n, max_body, body_n, &used, &ignored);

        return parsed == HTTP_INCOMPLETE && ended ? HTTP_MALFORMED : parsed;
    }
    if (n > max_body || h.length > max_body)
        return HTTP_MALFORMED;
    *body_n = h.has_length ? (size_t)h.length : n;
    if (h.has_length ? n >= h.length : ended)
        return HTTP_COMPLETE;
    return ended ? HTTP_MALFORMED : HTTP_INCOMPLETE;
}

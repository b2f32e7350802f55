#include "http/message.h"

#include <ctype.h>
#include <strings.h>
#include <time.h>

/* token characters of RFC 9110, 5.6.2 */
static bool is_token_char(unsigned char c)
{
    return isalnum(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_token_char((unsigned char)s.s[i]))
            return false;
    return s.n > 0;
}

static bool equals_ignoring_case(struct str a, struct str b)
{
    return a.n == b.n && strncasecmp(a.s, b.s, a.n) == 0;
}

/* Is `word` one of the words of a comma-separated header value? */
static bool has_word(struct str list, struct str word)
{
    struct str item;

    while (str_split(&list, ',', &item))
        if (equals_ignoring_case(str_trim(item), word))
            return true;
    return false;
}

static bool parse_target(struct str target, struct http_request *r)
{
    ptrdiff_t question;

    for (size_t i = 0; i < target.n; i++)
        if ((unsigned char)target.s[i] <= ' ' || target.s[i] == 0x7f)
            return false;
    r->target = target;
    /* A proxy's form: http://host/path */
    if (str_has_prefix(target, STR("http://")) ||
        str_has_prefix(target, STR("https://"))) {
        struct str rest = str_skip(target, (size_t)str_find_char(target, ':'));
        ptrdiff_t slash;

        rest = str_skip(rest, 3);
        slash = str_find_char(rest, '/');
        target = slash < 0 ? STR("/") : str_skip(rest, (size_t)slash);
    }
    question = str_find_char(target, '?');
    r->path = question < 0 ? target : str_first(target, (size_t)question);
    r->query = question < 0 ? STR("") : str_skip(target, (size_t)question + 1);
    return r->path.n > 0 && (r->path.s[0] == '/' || str_eq(target, STR("*")));
}

/* "GET /path HTTP/1.1"; 0 or the status to refuse it with. */
static int parse_request_line(struct str line, struct http_request *r)
{
    struct str target, version, rest = line;

    if (!str_split(&rest, ' ', &r->method) || !is_token(r->method) ||
        !str_split(&rest, ' ', &target) || !parse_target(target, r) ||
        !str_split(&rest, ' ', &version) || rest.s)
        return 400;
    if (version.n != 8 || !str_has_prefix(version, STR("HTTP/")) ||
        !isdigit((unsigned char)version.s[5]) || version.s[6] != '.' ||
        !isdigit((unsigned char)version.s[7]))
        return 400;
    if (version.s[5] != '1')
        return 505;
    r->minor = version.s[7] - '0';
    return 0;
}

static int parse_header_line(struct str line, struct http_request *r)
{
    ptrdiff_t colon = str_find_char(line, ':');
    struct http_header *h;

    if (colon <= 0 || r->n_headers == HTTP_MAX_HEADERS)
        return colon <= 0 ? 400 : 431;
    h = &r->headers[r->n_headers];
    h->name = str_first(line, (size_t)colon);
    h->value = str_trim(str_skip(line, (size_t)colon + 1));
    if (!is_token(h->name))
        return 400;
    for (size_t i = 0; i < h->value.n; i++)
        if (((unsigned char)h->value.s[i] < ' ' && h->value.s[i] != '\t') ||
            h->value.s[i] == 0x7f)
            return 400;
    r->n_headers++;
    return 0;
}

struct str http_request_header(const struct http_request *r, struct str name)
{
    for (size_t i = 0; i < r->n_headers; i++)
        if (equals_ignoring_case(r->headers[i].name, name))
            return r->headers[i].value;
    return (struct str){NULL, 0};
}

static int count_headers(const struct http_request *r, struct str name)
{
    int n = 0;

    for (size_t i = 0; i < r->n_headers; i++)
        n += equals_ignoring_case(r->headers[i].name, name);
    return n;
}

/* How the body is framed.  Two ways at once are how requests are smuggled
 * past a proxy: refused. */
static int read_framing(struct http_request *r)
{
    struct str length = http_request_header(r, STR("Content-Length"));
    struct str coding = http_request_header(r, STR("Transfer-Encoding"));
    struct str connection = http_request_header(r, STR("Connection"));

    if (count_headers(r, STR("Content-Length")) > 1 ||
        count_headers(r, STR("Transfer-Encoding")) > 1 ||
        count_headers(r, STR("Host")) > 1 || (length.s && coding.s))
        return 400;
    if (length.s && !str_to_u64(length, 10, &r->body_bytes))
        return 400;
    if (coding.s && !equals_ignoring_case(coding, STR("chunked")))
        return 501;
    r->chunked = coding.s != NULL;
    if (r->minor >= 1 && !http_request_header(r, STR("Host")).s)
        return 400;
    r->keep_alive = r->minor >= 1 ? !has_word(connection, STR("close"))
                                  : has_word(connection, STR("keep-alive"));
    r->expects_100 = r->minor >= 1 &&
                     equals_ignoring_case(http_request_header(r, STR("Expect")),
                                          STR("100-continue"));
    return 0;
}

/* Takes a line ending in LF or CRLF off the front. */
static bool take_line(struct str *rest, struct str *line)
{
    ptrdiff_t lf = str_find_char(*rest, '\n');

    if (lf < 0)
        return false;
    *line = str_first(*rest, (size_t)lf);
    if (line->n && line->s[line->n - 1] == '\r')
        line->n--;
    *rest = str_skip(*rest, (size_t)lf + 1);
    return true;
}

enum http_parsed http_parse_head(struct str bytes, size_t max_bytes,
                                 struct http_request *out, size_t *used,
                                 int *status)
{
    struct str rest = str_first(bytes, max_bytes), line;
    bool first = true;

    *out = (struct http_request){0};
    *status = 0;
    while (take_line(&rest, &line)) {
        if (line.n == 0 && first) /* blank lines before a request: allowed */
            continue;
        if (line.n == 0) {
            *status = read_framing(out);
            *used = (size_t)(rest.s - bytes.s);
            return *status ? HTTP_MALFORMED : HTTP_COMPLETE;
        }
        *status = first ? parse_request_line(line, out)
                        : parse_header_line(line, out);
        first = false;
        if (*status)
            return HTTP_MALFORMED;
    }
    if (bytes.n < max_bytes)
        return HTTP_INCOMPLETE;
    *status = 431;
    return HTTP_MALFORMED;
}

/* One pass over a chunked body; `to` NULL only measures. */
static enum http_parsed walk_chunks(struct str rest, size_t max_body, char *to,
                                    size_t *body_n, struct str *end,
                                    int *status)
{
    struct str line;
    size_t total = 0;

    while (take_line(&rest, &line)) {
        ptrdiff_t semicolon = str_find_char(line, ';');
        uint64_t size;

        if (semicolon >= 0)
            line = str_first(line, (size_t)semicolon);
        *status = 400;
        if (!str_to_u64(str_trim(line), 16, &size))
            return HTTP_MALFORMED;
        if (size == 0) { /* trailers, then a blank line */
            while (take_line(&rest, &line)) {
                if (line.n)
                    continue;
                *body_n = total;
                *end = rest;
                return HTTP_COMPLETE;
            }
            return HTTP_INCOMPLETE;
        }
        *status = 413;
        if (size > max_body - total)
            return HTTP_MALFORMED;
        if (rest.n < size)
            return HTTP_INCOMPLETE;
        if (to)
            memmove(to + total, rest.s, size);
        total += size;
        rest = str_skip(rest, size);
        *status = 400;
        if (rest.n && rest.s[0] != '\r' && rest.s[0] != '\n')
            return HTTP_MALFORMED;
        if (!take_line(&rest, &line))
            return HTTP_INCOMPLETE;
        if (line.n)
            return HTTP_MALFORMED;
    }
    return HTTP_INCOMPLETE;
}

enum http_parsed http_unpack_chunks(char *bytes, size_t n, size_t max_body,
                                    size_t *body_n, size_t *used, int *status)
{
    struct str all = str_of(bytes, n), end;
    enum http_parsed parsed =
        walk_chunks(all, max_body, NULL, body_n, &end, status);

    if (parsed != HTTP_COMPLETE)
        return parsed;
    *used = (size_t)(end.s - bytes);
    return walk_chunks(all, max_body, bytes, body_n, &end, status);
}

const char *http_status_words(int status)
{
    switch (status) {
    case 100:
        return "Continue";
    case 200:
        return "OK";
    case 204:
        return "No Content";
    case 301:
        return "Moved Permanently";
    case 302:
        return "Found";
    case 304:
        return "Not Modified";
    case 307:
        return "Temporary Redirect";
    case 400:
        return "Bad Request";
    case 401:
        return "Unauthorized";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 408:
        return "Request Timeout";
    case 413:
        return "Content Too Large";
    case 429:
        return "Too Many Requests";
    case 431:
        return "Request Header Fields Too Large";
    case 500:
        return "Internal Server Error";
    case 501:
        return "Not Implemented";
    case 503:
        return "Service Unavailable";
    case 505:
        return "HTTP Version Not Supported";
    default:
        return "Status";
    }
}

/* Not strftime: the process may speak another language. */
static void write_date(struct buf *out)
{
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed",
                                   "Thu", "Fri", "Sat"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    time_t now = time(NULL);
    struct tm tm;

    gmtime_r(&now, &tm);
    buf_addf(out, "Date: %s, %02d %s %d %02d:%02d:%02d GMT\r\n",
             days[tm.tm_wday], tm.tm_mday, months[tm.tm_mon], tm.tm_year + 1900,
             tm.tm_hour, tm.tm_min, tm.tm_sec);
}

void http_write_head(struct buf *out, int status, struct str headers,
                     uint64_t body_bytes, bool keep_alive)
{
    buf_addf(out, "HTTP/1.1 %d %s\r\n", status, http_status_words(status));
    write_date(out);
    buf_addf(out, "Content-Length: %llu\r\n", (unsigned long long)body_bytes);
    if (!keep_alive)
        buf_add(out, STR("Connection: close\r\n"));
    buf_add(out, headers);
    buf_add(out, STR("\r\n"));
}

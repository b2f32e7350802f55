/*
 * Requests are read strictly: what two parties could read in two ways is
 * refused, because that is how requests are smuggled past a proxy.  Replies
 * are written by hand rather than with strftime and friends, because the
 * process may use another locale.
 */
#include "http/server/message.h"

#include <assert.h>
#include <ctype.h>
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
    return str_eq_nocase(a, b);
}

/* Returns true if `word` is one of the words of a comma-separated header
 * value. */
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

static bool is_off(struct str parameters)
{
    struct str p;

    while (str_split(&parameters, ';', &p)) {
        p = str_trim(p);
        if (str_eq(p, STR("q=0")) || str_eq(p, STR("q=0.0")) ||
            str_eq(p, STR("q=0.00")) || str_eq(p, STR("q=0.000")))
            return true;
    }
    return false;
}

bool http_header_lists(struct str value, struct str word)
{
    struct str item;

    while (str_split(&value, ',', &item)) {
        ptrdiff_t semicolon = str_find_char(item, ';');
        size_t n = semicolon < 0 ? item.n : (size_t)semicolon;

        if (str_eq(str_trim(str_first(item, n)), word))
            return !is_off(str_skip(item, n));
    }
    return false;
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

enum http_parsed http_scan_head(struct http_head_scan *scan, struct str bytes,
                                size_t max_bytes, int *status)
{
    struct str rest = str_skip(str_first(bytes, max_bytes), scan->at), line;
    struct http_request ignored;

    assert(scan->line_at <= scan->at && scan->at <= bytes.n);
    for (;;) {
        ptrdiff_t lf = str_find_char(rest, '\n');

        if (lf < 0)
            break;
        rest = str_skip(rest, (size_t)lf + 1);
        line = str_of(bytes.s + scan->line_at,
                      (size_t)(rest.s - 1 - bytes.s) - scan->line_at);
        scan->at = scan->line_at = (size_t)(rest.s - bytes.s);
        if (line.n && line.s[line.n - 1] == '\r')
            line.n--;
        if (line.n == 0 && scan->has_request)
            return HTTP_COMPLETE;
        if (line.n && !scan->has_request) {
            *status = parse_request_line(line, &ignored);
            if (*status)
                return HTTP_MALFORMED;
            scan->has_request = true;
        }
    }
    scan->at = bytes.n < max_bytes ? bytes.n : max_bytes;
    if (bytes.n < max_bytes)
        return HTTP_INCOMPLETE;
    *status = 431;
    return HTTP_MALFORMED;
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

static const struct {
    int status;
    const char *words;
} statuses[] = {
    {100, "Continue"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
};

const char *http_status_words(int status)
{
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
        if (statuses[i].status == status)
            return statuses[i].words;
    return "Status";
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

/* 1xx, 204 and 304 have no body, and 204 must not even state its length. */
static void write_framing(struct buf *out, const struct http_reply_head *head)
{
    if (head->framing == HTTP_FRAMING_CHUNKED)
        buf_add(out, STR("Transfer-Encoding: chunked\r\n"));
    else if (head->framing == HTTP_FRAMING_LENGTH && head->status != 204)
        buf_addf(out, "Content-Length: %llu\r\n",
                 (unsigned long long)head->body_bytes);
}

void http_write_head(struct buf *out, const struct http_reply_head *head)
{
    assert(head->status >= 200 && head->status <= 999);
    buf_addf(out, "HTTP/1.1 %d %s\r\n", head->status,
             http_status_words(head->status));
    write_date(out);
    write_framing(out, head);
    if (!head->keep_alive)
        buf_add(out, STR("Connection: close\r\n"));
    buf_add(out, head->headers);
    buf_add(out, STR("\r\n"));
}

void http_add_quoted(struct buf *out, struct str text)
{
    buf_add_char(out, '"');
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.s[i];

        buf_add_char(out, c < ' ' || c == '"' || c == 0x7f ? '?' : (char)c);
    }
    buf_add_char(out, '"');
}

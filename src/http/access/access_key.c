/*
 * The key moves from the URL into a cookie with the first request, so that it
 * stays neither in the browser's history nor in a Referer header.
 */
#include "http/access/access_key.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

#include "http/access/credentials.h"

bool access_key_init(struct access_key *key, struct error *err)
{
    unsigned char bytes[20];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return error_set_os(err, "read", "random bytes", errno);
    for (size_t i = 0; i < 16; i++)
        snprintf(key->text + 2 * i, 3, "%02x", bytes[i]);
    snprintf(key->cookie, sizeof(key->cookie), "pprof_%02x%02x%02x%02x",
             bytes[16], bytes[17], bytes[18], bytes[19]);
    return true;
}

static bool has_cookie(const struct access_key *key,
                       const struct http_request *r)
{
    struct str all = http_request_header(r, STR("Cookie")), one;
    struct str name = str_from(key->cookie);

    while (str_split(&all, ';', &one)) {
        one = str_trim(one);
        if (one.n > name.n && str_has_prefix(one, name) &&
            one.s[name.n] == '=' &&
            credentials_equal(str_skip(one, name.n + 1), str_from(key->text)))
            return true;
    }
    return false;
}

static bool has_credentials(const struct access_key *key,
                            const struct http_request *r)
{
    struct credentials c;

    credentials_read(r, &c);
    return (c.kind == CREDENTIALS_BEARER || c.kind == CREDENTIALS_BASIC) &&
           credentials_equal(c.secret, str_from(key->text));
}

/* "?token=KEY" and its place in the query. */
static bool has_parameter(const struct access_key *key, struct str query,
                          struct str *found)
{
    struct str name = STR("token=");

    while (str_split(&query, '&', found))
        if (str_has_prefix(*found, name) &&
            credentials_equal(str_skip(*found, name.n), str_from(key->text)))
            return true;
    return false;
}

/* To where it came from, without the key: it shall stay in no history. */
static void send_on(const struct access_key *key, struct http_exchange *x,
                    struct str parameter)
{
    struct str query = x->request->query, one;
    char mark = '?';

    x->status = 302;
    buf_addf(&x->headers,
             "Set-Cookie: %s=%s; Path=/; HttpOnly; SameSite=Lax%s\r\n"
             "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
             "Location: %" STR_FMT,
             key->cookie, key->text, x->client->is_tls ? "; Secure" : "",
             STR_ARG(x->request->path));
    while (str_split(&query, '&', &one)) {
        if (one.s == parameter.s)
            continue;
        buf_addf(&x->headers, "%c%" STR_FMT, mark, STR_ARG(one));
        mark = '&';
    }
    buf_add(&x->headers, STR("\r\n"));
}

/* "//host" and "/\\host" lead a browser elsewhere. */
static bool is_plain(struct str path)
{
    return path.n < 2 || (path.s[1] != '/' && path.s[1] != '\\');
}

bool access_key_check(const struct access_key *key, struct http_exchange *x)
{
    bool reads = str_eq(x->request->method, STR("GET")) ||
                 str_eq(x->request->method, STR("HEAD"));
    struct str parameter;

    if (has_cookie(key, x->request) || has_credentials(key, x->request))
        return true;
    if (reads && is_plain(x->request->path) &&
        has_parameter(key, x->request->query, &parameter)) {
        send_on(key, x, parameter);
        return false;
    }
    http_exchange_refuse(x, 403,
                         "open the URL that pprof printed: it has the token "
                         "that this page asks for");
    return false;
}

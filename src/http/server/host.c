/*
 * A Host header is taken apart strictly: "[::1]evil.example" and
 * "127.0.0.1:evil.example" start like an address of this machine, and a lax
 * reader would stop there.
 */
#include "http/server/host.h"

#include <arpa/inet.h>
#include <ctype.h>

static bool is_address(struct str name, int family)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    char text[INET6_ADDRSTRLEN];

    if (name.n >= sizeof(text))
        return false;
    memcpy(text, name.s, name.n);
    text[name.n] = '\0';
    return inet_pton(family, text, bytes) == 1;
}

static bool is_name(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!isalnum((unsigned char)name.s[i]) && name.s[i] != '.' &&
            name.s[i] != '-' && name.s[i] != '_')
            return false;
    return name.n > 0;
}

/* "name", "name:port", "[::1]", "[::1]:port"; the name without brackets. */
static bool split(struct str host, struct str *name, bool *is_v6)
{
    ptrdiff_t end = str_find_char(host, ']');
    struct str port;
    uint64_t number;

    *is_v6 = host.n > 0 && host.s[0] == '[';
    if (*is_v6 && end < 0)
        return false;
    if (*is_v6) {
        *name = str_of(host.s + 1, (size_t)end - 1);
        port = str_skip(host, (size_t)end + 1);
    } else {
        ptrdiff_t colon = str_find_char(host, ':');

        *name = colon < 0 ? host : str_first(host, (size_t)colon);
        port = str_skip(host, name->n);
    }
    if (port.n > 0 &&
        (port.s[0] != ':' ||
         (port.n > 1 &&
          (!str_to_u64(str_skip(port, 1), 10, &number) || number > 65535))))
        return false;
    return *is_v6 ? is_address(*name, AF_INET6) : is_name(*name);
}

bool http_host_is_well_formed(const struct http_request *r)
{
    struct str host = http_request_header(r, STR("Host")), name;
    bool is_v6;

    return host.n == 0 || split(host, &name, &is_v6);
}

bool http_host_is_fine(const struct http_request *r, const char *allowed)
{
    struct str host = http_request_header(r, STR("Host")), name;
    struct str list = str_from(allowed), one;
    bool is_v6;

    if (host.n == 0)
        return true;
    if (!split(host, &name, &is_v6))
        return false;
    if (is_v6 || is_address(name, AF_INET) ||
        str_eq_nocase(name, STR("localhost")))
        return true;
    while (str_split(&list, ',', &one)) {
        one = str_trim(one);
        if (str_eq(one, STR("*")) || str_eq_nocase(one, name))
            return true;
    }
    return false;
}

bool http_is_cross_site(const struct http_request *r, bool may_navigate)
{
    struct str mode = http_request_header(r, STR("Sec-Fetch-Mode"));
    struct str dest = http_request_header(r, STR("Sec-Fetch-Dest"));

    if (!str_eq(http_request_header(r, STR("Sec-Fetch-Site")),
                STR("cross-site")))
        return false;
    return !may_navigate || !str_eq(r->method, STR("GET")) ||
           !str_eq(mode, STR("navigate")) || !str_eq(dest, STR("document"));
}

bool http_is_own(const struct http_request *r)
{
    return http_request_header(r, STR("X-Pprof")).s ||
           str_eq(http_request_header(r, STR("Sec-Fetch-Site")),
                  STR("same-origin"));
}

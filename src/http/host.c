#include "http/host.h"

#include <arpa/inet.h>
#include <strings.h>

static bool same_name(struct str a, struct str b)
{
    return a.n == b.n && strncasecmp(a.s, b.s, a.n) == 0;
}

/* "name:port" without the port, "[::1]:port" without brackets too */
static struct str name_of(struct str host)
{
    ptrdiff_t colon = str_rfind_char(host, ':');

    if (host.n && host.s[0] == '[') {
        ptrdiff_t end = str_find_char(host, ']');

        return end < 0 ? host : str_of(host.s + 1, (size_t)end - 1);
    }
    return colon < 0 ? host : str_first(host, (size_t)colon);
}

static bool is_address(struct str name)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    char text[INET6_ADDRSTRLEN];

    if (name.n >= sizeof(text))
        return false;
    memcpy(text, name.s, name.n);
    text[name.n] = '\0';
    return inet_pton(AF_INET, text, bytes) == 1 ||
           inet_pton(AF_INET6, text, bytes) == 1;
}

bool http_host_is_fine(const struct http_request *r, const char *allowed)
{
    struct str host = http_request_header(r, STR("Host")), name;
    struct str list = str_from(allowed), one;

    if (!host.s || host.n == 0)
        return true;
    name = name_of(host);
    if (is_address(name) || same_name(name, STR("localhost")))
        return true;
    while (str_split(&list, ',', &one)) {
        one = str_trim(one);
        if (str_eq(one, STR("*")) || same_name(one, name))
            return true;
    }
    return false;
}

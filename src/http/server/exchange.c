/*
 * What handlers do to an exchange without touching the server: headers and
 * refusals.  Waiting, deferring and streaming are in pool.c.
 */
#include "http/server/exchange.h"

#include <arpa/inet.h>
#include <string.h>

struct str http_client_host(const struct http_client *client)
{
    struct str address = str_from(client->address);
    ptrdiff_t colon = str_rfind_char(address, ':');

    return colon < 0 ? address : str_first(address, (size_t)colon);
}

bool http_client_is_local(const struct http_client *client)
{
    struct str address = str_from(client->address);

    return client->is_unix || str_has_prefix(address, STR("127.")) ||
           str_has_prefix(address, STR("[::1]:"));
}

struct str http_client_network(const struct http_client *client,
                               char room[HTTP_NETWORK_MAX])
{
    struct str host = http_client_host(client);
    struct in6_addr v6;

    if (host.n < 3 || host.s[0] != '[' || host.n - 2 >= HTTP_NETWORK_MAX)
        return host;
    memcpy(room, host.s + 1, host.n - 2);
    room[host.n - 2] = '\0';
    if (inet_pton(AF_INET6, room, &v6) != 1)
        return host;
    memset(&v6.s6_addr[8], 0, 8);
    inet_ntop(AF_INET6, &v6, room, HTTP_NETWORK_MAX);
    return str_from(room);
}

void http_exchange_header(struct http_exchange *x, const char *name,
                          struct str value)
{
    buf_addf(&x->headers, "%s: ", name);
    for (size_t i = 0; i < value.n; i++) {
        char c = value.s[i];

        buf_add_char(&x->headers, c == '\r' || c == '\n' ? '?' : c);
    }
    buf_add(&x->headers, STR("\r\n"));
}

void http_exchange_refuse(struct http_exchange *x, int status,
                          const char *words)
{
    x->status = status;
    buf_clear(&x->body);
    buf_add(&x->headers, STR("Content-Type: text/plain; charset=utf-8\r\n"
                             "X-Content-Type-Options: nosniff\r\n"
                             "X-Go-Pprof: 1\r\n"));
    buf_addf(&x->body, "%s\n", words);
}

void http_exchange_retry_after(struct http_exchange *x, int status,
                               unsigned seconds, const char *words)
{
    buf_addf(&x->headers, "Retry-After: %u\r\n", seconds);
    http_exchange_refuse(x, status, words);
}

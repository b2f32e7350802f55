/*
 * What handlers say.
 */
#include "http/server.h"

struct str http_client_host(const struct http_client *client)
{
    struct str address = str_from(client->address);
    ptrdiff_t colon = str_rfind_char(address, ':');

    return colon < 0 ? address : str_first(address, (size_t)colon);
}

void http_exchange_header(struct http_exchange *x, const char *name,
                          struct str value)
{
    buf_addf(&x->headers, "%s: %" STR_FMT "\r\n", name, STR_ARG(value));
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

/*
 * The first line is the secret of a client; the rest is the file of secrets,
 * and also the names of a certificate and the list to search for them.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/base64.h"
#include "http/access/tokens.h"
#include "http/tls/certificate.h"

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void decode(struct str text)
{
    char *out = malloc(text.n * 3 / 4 + 1);
    ptrdiff_t n = base64_decode(text, out);

    must(n >= -1 && n <= (ptrdiff_t)(text.n * 3 / 4));
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = str_of((const char *)data, size), first;
    struct credentials c = {.kind = CREDENTIALS_BEARER};
    struct http_identity who;
    struct error err;

    if (!str_next_line(&rest, &first))
        return 0;
    decode(first);
    c.secret = first;
    if (tokens_find(rest, &c, &who))
        must(first.n > 0 && str_contains(rest, first));
    c.kind = CREDENTIALS_BASIC;
    c.user = str_first(first, first.n / 2);
    c.secret = str_skip(first, first.n / 2);
    if (tokens_find(rest, &c, &who))
        must(c.secret.n > 0 && str_contains(rest, c.secret));
    tokens_check(rest, &err);
    certificate_first_name(rest);
    if (certificate_is_listed(rest, first))
        must(certificate_is_listed(rest, first));
    return 0;
}

/*
 * Reading an Authorization header, and comparing secrets in a time that does
 * not depend on how much of them is right.
 */
#include "http/access/credentials.h"

#include "base/base64.h"

static bool take_scheme(struct str *value, struct str scheme)
{
    if (value->n <= scheme.n || value->s[scheme.n] != ' ' ||
        !str_eq_nocase(str_first(*value, scheme.n), scheme))
        return false;
    *value = str_trim(str_skip(*value, scheme.n));
    return true;
}

static void read_basic(struct str text, struct credentials *out)
{
    ptrdiff_t n = base64_decode(text, out->bytes), colon;
    struct str pair;

    if (n < 0)
        return;
    pair = str_of(out->bytes, (size_t)n);
    colon = str_find_char(pair, ':');
    if (colon < 0)
        return;
    out->kind = CREDENTIALS_BASIC;
    out->user = str_first(pair, (size_t)colon);
    out->secret = str_skip(pair, (size_t)colon + 1);
}

void credentials_read(const struct http_request *r, struct credentials *out)
{
    struct str value = http_request_header(r, STR("Authorization"));

    out->kind = CREDENTIALS_NONE;
    out->user = out->secret = STR("");
    if (!value.s)
        return;
    out->kind = CREDENTIALS_BAD;
    value = str_trim(value);
    if (value.n > sizeof(out->bytes))
        return;
    if (take_scheme(&value, STR("Bearer")) && value.n > 0) {
        out->kind = CREDENTIALS_BEARER;
        out->secret = value;
    } else if (take_scheme(&value, STR("Basic"))) {
        read_basic(value, out);
    }
}

bool credentials_equal(struct str given, struct str secret)
{
    volatile unsigned char different = given.n != secret.n;

    for (size_t i = 0; i < given.n && secret.n > 0; i++)
        different |= (unsigned char)(given.s[i] ^ secret.s[i % secret.n]);
    return !different && given.n > 0;
}

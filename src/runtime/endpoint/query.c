/*
 * Works on the query as it was sent, without memory: the endpoint runs in
 * programs where an allocation may fail.
 */
#include "runtime/endpoint/query.h"

#include <string.h>

#include "base/percent.h"

/* Returns true if this is the key, as it was sent or decoded. */
static bool is_key(struct str word, struct str key)
{
    char text[32];
    ptrdiff_t n;

    if (str_eq(word, key))
        return true;
    n = word.n <= sizeof(text) ? percent_decode(word, true, text) : -1;
    return n >= 0 && str_eq(str_of(text, (size_t)n), key);
}

bool query_get(struct str query, struct str key, char *out, size_t size,
               struct str *value)
{
    struct str word;

    while (str_split(&query, '&', &word)) {
        ptrdiff_t eq = str_find_char(word, '=');
        ptrdiff_t n;

        if (str_find_char(word, ';') >= 0 ||
            !is_key(eq < 0 ? word : str_first(word, (size_t)eq), key))
            continue;
        word = eq < 0 ? STR("") : str_skip(word, (size_t)eq + 1);
        if (word.n > size) { /* nothing that anybody wants to read */
            memcpy(out, word.s, size);
            *value = str_of(out, size);
            return true;
        }
        n = percent_decode(word, true, out);
        if (n < 0)
            continue;
        *value = str_of(out, (size_t)n);
        return n > 0;
    }
    return false;
}

int64_t query_debug(struct str query)
{
    char text[32];
    struct str value;
    int64_t debug;

    if (!query_get(query, STR("debug"), text, sizeof(text), &value) ||
        !str_to_i64(value, 10, &debug))
        return 0;
    return debug;
}

/* By hand: strtod would ask the program's locale for the point. */
bool query_seconds(struct str query, double *out)
{
    char text[64];
    struct str s, digits, exponent = STR("0");
    int64_t tens = 0;
    double value = 0;
    ptrdiff_t at;

    if (!query_get(query, STR("seconds"), text, sizeof(text), &s))
        return false;
    at = str_find_char(s, 'e');
    at = at < 0 ? str_find_char(s, 'E') : at;
    digits = at < 0 ? s : str_first(s, (size_t)at);
    if (at >= 0)
        exponent = str_skip(s, (size_t)at + 1);
    if (!str_to_i64(exponent, 10, &tens) || tens < -400 || tens > 400)
        return false;
    at = str_find_char(digits, '.');
    if (digits.n == 0 || (digits.n == 1 && at == 0))
        return false;
    for (size_t i = 0; i < digits.n; i++) {
        if ((ptrdiff_t)i == at)
            continue;
        if (digits.s[i] < '0' || digits.s[i] > '9')
            return false;
        value = value * 10 + (digits.s[i] - '0');
        tens -= at >= 0 && (ptrdiff_t)i > at;
    }
    for (; tens > 0; tens--)
        value *= 10;
    for (; tens < 0; tens++)
        value /= 10;
    *out = value;
    return true;
}

uint64_t query_number(struct str query, struct str key, uint64_t max)
{
    char text[32];
    struct str value;
    uint64_t n;

    if (!query_get(query, key, text, sizeof(text), &value) ||
        !str_to_u64(value, 10, &n))
        return 0;
    return n < max ? n : max;
}

bool query_flag(struct str query, struct str key)
{
    return query_number(query, key, 1) != 0;
}

/*
 * Views of text.  Functions return views into their argument wherever they
 * can; only numbers and hashes look at every byte.
 */
#include "base/str.h"

#include <ctype.h>

#include "base/hash.h"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool str_eq_nocase(struct str a, struct str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (lower(a.s[i]) != lower(b.s[i]))
            return false;
    return true;
}

int str_cmp(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.s, b.s, n) : 0;

    if (c != 0)
        return c;
    return (a.n > b.n) - (a.n < b.n);
}

bool str_has_prefix(struct str s, struct str prefix)
{
    return s.n >= prefix.n && str_eq(str_first(s, prefix.n), prefix);
}

bool str_has_suffix(struct str s, struct str suffix)
{
    return s.n >= suffix.n && str_eq(str_skip(s, s.n - suffix.n), suffix);
}

ptrdiff_t str_find(struct str s, struct str needle)
{
    const char *at;

    if (needle.n == 0)
        return 0;
    if (s.n < needle.n)
        return -1;
    at = memmem(s.s, s.n, needle.s, needle.n);
    return at ? at - s.s : -1;
}

ptrdiff_t str_find_char(struct str s, char c)
{
    const char *at = s.n ? memchr(s.s, c, s.n) : NULL;

    return at ? at - s.s : -1;
}

ptrdiff_t str_rfind_char(struct str s, char c)
{
    const char *at = s.n ? memrchr(s.s, c, s.n) : NULL;

    return at ? at - s.s : -1;
}

bool str_contains(struct str s, struct str needle)
{
    return str_find(s, needle) >= 0;
}

struct str str_skip(struct str s, size_t n)
{
    if (n >= s.n)
        return (struct str){s.n ? s.s + s.n : s.s, 0};
    return (struct str){s.s + n, s.n - n};
}

struct str str_first(struct str s, size_t n)
{
    return (struct str){s.s, n < s.n ? n : s.n};
}

struct str str_trim(struct str s)
{
    while (s.n && isspace((unsigned char)s.s[0]))
        s = str_skip(s, 1);
    while (s.n && isspace((unsigned char)s.s[s.n - 1]))
        s.n--;
    return s;
}

bool str_split(struct str *rest, char sep, struct str *out)
{
    ptrdiff_t at;

    if (!rest->s)
        return false;
    if (rest->n == 0) {
        rest->s = NULL;
        return false;
    }
    at = str_find_char(*rest, sep);
    if (at < 0) {
        *out = *rest;
        *rest = (struct str){NULL, 0};
        return true;
    }
    *out = str_first(*rest, (size_t)at);
    *rest = str_skip(*rest, (size_t)at + 1);
    return true;
}

bool str_next_line(struct str *rest, struct str *out)
{
    ptrdiff_t at;

    if (rest->n == 0)
        return false;
    at = str_find_char(*rest, '\n');
    *out = at < 0 ? *rest : str_first(*rest, (size_t)at);
    *rest = str_skip(*rest, at < 0 ? rest->n : (size_t)at + 1);
    if (out->n && out->s[out->n - 1] == '\r')
        out->n--;
    return true;
}

int str_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'Z')
        return c - 'A' + 10;
    return 99;
}

bool str_to_u64(struct str s, int base, uint64_t *out)
{
    uint64_t v = 0;

    if (s.n == 0)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        int d = str_digit(s.s[i]);

        if (d >= base || __builtin_mul_overflow(v, (uint64_t)base, &v) ||
            __builtin_add_overflow(v, (uint64_t)d, &v))
            return false;
    }
    *out = v;
    return true;
}

bool str_to_i64(struct str s, int base, int64_t *out)
{
    bool negative = s.n && s.s[0] == '-';
    uint64_t v;

    if (s.n && (s.s[0] == '-' || s.s[0] == '+'))
        s = str_skip(s, 1);
    if (!str_to_u64(s, base, &v) || v > (uint64_t)INT64_MAX + negative)
        return false;
    *out = (int64_t)(negative ? 0 - v : v);
    return true;
}

uint64_t str_hash(struct str s)
{
    return str_hash_seeded(s, 0);
}

/* The last one to seven bytes as a word. */
static uint64_t hash_tail(const char *s, size_t n)
{
    uint32_t low, high;

    if (n >= 4) { /* two words that may overlap */
        memcpy(&low, s, 4);
        memcpy(&high, s + n - 4, 4);
        return low | (uint64_t)high << 32;
    }
    return (unsigned char)s[0] | (uint64_t)(unsigned char)s[n / 2] << 8 |
           (uint64_t)(unsigned char)s[n - 1] << 16;
}

uint64_t str_hash_seeded(struct str s, uint64_t seed)
{
    uint64_t h = hash_mix(s.n ^ seed);
    const char *at = s.s;
    size_t left = s.n;
    uint64_t word;

    for (; left >= 8; left -= 8, at += 8) {
        memcpy(&word, at, 8);
        h = hash_mix(h ^ word);
    }
    return left ? hash_mix(h ^ hash_tail(at, left)) : h;
}

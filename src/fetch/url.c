#include "fetch/url.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/percent.h"
#include "base/vec.h"

static bool is_scheme(struct str s)
{
    if (s.n == 0 || !isalpha((unsigned char)s.s[0]))
        return false;
    for (size_t i = 1; i < s.n; i++)
        if (!isalnum((unsigned char)s.s[i]) && !strchr("+-.", s.s[i]))
            return false;
    return true;
}

static bool has_odd_bytes(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.s[i] <= ' ' || text.s[i] == 0x7f)
            return true;
    return false;
}

static bool port_is_number(struct str host)
{
    ptrdiff_t colon = str_rfind_char(host, ':');
    ptrdiff_t bracket = str_rfind_char(host, ']');

    if (colon < 0 || colon < bracket)
        return true;
    for (size_t i = (size_t)colon + 1; i < host.n; i++)
        if (!isdigit((unsigned char)host.s[i]))
            return false;
    return true;
}

static void split_authority(struct str authority, struct url *u)
{
    ptrdiff_t at = str_rfind_char(authority, '@');

    if (at >= 0) {
        u->userinfo = str_first(authority, (size_t)at);
        authority = str_skip(authority, (size_t)at + 1);
    }
    u->host = authority;
}

bool url_parse(struct str text, struct url *out)
{
    struct url u = {0};
    ptrdiff_t at;

    if (has_odd_bytes(text))
        return false;
    at = str_find_char(text, '#');
    if (at >= 0)
        text = str_first(text, (size_t)at);
    at = str_find_char(text, '?');
    if (at >= 0) {
        u.query = str_skip(text, (size_t)at + 1);
        text = str_first(text, (size_t)at);
    }
    at = str_find_char(text, ':');
    if (at >= 0 && is_scheme(str_first(text, (size_t)at))) {
        u.scheme = str_first(text, (size_t)at);
        text = str_skip(text, (size_t)at + 1);
    }
    if (str_has_prefix(text, STR("//"))) {
        text = str_skip(text, 2);
        at = str_find_char(text, '/');
        split_authority(at < 0 ? text : str_first(text, (size_t)at), &u);
        text = at < 0 ? STR("") : str_skip(text, (size_t)at);
    }
    if (!port_is_number(u.host))
        return false;
    u.path = text;
    *out = u;
    return true;
}

void url_print(const struct url *u, struct buf *out)
{
    if (u->scheme.n) {
        buf_add(out, u->scheme);
        buf_add_char(out, ':');
    }
    if (u->scheme.n || u->host.n)
        buf_add(out, STR("//"));
    if (u->userinfo.n) {
        buf_add(out, u->userinfo);
        buf_add_char(out, '@');
    }
    buf_add(out, u->host);
    buf_add(out, u->path);
    if (u->query.n) {
        buf_add_char(out, '?');
        buf_add(out, u->query);
    }
}

struct pair {
    struct str key, value;
};

static bool decode(struct arena *a, struct str in, struct str *out)
{
    char *to = arena_alloc(a, in.n + 1);
    ptrdiff_t n = percent_decode(in, true, to);

    if (n < 0)
        return false;
    *out = str_of(to, (size_t)n);
    return true;
}

static void encode(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.s[i];

        if (isalnum(c) || c == '-' || c == '_' || c == '.' || c == '~')
            buf_add_char(out, (char)c);
        else if (c == ' ')
            buf_add_char(out, '+');
        else
            buf_addf(out, "%%%02X", c);
    }
}

/* Takes the next readable word off the query; broken ones are passed over,
 * as Go does. */
static bool next_pair(struct arena *a, struct str *rest, struct pair *out)
{
    struct str word;

    while (str_split(rest, '&', &word)) {
        ptrdiff_t eq = str_find_char(word, '=');
        struct str key = eq < 0 ? word : str_first(word, (size_t)eq);
        struct str value = eq < 0 ? STR("") : str_skip(word, (size_t)eq + 1);

        if (word.n && str_find_char(word, ';') < 0 &&
            decode(a, key, &out->key) && decode(a, value, &out->value))
            return true;
    }
    return false;
}

bool url_query_get(struct arena *a, struct str query, struct str key,
                   struct str *value)
{
    struct pair p;

    while (next_pair(a, &query, &p)) {
        if (str_eq(p.key, key)) {
            *value = p.value;
            return true;
        }
    }
    return false;
}

struct pairs {
    VEC(struct pair) list;
};

/* Few words, and equal ones keep their order: insertion. */
static void insert_sorted(struct arena *a, struct pairs *pairs, struct pair p)
{
    size_t at = pairs->list.n;

    (void)vec_push(a, &pairs->list);
    for (; at > 0 && str_cmp(pairs->list.v[at - 1].key, p.key) > 0; at--)
        pairs->list.v[at] = pairs->list.v[at - 1];
    pairs->list.v[at] = p;
}

struct str url_query_set(struct arena *a, struct str query, struct str key,
                         struct str value)
{
    struct pairs pairs = {0};
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct pair p;
    struct str text;

    while (next_pair(a, &query, &p))
        if (key.n == 0 || !str_eq(p.key, key))
            insert_sorted(a, &pairs, p);
    if (key.n)
        insert_sorted(a, &pairs, (struct pair){key, value});
    for (size_t i = 0; i < pairs.list.n; i++) {
        if (i)
            buf_add_char(&out, '&');
        encode(&out, pairs.list.v[i].key);
        buf_add_char(&out, '=');
        encode(&out, pairs.list.v[i].value);
    }
    text = arena_str(a, buf_str(&out));
    buf_release(&out);
    return text;
}

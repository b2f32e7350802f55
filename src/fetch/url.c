/*
 * URLs are split the way Go's net/url does it, so that everything google/pprof
 * accepts is accepted, with the same meaning.  Parts are views of the text;
 * only queries are decoded and written anew.
 */
#include "fetch/url.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/query.h"
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

struct str url_take_login(struct url *u)
{
    struct str login = u->userinfo;

    if (str_has_prefix(u->scheme, STR("ssh")))
        return STR("");
    u->userinfo = STR("");
    return login;
}

struct str url_hide_login(struct arena *a, struct str text)
{
    ptrdiff_t scheme = str_find(text, STR("://"));
    ptrdiff_t at = str_rfind_char(text, '@'), colon = str_find_char(text, ':');
    int kept = scheme < 0 ? 0 : (int)scheme + 3;

    if (at < kept || colon < 0 || colon > at)
        return text;
    return str_from(arena_printf(a, "%.*s%" STR_FMT, kept, text.s,
                                 STR_ARG(str_skip(text, (size_t)at + 1))));
}

bool url_query_get(struct arena *a, struct str query, struct str key,
                   struct str *value)
{
    struct query_word p;

    while (query_next(a, &query, &p)) {
        if (str_eq(p.name, key)) {
            *value = p.value;
            return true;
        }
    }
    return false;
}

struct query_words {
    VEC(struct query_word) list;
};

/* Few words, and equal ones keep their order: insertion. */
static void insert_sorted(struct arena *a, struct query_words *words,
                          struct query_word p)
{
    size_t at = words->list.n;

    (void)vec_push(a, &words->list);
    for (; at > 0 && str_cmp(words->list.v[at - 1].name, p.name) > 0; at--)
        words->list.v[at] = words->list.v[at - 1];
    words->list.v[at] = p;
}

struct str url_query_set(struct arena *a, struct str query, struct str key,
                         struct str value)
{
    struct query_words words = {0};
    struct buf out = arena_buf(a);
    struct query_word p;

    while (query_next(a, &query, &p))
        if (key.n == 0 || !str_eq(p.name, key))
            insert_sorted(a, &words, p);
    if (key.n)
        insert_sorted(a, &words, (struct query_word){key, value});
    for (size_t i = 0; i < words.list.n; i++) {
        if (i)
            buf_add_char(&out, '&');
        query_encode(&out, words.list.v[i].name);
        buf_add_char(&out, '=');
        query_encode(&out, words.list.v[i].value);
    }
    return buf_str(&out);
}

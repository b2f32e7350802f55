/*
 * A source of the command line: it is parsed, and neither the request nor any
 * message contains the password.
 */
#include <stdint.h>
#include <stdlib.h>

#include "fetch/source_url.h"
#include "fetch/target.h"
#include "fetch/url.h"

static void must(bool condition)
{
    if (!condition)
        abort();
}

/* Printing and parsing again gives the same parts. */
static void print_back(struct url u)
{
    struct buf text = BUF_INIT(1 << 20);
    struct url again;

    url_print(&u, &text);
    if (url_parse(buf_str(&text), &again)) {
        must(str_eq(again.scheme, u.scheme) || u.scheme.n == 0);
        must(str_eq(again.query, u.query));
    }
    buf_release(&text);
}

static void check_login(struct arena *a, struct str source)
{
    struct str shown = source_shown(a, source);
    struct source_url s;
    struct url u;

    if (!source_url_parse(a, source, -1, -1, &s))
        return;
    must(url_parse(s.url, &u));
    must(u.userinfo.n == 0 || str_has_prefix(u.scheme, STR("ssh")));
    if (url_parse(shown, &u))
        must(u.userinfo.n == 0 || str_has_prefix(u.scheme, STR("ssh")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_of((const char *)data, size);
    struct arena *a = arena_new();
    struct http_target target;
    struct error err;
    struct url u;

    if (url_parse(text, &u))
        print_back(u);
    check_login(a, text);
    must(url_hide_login(a, text).n <= text.n);
    if (http_target_parse(a, text, &target, &err))
        must(url_parse(str_from(target.url), &u) && u.userinfo.n == 0);
    arena_free(a);
    return 0;
}

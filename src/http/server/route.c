/*
 * Tables have a few dozen rows and are searched from the top: that is faster
 * than reading the request was, and the order in the file is the order of
 * precedence.
 */
#include "http/server/route.h"

#include <assert.h>

static bool path_matches(const struct http_route *r, struct str path,
                         struct str *rest)
{
    struct str pattern = str_from(r->path);

    *rest = STR("");
    if (!str_has_suffix(pattern, STR("*")))
        return str_eq(pattern, path);
    pattern.n--;
    *rest = str_skip(path, pattern.n);
    return str_has_prefix(path, pattern);
}

static bool method_matches(const struct http_route *r, struct str method)
{
    struct str list = str_from(r->methods), one;

    while (str_split(&list, ',', &one)) {
        one = str_trim(one);
        if (str_eq(one, method) ||
            (str_eq(one, STR("GET")) && str_eq(method, STR("HEAD"))))
            return true;
    }
    return false;
}

enum http_found http_routes_find(struct http_routes routes, struct str method,
                                 struct str path, struct http_match *out)
{
    enum http_found found = HTTP_ROUTE_NO_PATH;
    struct str rest;

    for (size_t i = 0; i < routes.n; i++) {
        const struct http_route *r = &routes.all[i];

        assert(r->methods && r->path && r->handle);
        if (!path_matches(r, path, &rest))
            continue;
        if (method_matches(r, method)) {
            *out = (struct http_match){r, rest};
            return HTTP_ROUTE_FOUND;
        }
        found = HTTP_ROUTE_NO_METHOD;
    }
    return found;
}

static void add_method(struct buf *out, size_t start, struct str method)
{
    struct str so_far = str_skip(buf_str(out), start), one;

    while (str_split(&so_far, ',', &one))
        if (str_eq(str_trim(one), method))
            return;
    if (out->len > start)
        buf_add(out, STR(", "));
    buf_add(out, method);
}

void http_routes_allow(struct http_routes routes, struct str path,
                       struct buf *out)
{
    size_t start = out->len;
    struct str rest;

    for (size_t i = 0; i < routes.n; i++) {
        struct str list = str_from(routes.all[i].methods), one;

        if (!path_matches(&routes.all[i], path, &rest))
            continue;
        while (str_split(&list, ',', &one)) {
            one = str_trim(one);
            add_method(out, start, one);
            if (str_eq(one, STR("GET")))
                add_method(out, start, STR("HEAD"));
        }
    }
}

/*
 * The rules are google/pprof's: "host:port/path" means http, a host without a
 * path means its CPU profile, and the time limit grows with the time that the
 * server measures.
 */
#include "fetch/source_url.h"

#include "base/buf.h"
#include "base/clock.h"
#include "fetch/url.h"

#define DEFAULT_WAIT    (60 * SECOND)
#define EXTRA_WAIT      (5 * SECOND)
#define LONGEST_MEASURE ((int64_t)INT32_MAX)

static bool has_colon_before_slash(struct str text)
{
    ptrdiff_t slash = str_find_char(text, '/');

    return str_find_char(slash < 0 ? text : str_first(text, (size_t)slash),
                         ':') >= 0;
}

/* "host:port/path" is no URL, or one with "host" as scheme: http is meant. */
static bool parse(struct arena *a, struct str source, struct url *u)
{
    bool readable = url_parse(source, u);

    if (readable && (u->host.n || (str_has_prefix(u->scheme, STR("unix")) &&
                                   str_has_prefix(u->path, STR("/")))))
        return true;
    if (readable &&
        (str_eq(u->scheme, STR("file")) || !has_colon_before_slash(source)))
        return false;
    if (str_contains(source, STR("://")))
        return false; /* one that is broken: http:// before it mends nothing */
    source = str_from(arena_printf(a, "http://%" STR_FMT, STR_ARG(source)));
    return url_parse(source, u) && u->host.n;
}

static int64_t seconds_in_query(struct arena *a, struct str query)
{
    struct str text;
    int64_t v;

    if (!url_query_get(a, query, STR("seconds"), &text) ||
        !str_to_i64(text, 10, &v) || v < 0 || v > LONGEST_MEASURE)
        return 0;
    return v;
}

static bool ends_in_index(struct str path)
{
    return str_has_suffix(path, STR("/debug/pprof/")) ||
           str_has_suffix(path, STR("/debug/pprof"));
}

bool source_url_parse(struct arena *a, struct str source, int seconds,
                      int timeout, struct source_url *out)
{
    struct buf text = arena_buf(a);
    struct url u;
    int64_t measure;

    if (!parse(a, source, &u))
        return false;
    out->login = arena_str(a, url_take_login(&u));
    if ((u.path.n == 0 || str_eq(u.path, STR("/"))) && u.host.n)
        u.path = STR("/debug/pprof/profile");
    out->is_index = ends_in_index(u.path);
    measure = seconds > 0 ? seconds : seconds_in_query(a, u.query);
    u.query = seconds > 0
                  ? url_query_set(a, u.query, STR("seconds"),
                                  str_from(arena_printf(a, "%d", seconds)))
                  : url_query_set(a, u.query, STR(""), STR(""));
    url_print(&u, &text);
    out->url = buf_str(&text);
    out->duration_ns = measure * SECOND;
    out->timeout_ns = EXTRA_WAIT;
    if (timeout > 0)
        out->timeout_ns += timeout * SECOND;
    else if (measure > 0)
        out->timeout_ns += out->duration_ns + out->duration_ns / 2;
    else
        out->timeout_ns += DEFAULT_WAIT;
    return true;
}

struct str source_shown(struct arena *a, struct str source)
{
    struct buf text = arena_buf(a);
    struct url u;

    if (!parse(a, source, &u))
        return url_hide_login(a, source);
    if (url_take_login(&u).n == 0)
        return source;
    url_print(&u, &text);
    return buf_str(&text);
}

/*
 * A Unix socket and a tunnel through ssh both carry plain HTTP: libcurl is
 * given an http(s) URL for the request and, apart from it, the socket to
 * connect to.
 */
#include "fetch/target.h"

#include <sys/stat.h>

#include "fetch/url.h"

#define DEFAULT_PORT 6060

static const char *print_url(struct arena *a, const struct url *u)
{
    struct buf out = arena_buf(a);

    url_print(u, &out);
    return buf_cstr(&out);
}

/*
 * unix:///run/app.sock/debug/pprof/heap: the socket is the first part of the
 * path that is one.
 */
static bool split_socket(struct arena *a, struct url *u,
                         struct http_target *out, struct error *err)
{
    for (size_t end = 1; end <= u->path.n; end++) {
        const char *path;
        struct stat st;

        if (end < u->path.n && u->path.s[end] != '/')
            continue;
        path = arena_cstr(a, str_first(u->path, end));
        if (stat(path, &st) == 0 && S_ISSOCK(st.st_mode)) {
            out->unix_socket = path;
            u->path = str_skip(u->path, end);
            return true;
        }
    }
    return error_set(err, "no Unix socket at %" STR_FMT, STR_ARG(u->path));
}

/* ssh://host/2379/debug/pprof/heap: a leading number is the port. */
static bool split_port(struct url *u, unsigned *port, struct error *err)
{
    struct str rest = str_skip(u->path, 1), first;
    uint64_t number;

    *port = DEFAULT_PORT;
    if (!str_split(&rest, '/', &first) || !str_to_u64(first, 10, &number))
        return true;
    if (number == 0 || number > 65535)
        return error_set(err, "port %" STR_FMT " is outside 1..65535",
                         STR_ARG(first));
    *port = (unsigned)number;
    u->path = str_skip(u->path, 1 + first.n);
    return true;
}

static bool cut_suffix(struct str *s, struct str suffix)
{
    if (!str_has_suffix(*s, suffix))
        return false;
    s->n -= suffix.n;
    return true;
}

bool http_target_parse(struct arena *a, struct str text,
                       struct http_target *out, struct error *err)
{
    struct http_target t = {0};
    struct str scheme;
    struct url u;

    /* "ssh:x@y" would otherwise become a path that reads as a host. */
    if (!url_parse(text, &u) || (u.path.n && u.path.s[0] != '/'))
        return error_set(err, "%" STR_FMT ": not a URL",
                         STR_ARG(url_hide_login(a, text)));
    t.login = url_take_login(&u);
    t.shown = print_url(a, &u);
    scheme = u.scheme;
    t.insecure = cut_suffix(&scheme, STR("+insecure"));
    if (str_eq(scheme, STR("ssh")) || str_eq(scheme, STR("ssh+https"))) {
        t.ssh_login =
            u.userinfo.n
                ? str_from(arena_printf(a, "%" STR_FMT "@%" STR_FMT,
                                        STR_ARG(u.userinfo), STR_ARG(u.host)))
                : u.host;
        if (!split_port(&u, &t.ssh_port, err))
            return false;
        u.userinfo = STR("");
        u.host = str_from(arena_printf(a, "127.0.0.1:%u", t.ssh_port));
        scheme = scheme.n > 3 ? STR("https") : STR("http");
    } else if (str_eq(scheme, STR("unix")) ||
               str_eq(scheme, STR("unix+https"))) {
        if (!split_socket(a, &u, &t, err))
            return false;
        u.host = STR("localhost");
        scheme = scheme.n > 4 ? STR("https") : STR("http");
    } else if (!str_eq(scheme, STR("http")) && !str_eq(scheme, STR("https"))) {
        return error_set(err, "unsupported protocol scheme \"%" STR_FMT "\"",
                         STR_ARG(u.scheme));
    }
    u.scheme = scheme;
    t.url = print_url(a, &u);
    t.host = arena_cstr(a, u.host);
    *out = t;
    return true;
}

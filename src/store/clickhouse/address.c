/*
 * The URL of a ClickHouse store.  It has several hosts, which no other URL
 * has, so it is taken apart here.
 */
#include "store/clickhouse/address.h"

#include "store/clickhouse/clickhouse.h"

static const struct str plain_scheme = STR_INIT("clickhouse://");
static const struct str tls_scheme = STR_INIT("clickhouses://");

bool clickhouse_is_url(struct str url)
{
    return str_has_prefix(url, plain_scheme) || str_has_prefix(url, tls_scheme);
}

/* Names go into SQL as they are, and hosts into URLs. */
static bool is_plain(struct str s, const char *also)
{
    for (size_t i = 0; i < s.n; i++)
        if (str_digit(s.s[i]) == 99 && (!s.s[i] || !strchr(also, s.s[i])))
            return false;
    return s.n > 0;
}

static bool add_host(struct clickhouse_address *a, struct str text,
                     struct error *err)
{
    ptrdiff_t colon = str_rfind_char(text, ':');
    ptrdiff_t bracket = str_rfind_char(text, ']');
    uint64_t port = a->is_tls ? 8443 : 8123;
    struct str name = text;

    if (colon > bracket) {
        name = str_first(text, (size_t)colon);
        if (!str_to_u64(str_skip(text, (size_t)colon + 1), 10, &port) ||
            port == 0 || port > 65535)
            return error_set(err, "\"%" STR_FMT "\" has no valid port",
                             STR_ARG(text));
    }
    if (!is_plain(name, bracket > 0 ? "[]:." : "-._"))
        return error_set(err, "\"%" STR_FMT "\" is not a host", STR_ARG(text));
    if (a->n_hosts == CLICKHOUSE_HOSTS)
        return error_set(err, "more than %d hosts", CLICKHOUSE_HOSTS);
    a->hosts[a->n_hosts].name = name;
    a->hosts[a->n_hosts++].port = (uint16_t)port;
    return true;
}

static bool parse(struct str rest, struct clickhouse_address *a,
                  struct error *err)
{
    ptrdiff_t at = str_find_char(rest, '@'), slash;
    struct str hosts, host;

    if (at >= 0) {
        a->user = str_first(rest, (size_t)at);
        rest = str_skip(rest, (size_t)at + 1);
        if (str_find_char(a->user, ':') >= 0)
            return error_set(err, "the password does not belong in the URL, "
                                  "where others can read it; use "
                                  "--store-password-file");
        if (!is_plain(a->user, "-._"))
            return error_set(err, "\"%" STR_FMT "\" is not a user",
                             STR_ARG(a->user));
    }
    slash = str_find_char(rest, '/');
    hosts = slash >= 0 ? str_first(rest, (size_t)slash) : rest;
    if (slash >= 0 && (size_t)slash + 1 < rest.n) {
        a->database = str_skip(rest, (size_t)slash + 1);
        if (!is_plain(a->database, "_"))
            return error_set(err,
                             "\"%" STR_FMT "\" is not the name of a database: "
                             "letters, digits and _",
                             STR_ARG(a->database));
    }
    while (str_split(&hosts, ',', &host))
        if (!add_host(a, host, err))
            return false;
    return a->n_hosts > 0 || error_set(err, "there is no host");
}

bool clickhouse_address_parse(struct str url, struct clickhouse_address *out,
                              struct error *err)
{
    struct clickhouse_address a = {.user = STR("default"),
                                   .database = STR("default")};
    struct str rest;

    if (!clickhouse_is_url(url))
        return error_set(err, "the store must be a URL like "
                              "clickhouse://user@host:8123/database");
    a.is_tls = str_has_prefix(url, tls_scheme);
    rest = str_skip(url, a.is_tls ? tls_scheme.n : plain_scheme.n);
    if (!parse(rest, &a, err))
        return error_wrap(err, "--store");
    *out = a;
    return true;
}

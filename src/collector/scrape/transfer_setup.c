/*
 * The options of one transfer.  Files with credentials are read anew for each
 * one, and libcurl reads certificates when it connects, so whatever is
 * rotated takes effect with the next scrape.  For the same reason every scrape
 * has a connection of its own, TLS sessions are not resumed, and libcurl keeps
 * CAs for seconds only.  (Keeping connections would not pay: a target is asked
 * once a minute, and libcurl searches all it keeps whenever one is freed.)
 */
#include <errno.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "collector/scrape/transfer_parts.h"
#include "fetch/url.h"

#define SECRET_MAX       ((size_t)64 << 10)
#define CONNECT_MS       5000L
#define CA_CACHE_SECONDS 5L
#define READ_BUFFER      8192L

#define SET(x, option, value)                                                  \
    ((x)->api->easy_setopt((x)->easy, (option), (value)))

static void set_basics(struct transfer *x, const struct transfer_request *r)
{
    bool follow = r->access->follow_redirects;

    SET(x, CURLOPT_URL, r->url);
    SET(x, CURLOPT_NOSIGNAL, 1L);
    SET(x, CURLOPT_ERRORBUFFER, x->words);
    SET(x, CURLOPT_USERAGENT, "pprofd");
    SET(x, CURLOPT_PROTOCOLS_STR, "http,https");
    SET(x, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    SET(x, CURLOPT_FOLLOWLOCATION, follow ? 1L : 0L);
    SET(x, CURLOPT_MAXREDIRS, 5L);
    SET(x, CURLOPT_TIMEOUT_MS, (long)(r->timeout_ns / 1000000));
    SET(x, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    SET(x, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)r->max_bytes);
    SET(x, CURLOPT_BUFFERSIZE, READ_BUFFER);
    SET(x, CURLOPT_FRESH_CONNECT, 1L);
    SET(x, CURLOPT_FORBID_REUSE, 1L);
}

/* The name that the certificate must be for, while the connection goes where
 * the URL says and the Host header stays. */
static void set_server_name(struct transfer *x, struct arena *a,
                            const struct transfer_request *r)
{
    struct str name = r->access->tls.server_name, host, port = STR("443");
    struct url u;
    ptrdiff_t colon;

    if (name.n == 0 || !url_parse(str_from(r->url), &u))
        return;
    host = u.host;
    colon = str_rfind_char(u.host, ':');
    if (colon >= 0 && str_find_char(u.host, ']') < colon) {
        port = str_skip(u.host, (size_t)colon + 1);
        host = str_first(u.host, (size_t)colon);
    }
    x->headers = x->api->slist_append(
        x->headers, arena_printf(a, "Host: %" STR_FMT, STR_ARG(u.host)));
    x->connect_to =
        x->api->slist_append(NULL, arena_printf(a, "::%" STR_FMT ":%" STR_FMT,
                                                STR_ARG(host), STR_ARG(port)));
    SET(x, CURLOPT_CONNECT_TO, x->connect_to);
    SET(x, CURLOPT_URL,
        arena_printf(a,
                     "https://%" STR_FMT ":%" STR_FMT "%" STR_FMT "%s%" STR_FMT,
                     STR_ARG(name), STR_ARG(port), STR_ARG(u.path),
                     u.query.n ? "?" : "", STR_ARG(u.query)));
}

static bool check_file(struct arena *a, struct str path, const char *key,
                       struct error *err)
{
    const char *name = arena_cstr(a, path);

    if (path.n == 0 || access(name, R_OK) == 0)
        return true;
    error_set_os(err, "open", name, errno);
    return error_wrap(err, "tls_config.%s", key);
}

static void set_blob(struct transfer *x, CURLoption option, struct str bytes)
{
    struct curl_blob blob = {.data = (void *)(uintptr_t)bytes.s,
                             .len = bytes.n,
                             .flags = CURL_BLOB_COPY};

    if (bytes.n)
        x->api->easy_setopt(x->easy, option, &blob);
}

static bool set_files(struct transfer *x, struct arena *a,
                      const struct keys_tls *tls, struct error *err)
{
    if (!check_file(a, tls->ca_file, "ca_file", err) ||
        !check_file(a, tls->cert_file, "cert_file", err) ||
        !check_file(a, tls->key_file, "key_file", err))
        return false;
    if (tls->ca_file.n) {
        SET(x, CURLOPT_CAINFO, arena_cstr(a, tls->ca_file));
        SET(x, CURLOPT_CAPATH, NULL);
    }
    if (tls->cert_file.n) {
        SET(x, CURLOPT_SSLCERT, arena_cstr(a, tls->cert_file));
        SET(x, CURLOPT_SSLKEY, arena_cstr(a, tls->key_file));
    }
    x->has_certificate = tls->cert_file.n > 0;
    return true;
}

static bool set_tls(struct transfer *x, struct arena *a,
                    const struct transfer_request *r, struct error *err)
{
    const struct keys_tls *tls = &r->access->tls;

    x->is_https = str_has_prefix(str_from(r->url), STR("https:"));
    if (!x->is_https)
        return true;
    set_server_name(x, a, r);
    SET(x, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    SET(x, CURLOPT_SSL_SESSIONID_CACHE, 0L);
    SET(x, CURLOPT_CA_CACHE_TIMEOUT, CA_CACHE_SECONDS);
    if (tls->insecure_skip_verify) {
        SET(x, CURLOPT_SSL_VERIFYPEER, 0L);
        SET(x, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (!r->tls)
        return set_files(x, a, tls, err);
    set_blob(x, CURLOPT_CAINFO_BLOB, r->tls->ca);
    set_blob(x, CURLOPT_SSLCERT_BLOB, r->tls->cert);
    set_blob(x, CURLOPT_SSLKEY_BLOB, r->tls->key);
    x->has_certificate = r->tls->cert.n > 0;
    return true;
}

/* The first line of a file. */
static bool read_secret(struct arena *a, struct str path, const char *key,
                        struct str *out, struct error *err)
{
    struct buf text = BUF_INIT(SECRET_MAX);
    struct str rest, line = STR("");
    bool ok = file_read(arena_cstr(a, path), &text, err);

    rest = buf_str(&text);
    if (ok && str_next_line(&rest, &line))
        *out = arena_str(a, str_trim(line));
    buf_release(&text);
    return ok ? out->n > 0 || error_set(err, "%s: %" STR_FMT " is empty", key,
                                        STR_ARG(path))
              : error_wrap(err, "%s", key);
}

static bool set_credentials(struct transfer *x, struct arena *a,
                            const struct scrape_access *c, struct error *err)
{
    struct str secret = c->authorization.credentials;

    if (c->basic.username.n) {
        struct str password = c->basic.password;

        if (c->basic.password_file.n &&
            !read_secret(a, c->basic.password_file, "password_file", &password,
                         err))
            return false;
        SET(x, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        SET(x, CURLOPT_USERNAME, arena_cstr(a, c->basic.username));
        SET(x, CURLOPT_PASSWORD, arena_cstr(a, password));
        return true;
    }
    if (c->authorization.credentials_file.n &&
        !read_secret(a, c->authorization.credentials_file, "credentials_file",
                     &secret, err))
        return false;
    if (secret.n)
        x->headers = x->api->slist_append(
            x->headers,
            arena_printf(a, "Authorization: %" STR_FMT " %" STR_FMT,
                         STR_ARG(c->authorization.type), STR_ARG(secret)));
    return true;
}

bool transfer_setup(struct transfer *x, const struct transfer_request *r,
                    struct error *err)
{
    struct arena *a = arena_new();
    bool ok;

    set_basics(x, r);
    ok = set_tls(x, a, r, err) && set_credentials(x, a, r->access, err);
    if (ok && r->access->proxy_url.n)
        SET(x, CURLOPT_PROXY, arena_cstr(a, r->access->proxy_url));
    if (ok && x->headers)
        SET(x, CURLOPT_HTTPHEADER, x->headers);
    arena_free(a);
    return ok;
}

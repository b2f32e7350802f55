/*
 * libcurl does the work.  What it says about failures is written for
 * programmers, so failures are turned into sentences here that name the flag
 * to use.  Errors that Go's HTTP client reports too have Go's words, which
 * users of google/pprof know.
 */
#include "fetch/http_fetch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/percent.h"
#include "fetch/client_certificate.h"
#include "fetch/curl.h"
#include "fetch/target.h"
#include "fetch/tunnel.h"
#include "fetch/url.h"

#define REFUSED_PATIENCE_NS ((int64_t)2000000000)
#define REFUSED_PAUSE_NS    100000000

/* One exchange under way. */
struct exchange {
    const struct curl_api *api;
    CURL *curl;
    struct arena *arena;
    const struct http_options *options;
    struct http_target target;
    struct tunnel tunnel;
    struct curl_slist *headers, *connect_to;
    struct http_reply *reply;
    bool heard_tls; /* the server has answered our hello */
    char curl_words[CURL_ERROR_SIZE];
};

static size_t take_body(char *data, size_t size, size_t n, void *arg)
{
    struct exchange *x = arg;

    buf_add_bytes(&x->reply->body, data, size * n);
    return buf_ok(&x->reply->body) ? size * n : 0;
}

/* libcurl shows what goes over the wire; nothing of it is kept. */
static int note_tls(CURL *curl, curl_infotype type, char *data, size_t n,
                    void *arg)
{
    struct exchange *x = arg;

    (void)curl, (void)data, (void)n;
    x->heard_tls |= type == CURLINFO_SSL_DATA_IN;
    return 0;
}

/* The reason phrase is not kept by libcurl: "HTTP/1.1 404 Not Found". */
static size_t take_header(char *data, size_t size, size_t n, void *arg)
{
    struct exchange *x = arg;
    struct str line = str_trim(str_of(data, size * n)), rest;
    struct str words[2];

    if (!str_has_prefix(line, STR("HTTP/")))
        return size * n;
    rest = line;
    x->reply->reason[0] = '\0';
    if (str_split(&rest, ' ', &words[0]) && str_split(&rest, ' ', &words[1]))
        snprintf(x->reply->reason, sizeof(x->reply->reason), "%" STR_FMT,
                 STR_ARG(rest));
    return size * n;
}

static int tick(void *arg, curl_off_t dltotal, curl_off_t dlnow,
                curl_off_t ultotal, curl_off_t ulnow)
{
    struct exchange *x = arg;

    (void)dltotal, (void)dlnow, (void)ultotal, (void)ulnow;
    return x->options->tick(x->options->tick_arg) ? 0 : 1;
}

static bool set_connection(struct exchange *x, struct error *err)
{
    CURL *c = x->curl;

    x->api->easy_setopt(c, CURLOPT_URL, x->target.url);
    x->api->easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    x->api->easy_setopt(c, CURLOPT_FRESH_CONNECT, 1L);
    x->api->easy_setopt(c, CURLOPT_FORBID_REUSE, 1L);
    x->api->easy_setopt(c, CURLOPT_FOLLOWLOCATION, 1L);
    x->api->easy_setopt(c, CURLOPT_MAXREDIRS, 10L);
    x->api->easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    x->api->easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    x->api->easy_setopt(c, CURLOPT_USERAGENT, "pprof-c");
    x->api->easy_setopt(c, CURLOPT_ERRORBUFFER, x->curl_words);
    if (x->options->timeout_ns > 0)
        x->api->easy_setopt(c, CURLOPT_TIMEOUT_MS,
                            (long)(x->options->timeout_ns / 1000000));
    if (x->target.ssh_login.n) {
        if (!tunnel_open(&x->tunnel, x->arena, x->target.ssh_login,
                         x->target.ssh_port, err))
            return false;
        x->target.unix_socket = x->tunnel.socket;
        x->api->easy_setopt(c, CURLOPT_PROXY, "");
    }
    if (x->target.unix_socket)
        x->api->easy_setopt(c, CURLOPT_UNIX_SOCKET_PATH, x->target.unix_socket);
    return true;
}

/* The name that the certificate must be for, while the connection goes where
 * the URL says and the Host header stays. */
static void set_server_name(struct exchange *x)
{
    struct str name = x->options->tls_server_name;
    struct url u;

    if (name.n == 0 || !url_parse(str_from(x->target.url), &u))
        return;
    ptrdiff_t colon = str_rfind_char(u.host, ':');
    bool has_port = colon >= 0 && str_find_char(u.host, ']') < colon;
    struct str port =
        has_port ? str_skip(u.host, (size_t)colon + 1) : STR("443");
    struct str host = has_port ? str_first(u.host, (size_t)colon) : u.host;

    x->headers = x->api->slist_append(
        x->headers, arena_printf(x->arena, "Host: %" STR_FMT, STR_ARG(u.host)));
    x->connect_to = x->api->slist_append(
        NULL, arena_printf(x->arena, "::%" STR_FMT ":%" STR_FMT, STR_ARG(host),
                           STR_ARG(port)));
    x->api->easy_setopt(x->curl, CURLOPT_CONNECT_TO, x->connect_to);
    x->target.url = arena_printf(
        x->arena, "https://%" STR_FMT ":%" STR_FMT "%" STR_FMT "%s%" STR_FMT,
        STR_ARG(name), STR_ARG(port), STR_ARG(u.path), u.query.n ? "?" : "",
        STR_ARG(u.query));
}

static bool is_https(const struct exchange *x)
{
    return strncmp(x->target.url, "https:", 6) == 0;
}

static bool check_readable(struct exchange *x, struct str path,
                           const char *what, struct error *err)
{
    const char *name = arena_cstr(x->arena, path);

    if (path.n == 0 || access(name, R_OK) == 0)
        return true;
    error_set_os(err, "open", name, errno);
    return error_wrap(err, "could not load %s", what);
}

static bool check_tls_files(struct exchange *x, struct error *err)
{
    const struct http_options *o = x->options;
    const char *pair =
        "certificate/key pair specified by -tls_cert and -tls_key";

    return check_readable(x, o->tls_cert, pair, err) &&
           check_readable(x, o->tls_key, pair, err) &&
           check_readable(x, o->tls_ca, "CA specified by -tls_ca", err);
}

static bool set_tls(struct exchange *x, bool post, struct error *err)
{
    const struct http_options *o = x->options;
    struct client_certificate files = {o->tls_cert, o->tls_key};
    struct str note;
    CURL *c = x->curl;

    if (!check_tls_files(x, err))
        return false;
    if (!client_certificate_complete(x->arena, &files, &note, err))
        return false;
    if (note.n && o->note && !post) /* once, at the profile itself */
        o->note(o->note_arg, arena_cstr(x->arena, note));

    if (is_https(x)) {
        set_server_name(x);
        x->api->easy_setopt(c, CURLOPT_DEBUGFUNCTION, note_tls);
        x->api->easy_setopt(c, CURLOPT_DEBUGDATA, x);
        x->api->easy_setopt(c, CURLOPT_VERBOSE, 1L);
    }
    x->api->easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (x->target.insecure) {
        x->api->easy_setopt(c, CURLOPT_SSL_VERIFYPEER, 0L);
        x->api->easy_setopt(c, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (files.cert.n) {
        x->api->easy_setopt(c, CURLOPT_SSLCERT,
                            arena_cstr(x->arena, files.cert));
        x->api->easy_setopt(c, CURLOPT_SSLKEY, arena_cstr(x->arena, files.key));
    }
    if (o->tls_ca.n) {
        x->api->easy_setopt(c, CURLOPT_CAINFO, arena_cstr(x->arena, o->tls_ca));
        x->api->easy_setopt(c, CURLOPT_CAPATH, NULL);
    }
    return true;
}

static bool set_headers(struct exchange *x, struct error *err)
{
    const struct http_options *o = x->options;
    struct buf token = BUF_INIT((size_t)64 << 10);

    for (size_t i = 0; i < o->n_headers; i++)
        x->headers = x->api->slist_append(x->headers,
                                          arena_cstr(x->arena, o->headers[i]));
    if (o->token_file.n) {
        const char *path = arena_cstr(x->arena, o->token_file);
        struct str rest, line;

        if (!file_read(path, &token, err)) {
            buf_release(&token);
            return error_wrap(err, "token file");
        }
        rest = buf_str(&token);
        if (!str_next_line(&rest, &line))
            line = STR("");
        x->headers = x->api->slist_append(
            x->headers,
            arena_printf(x->arena, "Authorization: Bearer %" STR_FMT,
                         STR_ARG(str_trim(line))));
        buf_release(&token);
    }
    x->api->easy_setopt(x->curl, CURLOPT_HTTPHEADER, x->headers);
    return true;
}

/* A part of a URL, decoded; as it is if it cannot be. */
static const char *decoded(struct arena *a, struct str part)
{
    char *text = arena_cstr(a, part);
    ptrdiff_t n = percent_decode(part, false, text);

    if (n < 0)
        return arena_cstr(a, part);
    text[n] = '\0';
    return text;
}

static void set_login(struct exchange *x)
{
    struct str login =
        x->options->login.n ? x->options->login : x->target.login;
    ptrdiff_t colon = str_find_char(login, ':');
    struct str user = colon < 0 ? login : str_first(login, (size_t)colon);
    struct str password =
        colon < 0 ? STR("") : str_skip(login, (size_t)colon + 1);

    if (login.n == 0)
        return;
    x->api->easy_setopt(x->curl, CURLOPT_USERNAME, decoded(x->arena, user));
    x->api->easy_setopt(x->curl, CURLOPT_PASSWORD, decoded(x->arena, password));
}

static void set_post(struct exchange *x, struct str body)
{
    x->headers = x->api->slist_append(x->headers,
                                      "Content-Type: application/octet-stream");
    x->headers = x->api->slist_append(x->headers, "Expect:");
    x->api->easy_setopt(x->curl, CURLOPT_POST, 1L);
    x->api->easy_setopt(x->curl, CURLOPT_POSTFIELDS, body.s);
    x->api->easy_setopt(x->curl, CURLOPT_POSTFIELDSIZE_LARGE,
                        (curl_off_t)body.n);
}

static bool has(const struct exchange *x, const char *words)
{
    return strstr(x->curl_words, words) != NULL;
}

/*
 * The server closed the connection before it sent any HTTP.  If it took part in
 * the handshake, the reason is nearly always that it requires a different
 * client certificate.  With TLS 1.3 its alert comes after our side of the
 * handshake is done and may be lost when it closes at once, so the alert's
 * words cannot be relied upon.  If it did not, nobody is there: kubectl
 * port-forward accepts connections to ports that nobody listens on.
 */
static bool tls_refusal_words(const struct exchange *x, struct error *err)
{
    bool is_tls = is_https(x);
    bool silent = x->reply->reason[0] == '\0' && x->reply->body.len == 0;

    if (has(x, "wrong version number"))
        return error_set(err, "the server does not speak TLS on this port "
                              "(use http:// instead of https://)");
    if (!is_tls || !silent)
        return error_set(err, "%s", x->curl_words);
    if (!x->heard_tls)
        return error_set(
            err,
            "the server closed the connection without a reply; check that the "
            "port is right and that the server speaks TLS (%s)",
            x->curl_words);
    if (x->options->tls_cert.n == 0 && x->options->tls_key.n == 0)
        return error_set(err,
                         "the server requires a client certificate: give it "
                         "with -tls_cert and -tls_key (%s)",
                         x->curl_words);
    return error_set(err,
                     "the server refused the client certificate of -tls_cert; "
                     "it must be signed by a CA that the server trusts, and be "
                     "valid for client authentication (%s)",
                     x->curl_words);
}

static bool connect_words(struct exchange *x, CURLcode rc, struct error *err)
{
    long os_error = 0;
    char reason[128];

    x->api->easy_getinfo(x->curl, CURLINFO_OS_ERRNO, &os_error);
    if (x->target.ssh_login.n)
        return error_set(
            err, "no answer through ssh to %" STR_FMT " port %u there (%s)",
            STR_ARG(x->target.ssh_login), x->target.ssh_port,
            x->curl_words[0] ? x->curl_words : x->api->easy_strerror(rc));
    if (rc == CURLE_COULDNT_CONNECT && os_error) {
        const char *words = strerror_r((int)os_error, reason, sizeof(reason));

        return error_set(err, "dial %s %s: connect: %c%s",
                         x->target.unix_socket ? "unix" : "tcp",
                         x->target.unix_socket ? x->target.unix_socket
                                               : x->target.host,
                         words[0] | 0x20, words + 1);
    }
    return error_set(err, "%s",
                     x->curl_words[0] ? x->curl_words
                                      : x->api->easy_strerror(rc));
}

/* "…does not match target host name 'x'", or the certificate's own names. */
static bool is_name_mismatch(const struct exchange *x)
{
    return has(x, "subject name") || has(x, "target host name") ||
           has(x, "target hostname");
}

static bool certificate_words(const struct exchange *x, struct error *err)
{
    if (!is_name_mismatch(x))
        return error_set(err,
                         "the server's certificate is not trusted: give its CA "
                         "with -tls_ca, or use https+insecure:// (%s)",
                         x->curl_words);
    if (x->options->tls_server_name.n)
        return error_set(
            err,
            "the server's certificate is not for the name %" STR_FMT
            " that -tls_server_name gives (%s)",
            STR_ARG(x->options->tls_server_name), x->curl_words);
    return error_set(
        err,
        "the server's certificate is not for the name %s: if this is the right "
        "server, give the name in its certificate with -tls_server_name (%s)",
        x->target.host, x->curl_words);
}

static bool failure_words(struct exchange *x, CURLcode rc, struct error *err)
{
    switch (rc) {
    case CURLE_COULDNT_RESOLVE_HOST:
        return error_set(err, "dial tcp: lookup %s: no such host",
                         x->target.host);
    case CURLE_OPERATION_TIMEDOUT:
        return error_set(err,
                         "no complete answer within %lld s (-timeout sets how "
                         "long to wait)",
                         (long long)(x->options->timeout_ns / 1000000000));
    case CURLE_ABORTED_BY_CALLBACK:
        return error_set(err, "interrupted");
    case CURLE_WRITE_ERROR:
        return error_set(err, "the reply is larger than the limit of %zu bytes",
                         x->reply->body.max);
    case CURLE_TOO_MANY_REDIRECTS:
        return error_set(err, "stopped after 10 redirects");
    case CURLE_PEER_FAILED_VERIFICATION:
        return certificate_words(x, err);
    case CURLE_SSL_CERTPROBLEM:
        return error_set(err,
                         "could not load certificate/key pair specified by "
                         "-tls_cert and -tls_key: %s",
                         x->curl_words);
    case CURLE_SSL_CACERT_BADFILE:
        return error_set(err, "could not load CA specified by -tls_ca: %s",
                         x->curl_words);
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
        return tls_refusal_words(x, err);
    case CURLE_GOT_NOTHING:
        return is_https(x) ? tls_refusal_words(x, err) : error_set(err, "EOF");
    default:
        return connect_words(x, rc, err);
    }
}

static bool is_this_machine(const struct exchange *x)
{
    struct str host = str_from(x->target.host);

    return x->target.unix_socket || str_has_prefix(host, STR("127.")) ||
           str_has_prefix(host, STR("localhost")) ||
           str_has_prefix(host, STR("[::1]"));
}

/* The exchange, repeated while the connection is refused. */
static CURLcode perform_patiently(struct exchange *x)
{
    const struct timespec pause = {.tv_nsec = REFUSED_PAUSE_NS};
    int64_t end = clock_monotonic_ns() + REFUSED_PATIENCE_NS;
    long os_error;
    CURLcode rc;

    do {
        rc = x->api->easy_perform(x->curl);
        os_error = 0;
        if (rc == CURLE_COULDNT_CONNECT)
            x->api->easy_getinfo(x->curl, CURLINFO_OS_ERRNO, &os_error);
    } while (os_error == ECONNREFUSED && is_this_machine(x) &&
             clock_monotonic_ns() < end && nanosleep(&pause, NULL) == 0);
    return rc;
}

static bool perform(struct exchange *x, bool post, struct error *err)
{
    struct http_reply *reply = x->reply;
    char *type = NULL;
    long status = 0;
    CURLcode rc;

    x->api->easy_setopt(x->curl, CURLOPT_WRITEFUNCTION, take_body);
    x->api->easy_setopt(x->curl, CURLOPT_WRITEDATA, x);
    x->api->easy_setopt(x->curl, CURLOPT_HEADERFUNCTION, take_header);
    x->api->easy_setopt(x->curl, CURLOPT_HEADERDATA, x);
    if (x->options->tick) {
        x->api->easy_setopt(x->curl, CURLOPT_NOPROGRESS, 0L);
        x->api->easy_setopt(x->curl, CURLOPT_XFERINFOFUNCTION, tick);
        x->api->easy_setopt(x->curl, CURLOPT_XFERINFODATA, x);
    }
    rc = perform_patiently(x);
    if (rc != CURLE_OK) {
        failure_words(x, rc, err);
        return error_wrap(err, "%s \"%s\"", post ? "Post" : "Get",
                          x->target.shown);
    }
    x->api->easy_getinfo(x->curl, CURLINFO_RESPONSE_CODE, &status);
    x->api->easy_getinfo(x->curl, CURLINFO_CONTENT_TYPE, &type);
    reply->status = (int)status;
    snprintf(reply->content_type, sizeof(reply->content_type), "%s",
             type ? type : "");
    return true;
}

bool http_fetch(struct str url, bool post, struct str body,
                const struct http_options *options, struct http_reply *reply,
                struct error *err)
{
    struct exchange x = {
        .api = curl_load(err),
        .arena = arena_new(),
        .options = options,
        .reply = reply,
    };
    bool ok = x.api != NULL;

    *reply = (struct http_reply){
        .body =
            BUF_INIT(options->max_reply ? options->max_reply : HTTP_MAX_REPLY)};
    if (ok && !(x.curl = x.api->easy_init()))
        ok = error_set(err, "cannot set up libcurl");
    ok = ok && http_target_parse(x.arena, url, &x.target, err);
    ok = ok && set_tls(&x, post, err);
    if (ok)
        set_login(&x);
    if (ok && post)
        set_post(&x, body);
    ok = ok && set_headers(&x, err) && set_connection(&x, err) &&
         perform(&x, post, err);
    if (x.curl)
        x.api->easy_cleanup(x.curl);
    tunnel_close(&x.tunnel);
    if (x.headers)
        x.api->slist_free_all(x.headers);
    if (x.connect_to)
        x.api->slist_free_all(x.connect_to);
    arena_free(x.arena);
    if (!ok)
        buf_release(&reply->body);
    return ok;
}

void http_error_words(const struct http_reply *reply, struct error *err)
{
    struct str body = str_trim(buf_str(&reply->body));
    bool text = strncmp(reply->content_type, "text/plain", 10) == 0 ||
                strncmp(reply->content_type, "application/json", 16) == 0;

    error_set_code(err, reply->status == 404 ? ENOENT : 0,
                   "server response: %d%s%s", reply->status,
                   reply->reason[0] ? " " : "", reply->reason);
    if (text && body.n) {
        size_t used = strlen(err->text);

        snprintf(err->text + used, sizeof(err->text) - used, " - %" STR_FMT,
                 STR_ARG(str_first(body, 1000)));
    }
}

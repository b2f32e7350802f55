/*
 * What went wrong, in words for those who run the targets.  libcurl's own
 * words are added where they know more.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "collector/scrape/transfer_parts.h"

#define SHOWN_BODY 200 /* bytes of a reply that is an error */

static const char *const words_of_reasons[SCRAPE_REASONS] = {
    [SCRAPE_OK] = "ok",
    [SCRAPE_REFUSED] = "connection refused",
    [SCRAPE_UNREACHABLE] = "connection failed",
    [SCRAPE_NO_HOST] = "no such host",
    [SCRAPE_TIMEOUT] = "timeout",
    [SCRAPE_CERTIFICATE] = "certificate problem",
    [SCRAPE_DENIED] = "access denied",
    [SCRAPE_NO_PROFILE] = "no such profile",
    [SCRAPE_STATUS] = "error status",
    [SCRAPE_TOO_LARGE] = "too large",
    [SCRAPE_INVALID] = "not a profile",
    [SCRAPE_STORE] = "not stored",
    [SCRAPE_LOCAL] = "local problem",
};

const char *scrape_reason_words(enum scrape_reason reason)
{
    return words_of_reasons[reason];
}

static enum scrape_reason fail(struct transfer_result *out,
                               enum scrape_reason reason, const char *words)
{
    error_set(&out->err, "%s", words);
    return reason;
}

/* --- replies that are not 200 --------------------------------------------- */

/* The first line of a text. */
static void add_reply(struct transfer *x, struct error *err)
{
    struct str rest = buf_str(&x->body), line;
    size_t n = 0;

    if (!str_next_line(&rest, &line))
        return;
    line = str_trim(line.n > SHOWN_BODY ? str_first(line, SHOWN_BODY) : line);
    while (n < line.n && (unsigned char)line.s[n] >= ' ')
        n++;
    if (line.n == 0 || n < line.n || line.s[0] == '<')
        return;
    n = strlen(err->text);
    snprintf(err->text + n, sizeof(err->text) - n, " (it says: %" STR_FMT ")",
             STR_ARG(line));
}

static enum scrape_reason judge_status(struct transfer *x,
                                       struct transfer_result *out)
{
    enum scrape_reason reason = SCRAPE_STATUS;

    switch (out->status) {
    case 200:
        return SCRAPE_OK;
    case 401:
        reason =
            fail(out, SCRAPE_DENIED,
                 "401 Unauthorized: the target does not accept the "
                 "credentials; check authorization, basic_auth or tls_config");
        break;
    case 403:
        reason = fail(out, SCRAPE_DENIED,
                      "403 Forbidden: the target does not allow this client to "
                      "read profiles");
        break;
    case 404:
        reason = fail(out, SCRAPE_NO_PROFILE,
                      "404 Not Found: the target has no such profile; check "
                      "path_prefix and profiles");
        break;
    default:
        error_set(&out->err, "the target answered with status %d", out->status);
    }
    add_reply(x, &out->err);
    return reason;
}

/* --- no reply ------------------------------------------------------------- */

static enum scrape_reason judge_connection(struct transfer *x, CURLcode rc,
                                           struct transfer_result *out)
{
    long os_error = 0;
    char reason[128];

    x->api->easy_getinfo(x->easy, CURLINFO_OS_ERRNO, &os_error);
    if (rc == CURLE_COULDNT_CONNECT && os_error == ECONNREFUSED)
        return fail(out, SCRAPE_REFUSED,
                    "connection refused: nothing listens on this address");
    if (rc == CURLE_COULDNT_CONNECT && os_error) {
        error_set(&out->err, "cannot connect: %s",
                  strerror_r((int)os_error, reason, sizeof(reason)));
        return SCRAPE_UNREACHABLE;
    }
    return fail(out, SCRAPE_UNREACHABLE,
                x->words[0] ? x->words : x->api->easy_strerror(rc));
}

/* The server ended the connection before it said a word of HTTP: over TLS
 * nearly always because of the client's certificate. */
static enum scrape_reason judge_silence(struct transfer *x, CURLcode rc,
                                        struct transfer_result *out)
{
    if (strstr(x->words, "wrong version number"))
        return fail(out, SCRAPE_CERTIFICATE,
                    "the target does not speak TLS on this port: use the "
                    "scheme http");
    if (!x->is_https || out->status != 0)
        return judge_connection(x, rc, out);
    error_set(&out->err,
              x->has_certificate
                  ? "the target refused the client certificate of "
                    "tls_config.cert_file (%s)"
                  : "the target requires a client certificate: give it with "
                    "tls_config.cert_file and key_file (%s)",
              x->words);
    return SCRAPE_CERTIFICATE;
}

static enum scrape_reason judge_certificate(struct transfer *x,
                                            struct transfer_result *out)
{
    bool is_name = strstr(x->words, "subject name") ||
                   strstr(x->words, "target host name") ||
                   strstr(x->words, "target hostname");

    error_set(&out->err,
              is_name ? "the target's certificate is for another name: if "
                        "this is the right server, give the name with "
                        "tls_config.server_name (%s)"
                      : "the target's certificate is not trusted: give its CA "
                        "with tls_config.ca_file (%s)",
              x->words);
    return SCRAPE_CERTIFICATE;
}

static enum scrape_reason judge_size(struct transfer *x,
                                     struct transfer_result *out)
{
    if (x->is_starved)
        error_set(&out->err, "too large: the memory for all scrapes together "
                             "is used up; raise scrape.memory");
    else
        error_set(&out->err,
                  "too large: the profile has more than %zu bytes; raise "
                  "body_size_limit",
                  x->max_bytes);
    return SCRAPE_TOO_LARGE;
}

static enum scrape_reason judge(struct transfer *x, CURLcode rc,
                                struct transfer_result *out)
{
    switch (rc) {
    case CURLE_OK:
        return judge_status(x, out);
    case CURLE_COULDNT_RESOLVE_HOST:
        return fail(out, SCRAPE_NO_HOST, "the host name does not resolve");
    case CURLE_COULDNT_RESOLVE_PROXY:
        return fail(out, SCRAPE_NO_HOST,
                    "the host name of the proxy does not resolve");
    case CURLE_OPERATION_TIMEDOUT:
        error_set(&out->err, "no complete reply within %lld s",
                  (long long)(x->timeout_ns / SECOND));
        return SCRAPE_TIMEOUT;
    case CURLE_WRITE_ERROR:
    case CURLE_FILESIZE_EXCEEDED:
        return judge_size(x, out);
    case CURLE_PEER_FAILED_VERIFICATION:
        return judge_certificate(x, out);
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
        error_set(&out->err, "the files of tls_config cannot be used: %s",
                  x->words);
        return SCRAPE_CERTIFICATE;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
        return judge_silence(x, rc, out);
    default:
        return judge_connection(x, rc, out);
    }
}

void transfer_judge(struct transfer *x, CURLcode rc,
                    struct transfer_result *out)
{
    long status = 0;

    x->api->easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
    out->status = (int)status;
    out->reason = judge(x, rc, out);
}

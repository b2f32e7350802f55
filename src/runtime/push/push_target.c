/*
 * The classes of failure are those of profefe's agent: the network and 5xx may
 * pass, 4xx will not.  Exceptions are 408 and 429, which mean "later", and
 * redirects, which are refused: the URL is wrong, and a token must not be sent
 * to a host that was not configured.
 */
#include "runtime/push/push_target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/percent.h"
#include "runtime/push/push_labels.h"
#include "runtime/say.h"

#define CONNECT_NS      (5 * SECOND)
#define MAX_REPLY_BYTES ((size_t)16 << 10)
#define MAX_TOKEN_BYTES ((size_t)16 << 10)
#define MAX_SHOWN       200 /* bytes of a reply in a message */

static bool take_file(const char *asked, const char *variable, char *out,
                      struct error *err)
{
    const char *value = asked && *asked ? asked : secure_getenv(variable);

    out[0] = '\0';
    if (!value || !*value)
        return true;
    if (snprintf(out, PUSH_PATH_MAX, "%s", value) >= PUSH_PATH_MAX)
        return error_set_os(err, "open", value, ENAMETOOLONG);
    return access(value, R_OK) == 0 || (error_set_os(err, "open", value, errno),
                                        error_wrap(err, "%s", variable));
}

static bool check_together(const struct push_target *t, struct error *err)
{
    if (!t->cert[0] != !t->key[0])
        return error_set(
            err, "%s is set, so %s must be set too",
            t->cert[0] ? "PPROF_COLLECTOR_CERT" : "PPROF_COLLECTOR_KEY",
            t->cert[0] ? "PPROF_COLLECTOR_KEY" : "PPROF_COLLECTOR_CERT");
    if (!t->url.is_tls && (t->ca[0] || t->cert[0]))
        return error_set(err,
                         "%s: PPROF_COLLECTOR_CA, _CERT and _KEY are for "
                         "https:// URLs",
                         t->shown);
    return true;
}

static bool read_labels(const char *asked, struct push_target *out,
                        struct error *err)
{
    struct buf text = BUF_INIT(sizeof(out->labels) - 1);
    struct push_labels labels;

    push_labels_read(asked, secure_getenv, &labels, &out->has_pid);
    push_labels_write(&labels, &text);
    if (labels.lost)
        say_note("%u labels of pushed profiles are left out: there may be %d",
                 labels.lost, PUSH_LABELS_MAX);
    snprintf(out->labels, sizeof(out->labels), "%s",
             buf_ok(&text) ? buf_cstr(&text) : "");
    if (!buf_ok(&text))
        error_set(err, "the labels of pushed profiles are too long");
    buf_release(&text);
    return out->labels[0] || labels.n == 0;
}

bool push_target_read(const struct push_target_options *asked,
                      struct push_target *out, struct error *err)
{
    const char *url = asked->collector && *asked->collector
                          ? asked->collector
                          : secure_getenv("PPROF_COLLECTOR");

    if (!url || !*url)
        return error_set(err, "no collector is named: set PPROF_COLLECTOR to "
                              "its URL");
    if (!http_url_parse(str_from(url), &out->url, err))
        return error_wrap(err, "PPROF_COLLECTOR");
    snprintf(out->shown, sizeof(out->shown), "%s://%s%s%s:%s%s",
             out->url.is_tls ? "https" : "http",
             strchr(out->url.host, ':') ? "[" : "", out->url.host,
             strchr(out->url.host, ':') ? "]" : "", out->url.port,
             out->url.path);
    push_service_read(asked->service, secure_getenv, out->service,
                      sizeof(out->service));
    return read_labels(asked->labels, out, err) &&
           take_file(asked->ca, "PPROF_COLLECTOR_CA", out->ca, err) &&
           take_file(asked->cert, "PPROF_COLLECTOR_CERT", out->cert, err) &&
           take_file(asked->key, "PPROF_COLLECTOR_KEY", out->key, err) &&
           take_file(asked->token_file, "PPROF_COLLECTOR_TOKEN_FILE",
                     out->token_file, err) &&
           check_together(out, err);
}

/* --- sending ------------------------------------------------------------- */

static void write_path(const struct push_target *t,
                       const struct push_request *r, struct buf *out)
{
    struct buf labels = BUF_INIT(2 * sizeof(t->labels));
    char pid[16];

    buf_addf(out, "%s/api/0/profiles?type=%s&service=", t->url.path, r->type);
    percent_encode(out, str_from(t->service), "");
    buf_add(&labels, str_from(t->labels));
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    if (t->has_pid)
        push_label_append(&labels, STR("pid"), str_from(pid));
    if (r->note)
        push_label_append(&labels, STR("note"), str_from(r->note));
    if (labels.len)
        buf_add(out, STR("&labels="));
    buf_add(out, buf_str(&labels));
    out->failed |= !buf_ok(&labels);
    buf_release(&labels);
}

/* A reply's body is untrusted text: one line, printable characters. */
static struct error words_of(const struct buf *reply)
{
    struct error words;
    size_t n = reply->len < MAX_SHOWN ? reply->len : MAX_SHOWN;

    for (size_t i = 0; i < n; i++) {
        char c = reply->data[i];

        words.text[i] = c >= ' ' && c < 0x7f ? c : ' ';
    }
    while (n && words.text[n - 1] == ' ')
        n--;
    words.text[n] = '\0';
    return words;
}

static enum push_result judge(const struct http_answer *answer,
                              const struct buf *reply, struct error *err)
{
    int class = answer->status / 100;
    struct error words;

    if (class == 2)
        return PUSH_STORED; /* whatever came of the body */
    if (answer->status == 0)
        return PUSH_LATER; /* err says why */
    words = words_of(reply);
    error_set(err, "status %d%s%s%s", answer->status, words.text[0] ? ": " : "",
              words.text,
              class == 3 ? " (redirects are not followed: name the URL that "
                           "the collector answers at)"
                         : "");
    return class == 5 || answer->status == 408 || answer->status == 429
               ? PUSH_LATER
               : PUSH_REFUSED;
}

static bool read_token(const struct push_target *t, struct buf *out,
                       struct error *err)
{
    struct str rest, line;

    if (!t->token_file[0])
        return true;
    if (!file_read(t->token_file, out, err))
        return false;
    rest = buf_str(out);
    if (!str_next_line(&rest, &line) || str_trim(line).n == 0)
        return error_set(err, "%s: no token in the first line", t->token_file);
    for (size_t i = 0; i < line.n; i++)
        if (line.s[i] < ' ' || line.s[i] == 0x7f)
            return error_set(err, "%s: not a token in the first line",
                             t->token_file);
    out->len = line.n;
    return true;
}

static enum push_result post(const struct push_target *t,
                             const struct push_request *r, const char *path,
                             struct str token, struct http_answer *answer,
                             struct error *err)
{
    struct tls_client_files tls = {t->ca[0] ? t->ca : NULL,
                                   t->cert[0] ? t->cert : NULL,
                                   t->key[0] ? t->key : NULL};
    struct buf reply = BUF_INIT(MAX_REPLY_BYTES);
    enum push_result result;

    http_call(
        &(struct http_call){
            .method = "POST",
            .tls = t->url.is_tls ? &tls : NULL,
            .host = t->url.host,
            .port = t->url.port,
            .path = path,
            .content_type = "application/octet-stream",
            .token = token,
            .user = str_from(t->url.user),
            .body = r->profile,
            .deadline_ns = r->deadline_ns,
            .connect_ns = CONNECT_NS,
        },
        answer, &reply, err);
    result = judge(answer, &reply, err);
    buf_release(&reply);
    return result;
}

enum push_result push_send(const struct push_target *target,
                           const struct push_request *request,
                           int64_t *retry_after_ns, struct error *err)
{
    struct buf path = BUF_INIT((size_t)48 << 10);
    struct buf token = BUF_INIT(MAX_TOKEN_BYTES);
    struct http_answer answer = {0};
    enum push_result result = PUSH_LATER;

    write_path(target, request, &path);
    if (!buf_ok(&path))
        error_set(err, "out of memory");
    else if (read_token(target, &token, err))
        result = post(target, request, buf_cstr(&path),
                      str_trim(buf_str(&token)), &answer, err);
    *retry_after_ns = answer.retry_after_s * SECOND;
    if (token.data)
        explicit_bzero(token.data, token.cap);
    buf_release(&token);
    buf_release(&path);
    return result;
}

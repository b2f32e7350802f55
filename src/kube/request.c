/*
 * A thin layer over libcurl's multi interface: options that every request has,
 * and callbacks that know their request.  However a transfer ends, finish()
 * calls its owner.
 */
#include "kube/request.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"

#define CONNECT_SECONDS 10L
#define SILENT_SECONDS  60L
#define LONGEST_POLL_MS 60000

bool kube_client_init(struct kube_client *c, struct kube_access *access,
                      struct error *err)
{
    *c = (struct kube_client){.api = curl_load(err), .access = access};
    if (!c->api)
        return false;
    c->multi = c->api->multi_init();
    return c->multi || error_set(err, "out of memory");
}

void kube_client_release(struct kube_client *c)
{
    if (c->multi)
        c->api->multi_cleanup(c->multi);
    c->multi = NULL;
}

static void answer_once(struct kube_client *c, struct kube_request *r)
{
    long status = 0;
    curl_off_t retry_after = 0;

    if (r->has_answered)
        return;
    c->api->easy_getinfo(r->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200)
        return;
    c->api->easy_getinfo(r->curl, CURLINFO_RETRY_AFTER, &retry_after);
    r->has_answered = true;
    r->owner.answer(r->owner.arg, (int)status, (int64_t)retry_after * SECOND);
}

/* What the callbacks of one transfer need; libcurl passes one pointer. */
struct transfer {
    struct kube_client *client;
    struct kube_request *request;
};

/* The blank line after the header: the status is known, even if the first
 * event of a watch is an hour away. */
static size_t take_header(char *data, size_t size, size_t n, void *arg)
{
    struct transfer *t = arg;

    if (str_trim(str_of(data, size * n)).n == 0)
        answer_once(t->client, t->request);
    return size * n;
}

static size_t take_body(char *data, size_t size, size_t n, void *arg)
{
    struct transfer *t = arg;
    struct kube_request *r = t->request;

    answer_once(t->client, r);
    return r->owner.body(r->owner.arg, str_of(data, size * n)) ? size * n : 0;
}

static void set_options(struct kube_client *c, struct kube_request *r,
                        const char *url, int seconds)
{
    const struct curl_api *api = c->api;
    CURL *curl = r->curl;

    api->easy_setopt(curl, CURLOPT_URL, url);
    api->easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    api->easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    api->easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    /* A connection for each watch: with HTTP/2 all would fail together. */
    api->easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    api->easy_setopt(curl, CURLOPT_USERAGENT, "pprof-c");
    api->easy_setopt(curl, CURLOPT_ERRORBUFFER, r->curl_words);
    api->easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
    api->easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    api->easy_setopt(curl, CURLOPT_TCP_KEEPIDLE, 30L);
    api->easy_setopt(curl, CURLOPT_TCP_KEEPINTVL, 10L);
    if (seconds) {
        api->easy_setopt(curl, CURLOPT_TIMEOUT, (long)seconds);
    } else {
        api->easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
        api->easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, SILENT_SECONDS);
        /* Lists are compressed when they are large, watches never. */
        api->easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "gzip");
    }
}

static void set_callbacks(struct kube_client *c, struct kube_request *r,
                          struct transfer *t)
{
    c->api->easy_setopt(r->curl, CURLOPT_HEADERFUNCTION, take_header);
    c->api->easy_setopt(r->curl, CURLOPT_HEADERDATA, t);
    c->api->easy_setopt(r->curl, CURLOPT_WRITEFUNCTION, take_body);
    c->api->easy_setopt(r->curl, CURLOPT_WRITEDATA, t);
    c->api->easy_setopt(r->curl, CURLOPT_PRIVATE, t);
    c->api->easy_setopt(r->curl, CURLOPT_HTTPHEADER, r->headers);
}

static bool prepare(struct kube_client *c, struct kube_request *r,
                    const char *path, int seconds, struct error *err)
{
    struct buf url = BUF_INIT((size_t)64 << 10);
    struct transfer *t = calloc(1, sizeof(*t));

    r->curl = t ? c->api->easy_init() : NULL;
    if (!r->curl) {
        free(t);
        return error_set(err, "out of memory");
    }
    *t = (struct transfer){c, r};
    buf_addf(&url, "%s%s", kube_access_url(c->access), path);
    set_options(c, r, buf_cstr(&url), seconds);
    buf_release(&url);
    r->headers = c->api->slist_append(NULL, "Accept: application/json");
    if (!kube_access_apply(c->access, c->api, r->curl, &r->headers, err)) {
        c->api->easy_setopt(r->curl, CURLOPT_PRIVATE, t);
        return false;
    }
    set_callbacks(c, r, t);
    return c->api->multi_add_handle(c->multi, r->curl) == CURLM_OK ||
           error_set(err, "out of memory");
}

static void release(struct kube_client *c, struct kube_request *r)
{
    void *transfer = NULL;

    if (r->curl) {
        c->api->easy_getinfo(r->curl, CURLINFO_PRIVATE, &transfer);
        c->api->multi_remove_handle(c->multi, r->curl);
        c->api->easy_cleanup(r->curl);
    }
    free(transfer);
    c->api->slist_free_all(r->headers);
    r->curl = NULL;
    r->headers = NULL;
}

void kube_request_send(struct kube_client *c, struct kube_request *r,
                       const char *path, int seconds, int64_t now_ns)
{
    struct error err;

    r->has_answered = false;
    r->curl_words[0] = '\0';
    if (prepare(c, r, path, seconds, &err))
        return;
    release(c, r);
    r->owner.end(r->owner.arg, false, err.text, now_ns);
}

void kube_request_cancel(struct kube_client *c, struct kube_request *r)
{
    if (r->curl)
        release(c, r);
}

static void finish(struct kube_client *c, struct kube_request *r, CURLcode rc)
{
    char words[CURL_ERROR_SIZE + 32];

    snprintf(words, sizeof(words), "%s",
             r->curl_words[0] ? r->curl_words : c->api->easy_strerror(rc));
    answer_once(c, r);
    release(c, r);
    r->owner.end(r->owner.arg, rc == CURLE_OK, words, clock_monotonic_ns());
}

void kube_client_run(struct kube_client *c, int64_t until_ns)
{
    int64_t wait_ns = until_ns - clock_monotonic_ns();
    int running, left, ms = LONGEST_POLL_MS;
    CURLMsg *message;

    if (wait_ns < (int64_t)LONGEST_POLL_MS * 1000000)
        ms = wait_ns <= 0 ? 0 : (int)(wait_ns / 1000000) + 1;
    c->api->multi_poll(c->multi, NULL, 0, ms, NULL);
    c->api->multi_perform(c->multi, &running);
    while ((message = c->api->multi_info_read(c->multi, &left)) != NULL) {
        struct transfer *t = NULL;
        CURLcode rc = message->data.result;

        if (message->msg != CURLMSG_DONE)
            continue;
        c->api->easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &t);
        finish(c, t->request, rc);
    }
}

void kube_client_wake(struct kube_client *c)
{
    c->api->multi_wakeup(c->multi);
}

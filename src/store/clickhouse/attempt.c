/*
 * Requests over libcurl's easy handles, which keep their connections; idle
 * handles wait in a list.  The server is told to answer only when the query
 * has ended (wait_end_of_query), so that a failure in the middle is a status
 * and not the tail of a reply.
 */
#include "store/clickhouse/attempt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/percent.h"
#include "store/clickhouse/refusal.h"

#define CONNECT_MS    5000L
#define QUERY_NS      (60 * SECOND)
#define PATIENCE_NS   (3 * SECOND) /* then the host is checked */
#define REFUSAL_BYTES ((size_t)64 << 10)
#define URL_BYTES     ((size_t)64 << 10)
#define MAX_IDLE      64

struct handle {
    struct handle *next;
    CURL *curl;
    char words[CURL_ERROR_SIZE];
};

/* One request at one host. */
struct attempt {
    struct ch_client *client;
    struct ch_request *request;
    struct handle *handle;
    struct host *host;
    struct buf refusal;
    int64_t started_ns;
    long status;
    bool cancelled, abandoned, too_large;
    bool was_sent;
    bool is_framed, has_headers; /* the reply says where it ends */
    bool is_check;               /* of the host's health */
    char query_id[40];
};

/* --- handles -------------------------------------------------------------- */

static void set_options(struct ch_client *c, struct handle *h)
{
    const struct curl_api *api = c->api;

    api->easy_setopt(h->curl, CURLOPT_NOSIGNAL, 1L);
    api->easy_setopt(h->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    api->easy_setopt(h->curl, CURLOPT_SSLVERSION,
                     (long)CURL_SSLVERSION_TLSv1_2);
    api->easy_setopt(h->curl, CURLOPT_HTTP_VERSION,
                     (long)CURL_HTTP_VERSION_1_1);
    api->easy_setopt(h->curl, CURLOPT_USERAGENT, "pprofd");
    api->easy_setopt(h->curl, CURLOPT_ERRORBUFFER, h->words);
    api->easy_setopt(h->curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    api->easy_setopt(h->curl, CURLOPT_TCP_KEEPALIVE, 1L);
    if (c->ca_file)
        api->easy_setopt(h->curl, CURLOPT_CAINFO, c->ca_file);
    if (c->cert_file)
        api->easy_setopt(h->curl, CURLOPT_SSLCERT, c->cert_file);
    if (c->key_file)
        api->easy_setopt(h->curl, CURLOPT_SSLKEY, c->key_file);
}

static struct handle *take_handle(struct ch_client *c)
{
    struct handle *h;

    pthread_mutex_lock(&c->lock);
    h = c->idle;
    if (h) {
        c->idle = h->next;
        c->n_idle--;
    }
    pthread_mutex_unlock(&c->lock);
    if (h)
        return h;
    h = calloc(1, sizeof(*h));
    if (h && !(h->curl = c->api->easy_init())) {
        free(h);
        return NULL;
    }
    if (h)
        set_options(c, h);
    return h;
}

static void give_handle(struct ch_client *c, struct handle *h)
{
    bool keep;

    pthread_mutex_lock(&c->lock);
    keep = c->n_idle < MAX_IDLE;
    if (keep) {
        h->next = c->idle;
        c->idle = h;
        c->n_idle++;
    }
    pthread_mutex_unlock(&c->lock);
    if (!keep) {
        c->api->easy_cleanup(h->curl);
        free(h);
    }
}

void ch_handles_free(struct ch_client *c)
{
    while (c->idle) {
        struct handle *h = c->idle;

        c->idle = h->next;
        c->api->easy_cleanup(h->curl);
        free(h);
    }
}

/* --- one attempt
 * -------------------------------------------------------------- */

/* libcurl takes headers that were cut off for a reply without a body. */
static size_t take_header(char *data, size_t size, size_t n, void *arg)
{
    struct attempt *t = arg;
    struct str line = str_trim(str_of(data, size * n));

    if (str_has_prefix(line, STR("HTTP/")))
        t->is_framed = t->has_headers = false;
    else if (!line.n)
        t->has_headers = true;
    else if (str_eq_nocase(str_first(line, line.n < 15 ? line.n : 15),
                           STR("Content-Length:")) ||
             str_eq_nocase(str_first(line, line.n < 18 ? line.n : 18),
                           STR("Transfer-Encoding:")))
        t->is_framed = true;
    return size * n;
}

static size_t take_body(char *data, size_t size, size_t n, void *arg)
{
    struct attempt *t = arg;
    struct buf *to = &t->refusal;

    t->client->api->easy_getinfo(t->handle->curl, CURLINFO_RESPONSE_CODE,
                                 &t->status);
    if (t->status == 200 && t->request->out)
        to = t->request->out;
    buf_add_bytes(to, data, size * n);
    if (to != &t->refusal && !buf_ok(to)) {
        t->too_large = true;
        return 0;
    }
    return size * n;
}

/* Called about once a second while a request waits.  One that waits for long
 * has the host checked, and does not wait for a host that is down. */
static int watch(void *arg, curl_off_t a, curl_off_t b, curl_off_t c,
                 curl_off_t d)
{
    struct attempt *t = arg;
    const struct store_budget *budget = t->request->budget;

    (void)a, (void)b, (void)c, (void)d;
    t->cancelled =
        budget && budget->cancelled && budget->cancelled(budget->arg);
    if (t->is_check)
        return t->cancelled || atomic_load(&t->client->checker.stop);
    t->abandoned = atomic_load(&t->host->is_down);
    if (clock_monotonic_ns() - t->started_ns > PATIENCE_NS)
        ch_suspect(t->client, t->host);
    return t->cancelled || t->abandoned;
}

static int64_t timeout_of(const struct ch_request *r)
{
    return r->timeout_ns ? r->timeout_ns : QUERY_NS;
}

/* Seconds that ClickHouse may take: nobody waits for longer. */
static int64_t time_limit(const struct ch_request *r)
{
    int64_t ns = r->budget ? r->budget->cpu_ns : 0;

    return (ns && ns < timeout_of(r) ? ns : timeout_of(r)) / SECOND + 1;
}

/* Settings stand in the URL: there is no session to keep them in. */
static void write_url(struct attempt *t, struct buf *url)
{
    const struct ch_request *r = t->request;

    buf_add(url, str_from(t->host->base));
    buf_addf(url, "?query_id=%s&wait_end_of_query=1", t->query_id);
    if (!r->no_database)
        buf_addf(url, "&database=%" STR_FMT,
                 STR_ARG(t->client->address.database));
    if (r->is_sync)
        buf_add(url, STR("&insert_distributed_sync=1"));
    if (r->data.s) {
        buf_add(url, STR("&query="));
        percent_encode(url, r->sql, "");
        return;
    }
    buf_add(url, STR("&max_query_size=16777216"));
    if (t->client->query_memory)
        buf_addf(url, "&max_memory_usage=%" PRIu64, t->client->query_memory);
    if (r->may_spill && t->client->query_memory)
        buf_addf(url, "&max_bytes_before_external_group_by=%" PRIu64,
                 t->client->query_memory / 2);
    buf_addf(url, "&max_execution_time=%" PRIi64, time_limit(r));
}

static CURLcode perform(struct attempt *t)
{
    const struct curl_api *api = t->client->api;
    const struct ch_request *r = t->request;
    struct str body = r->data.s ? r->data : r->sql;
    struct buf url = BUF_INIT(URL_BYTES);
    struct curl_slist *headers = NULL;
    CURL *curl = t->handle->curl;
    curl_off_t connected = 0;
    CURLcode rc;

    write_url(t, &url);
    headers = api->slist_append(headers, t->client->user_header);
    if (t->client->key_header)
        headers = api->slist_append(headers, t->client->key_header);
    headers = api->slist_append(headers, "Expect:");
    headers =
        api->slist_append(headers, "Content-Type: application/octet-stream");
    buf_add_char(&url, '\0');
    api->easy_setopt(curl, CURLOPT_URL, buf_ok(&url) ? url.data : "");
    api->easy_setopt(curl, CURLOPT_POST, 1L);
    api->easy_setopt(curl, CURLOPT_POSTFIELDS, body.s);
    api->easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.n);
    api->easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    api->easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    api->easy_setopt(curl, CURLOPT_WRITEDATA, t);
    api->easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    api->easy_setopt(curl, CURLOPT_HEADERDATA, t);
    api->easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, watch);
    api->easy_setopt(curl, CURLOPT_XFERINFODATA, t);
    api->easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    api->easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(timeout_of(r) / 1000000));
    t->handle->words[0] = '\0';
    t->started_ns = clock_monotonic_ns();
    rc = api->easy_perform(curl);
    api->easy_getinfo(curl, CURLINFO_PRETRANSFER_TIME_T, &connected);
    t->was_sent = connected > 0;
    if (rc == CURLE_OK && !(t->has_headers && t->is_framed))
        rc = CURLE_PARTIAL_FILE;
    api->easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &t->status);
    api->easy_setopt(curl, CURLOPT_HTTPHEADER, NULL);
    api->slist_free_all(headers);
    buf_release(&url);
    return rc;
}

/* --- what it means -------------------------------------------------------- */

/* What to do about a connection that fails. */
static const char *advice_of(const struct attempt *t, CURLcode rc,
                             const char *words)
{
    bool is_closed = rc == CURLE_SEND_ERROR || rc == CURLE_RECV_ERROR;

    /* With TLS 1.3 the server's reason may come too late to be seen. */
    if (strstr(words, "certificate required") ||
        strstr(words, "handshake failure") ||
        (is_closed && t->client->address.is_tls && !t->client->cert_file &&
         !t->has_headers))
        return "; it may want a client certificate: --store-cert, --store-key";
    switch (rc) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
        return "; check --store-ca and the host's name";
    case CURLE_SSL_CERTPROBLEM:
        return "; check --store-cert and --store-key";
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
        return "; check that it runs and the address in --store";
    default:
        return "";
    }
}

static void describe_failure(struct attempt *t, CURLcode rc, struct error *err)
{
    const char *words = t->handle->words[0] ? t->handle->words
                                            : t->client->api->easy_strerror(rc);

    if (t->abandoned)
        error_set(err, "ClickHouse at %s does not answer any more",
                  t->host->base);
    else
        error_set(err, "ClickHouse at %s: %.120s%s", t->host->base, words,
                  advice_of(t, rc, words));
}

static enum store_status understand(struct attempt *t, CURLcode rc,
                                    struct error *err)
{
    struct ch_request *r = t->request;
    struct refusal refusal;

    if (t->cancelled) {
        error_set(err, "the query was cancelled");
        return STORE_CANCELLED;
    }
    if (t->too_large) {
        error_set(err, "the reply of ClickHouse is larger than %zu bytes",
                  r->out->max);
        return STORE_LIMITED;
    }
    if (rc != CURLE_OK) {
        describe_failure(t, rc, err);
        return STORE_BUSY;
    }
    if (t->status == 200)
        return STORE_OK;
    refusal = refusal_read(buf_str(&t->refusal), t->status);
    refusal_describe(&refusal, buf_str(&t->refusal), t->host->base, err);
    r->code = refusal.code;
    return refusal.status;
}

/* The server goes on with a query whose client has gone. */
static void cancel(struct ch_client *c, struct host *host, const char *query_id)
{
    char sql[120];
    struct ch_request r = {.timeout_ns = CHECK_NS};
    struct attempt t = {
        .client = c, .request = &r, .host = host, .refusal = BUF_INIT(4096)};

    snprintf(sql, sizeof(sql), "KILL QUERY WHERE query_id = '%s' ASYNC",
             query_id);
    r.sql = str_from(sql);
    snprintf(t.query_id, sizeof(t.query_id), "k%.38s", query_id);
    t.handle = take_handle(c);
    if (!t.handle)
        return;
    perform(&t);
    give_handle(c, t.handle);
    buf_release(&t.refusal);
}

static enum verdict verdict_of(const struct attempt *t, CURLcode rc)
{
    switch (rc) {
    case CURLE_OK: /* a proxy answers for a server that is down */
        return t->status >= 500 && !t->request->code ? UNREACHABLE : ANSWERED;
    case CURLE_WRITE_ERROR: /* by us */
        return ANSWERED;
    case CURLE_ABORTED_BY_CALLBACK:
        return t->abandoned ? UNREACHABLE : ANSWERED;
    case CURLE_OPERATION_TIMEDOUT:
        return t->was_sent ? TIMED_OUT : UNREACHABLE;
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_WEIRD_SERVER_REPLY:
        return CUT_OFF;
    default:
        return UNREACHABLE;
    }
}

enum store_status ch_attempt(struct ch_client *c, struct ch_request *r,
                             struct host *host, bool is_check,
                             enum verdict *verdict, struct error *err)
{
    struct attempt t = {.client = c,
                        .request = r,
                        .host = host,
                        .is_check = is_check,
                        .refusal = BUF_INIT(REFUSAL_BYTES),
                        .handle = take_handle(c)};
    enum store_status status;
    CURLcode rc;

    *verdict = ANSWERED;
    if (!t.handle) {
        error_set(err, "out of memory");
        return STORE_FAILED;
    }
    snprintf(t.query_id, sizeof(t.query_id), "pprofd-%016" PRIx64 "-%llu",
             c->id_seed, atomic_fetch_add(&c->next_id, 1));
    rc = perform(&t);
    status = understand(&t, rc, err);
    *verdict = verdict_of(&t, rc);
    give_handle(c, t.handle);
    if (!r->data.s && !is_check &&
        (t.cancelled || t.too_large || *verdict == TIMED_OUT))
        cancel(c, host, t.query_id);
    buf_release(&t.refusal);
    return status;
}

/*
 * Requests over libcurl's easy handles, which keep their connections; idle
 * handles wait in a list.  The server is told to answer only when the query
 * has ended (wait_end_of_query), so that a failure in the middle is a status
 * and not the tail of a reply.
 */
#include "store/clickhouse/client.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/percent.h"
#include "fetch/curl.h"
#include "store/clickhouse/address.h"

#define CONNECT_MS    5000L
#define PAUSE_NS      (2 * SECOND) /* before a host is asked again */
#define QUERY_NS      (60 * SECOND)
#define REFUSAL_BYTES ((size_t)64 << 10)
#define URL_BYTES     ((size_t)64 << 10)
#define MAX_IDLE      64

struct host {
    char base[300]; /* "http://host:port/" */
    atomic_llong down_until_ns;
};

struct handle {
    struct handle *next;
    CURL *curl;
    char words[CURL_ERROR_SIZE];
};

struct ch_client {
    const struct curl_api *api;
    char *text; /* of the URL */
    struct clickhouse_address address;
    struct host hosts[CLICKHOUSE_HOSTS];
    char *user_header, *key_header; /* "X-ClickHouse-User: …" */
    char *ca_file, *cert_file, *key_file;
    uint64_t query_memory;
    pthread_mutex_t lock;
    struct handle *idle;
    size_t n_idle;
    uint64_t id_seed;
    atomic_ullong next_id;
};

/* One request at one host. */
struct
try {
    struct ch_client *client;
    struct ch_request *request;
    struct handle *handle;
    size_t out_start;
    struct buf refusal;
    long status;
    bool cancelled, too_large;
    char query_id[40];
};

struct str ch_database(const struct ch_client *c)
{
    return c->address.database;
}

/* --- making a client ------------------------------------------------------ */

static char *copy_text(struct str s)
{
    return s.n ? strndup(s.s, s.n) : NULL;
}

static char *make_header(const char *name, struct str value, struct error *err)
{
    struct buf b = BUF_INIT(4096);
    char *out = NULL;

    for (size_t i = 0; i < value.n; i++)
        if ((unsigned char)value.s[i] < ' ') {
            error_set(err, "the password has a control character in it");
            return NULL;
        }
    buf_addf(&b, "%s: %" STR_FMT, name, STR_ARG(value));
    if (buf_ok(&b))
        out = copy_text(buf_str(&b));
    if (b.data)
        explicit_bzero(b.data, b.len);
    buf_release(&b);
    if (!out)
        error_set(err, "out of memory, or the password is too long");
    return out;
}

static void set_hosts(struct ch_client *c)
{
    const struct clickhouse_address *a = &c->address;

    for (size_t i = 0; i < a->n_hosts; i++)
        snprintf(c->hosts[i].base, sizeof(c->hosts[i].base),
                 "%s://%" STR_FMT ":%u/", a->is_tls ? "https" : "http",
                 STR_ARG(a->hosts[i].name), a->hosts[i].port);
}

struct ch_client *ch_client_new(const struct clickhouse_options *o,
                                struct error *err)
{
    struct ch_client *c = calloc(1, sizeof(*c));

    if (!c) {
        error_set(err, "out of memory");
        return NULL;
    }
    pthread_mutex_init(&c->lock, NULL);
    c->id_seed = hash_seed(c) ^ (uint64_t)clock_realtime_ns();
    c->query_memory = o->query_memory;
    c->text = copy_text(o->url);
    c->ca_file = copy_text(o->ca_file);
    c->cert_file = copy_text(o->cert_file);
    c->key_file = copy_text(o->key_file);
    c->api = curl_load(err);
    if (c->api &&
        clickhouse_address_parse(str_from(c->text), &c->address, err) &&
        (c->user_header =
             make_header("X-ClickHouse-User", c->address.user, err)) &&
        (!o->password.n ||
         (c->key_header = make_header("X-ClickHouse-Key", o->password, err)))) {
        set_hosts(c);
        return c;
    }
    ch_client_free(c);
    return NULL;
}

void ch_client_free(struct ch_client *c)
{
    if (!c)
        return;
    while (c->idle) {
        struct handle *h = c->idle;

        c->idle = h->next;
        c->api->easy_cleanup(h->curl);
        free(h);
    }
    if (c->key_header)
        explicit_bzero(c->key_header, strlen(c->key_header));
    free(c->key_header);
    free(c->user_header);
    free(c->ca_file);
    free(c->cert_file);
    free(c->key_file);
    free(c->text);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

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

/* --- one try -------------------------------------------------------------- */

static size_t take_body(char *data, size_t size, size_t n, void *arg)
{
    struct try *t = arg;
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

static int watch(void *arg, curl_off_t a, curl_off_t b, curl_off_t c,
                 curl_off_t d)
{
    struct try *t = arg;
    const struct store_budget *budget = t->request->budget;

    (void)a, (void)b, (void)c, (void)d;
    t->cancelled =
        budget && budget->cancelled && budget->cancelled(budget->arg);
    return t->cancelled;
}

/* Settings stand in the URL: there is no session to keep them in. */
static void write_url(struct try *t, const struct host *host, struct buf *url)
{
    const struct ch_request *r = t->request;

    buf_add(url, str_from(host->base));
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
    if (r->budget && r->budget->cpu_ns)
        buf_addf(url, "&max_execution_time=%" PRIi64,
                 r->budget->cpu_ns / SECOND + 1);
}

static CURLcode perform(struct try *t, const struct host *host)
{
    const struct curl_api *api = t->client->api;
    const struct ch_request *r = t->request;
    struct str body = r->data.s ? r->data : r->sql;
    struct buf url = BUF_INIT(URL_BYTES);
    struct curl_slist *headers = NULL;
    CURL *curl = t->handle->curl;
    int64_t timeout_ns = r->timeout_ns ? r->timeout_ns : QUERY_NS;
    CURLcode rc;

    write_url(t, host, &url);
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
    api->easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, watch);
    api->easy_setopt(curl, CURLOPT_XFERINFODATA, t);
    api->easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    api->easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(timeout_ns / 1000000));
    t->handle->words[0] = '\0';
    rc = api->easy_perform(curl);
    api->easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &t->status);
    api->easy_setopt(curl, CURLOPT_HTTPHEADER, NULL);
    api->slist_free_all(headers);
    buf_release(&url);
    return rc;
}

/* --- what it means -------------------------------------------------------- */

/* "Code: 241, e.displayText() = DB::Exception: …" or "Code: 241. DB::…" */
static int exception_code(struct str words)
{
    struct str rest = words;
    uint64_t code = 0;
    size_t n = 0;

    if (!str_has_prefix(rest, STR("Code: ")))
        return 0;
    rest = str_skip(rest, 6);
    while (n < rest.n && rest.s[n] >= '0' && rest.s[n] <= '9' && n < 6)
        n++;
    str_to_u64(str_first(rest, n), 10, &code);
    return (int)code;
}

/* Codes of ClickHouse that mean something to us. */
static enum store_status status_of(int code)
{
    switch (code) {
    case 158: /* TOO_MANY_ROWS */
    case 159: /* TIMEOUT_EXCEEDED */
    case 160: /* TOO_SLOW */
    case 241: /* MEMORY_LIMIT_EXCEEDED */
    case 307: /* TOO_MANY_BYTES */
    case 396: /* TOO_MANY_ROWS_OR_BYTES */
        return STORE_LIMITED;
    case 394: /* QUERY_WAS_CANCELLED */
        return STORE_CANCELLED;
    case 202: /* TOO_MANY_SIMULTANEOUS_QUERIES */
    case 209: /* SOCKET_TIMEOUT */
    case 210: /* NETWORK_ERROR */
    case 242: /* TABLE_IS_READ_ONLY */
    case 243: /* NOT_ENOUGH_SPACE */
    case 252: /* TOO_MANY_PARTS */
    case 285: /* TOO_FEW_LIVE_REPLICAS */
    case 319: /* UNKNOWN_STATUS_OF_INSERT */
    case 999: /* KEEPER_EXCEPTION */
        return STORE_BUSY;
    default:
        return STORE_FAILED;
    }
}

/* Its words without the parts that are for its developers. */
static struct str short_words(struct str words)
{
    ptrdiff_t at = str_find(words, STR("DB::Exception: "));
    ptrdiff_t end;

    if (at >= 0)
        words = str_skip(words, (size_t)at + 15);
    end = str_find(words, STR(", e.what()"));
    if (end >= 0)
        words = str_first(words, (size_t)end);
    end = str_find(words, STR(" (version "));
    if (end >= 0)
        words = str_first(words, (size_t)end);
    return str_trim(str_first(words, words.n < 400 ? words.n : 400));
}

static enum store_status understand(struct try *t, const struct host *host,
                                    CURLcode rc, struct error *err)
{
    struct ch_request *r = t->request;

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
        error_set(err, "ClickHouse at %s: %s", host->base,
                  t->handle->words[0] ? t->handle->words
                                      : t->client->api->easy_strerror(rc));
        return STORE_BUSY;
    }
    if (t->status == 200)
        return STORE_OK;
    r->code = exception_code(buf_str(&t->refusal));
    error_set(err, "ClickHouse at %s: %s%" STR_FMT, host->base,
              t->refusal.len ? "" : "an error without words",
              STR_ARG(short_words(buf_str(&t->refusal))));
    if (!r->code) /* a proxy's, or not ClickHouse at all */
        return t->status >= 500 ? STORE_BUSY : STORE_FAILED;
    return status_of(r->code);
}

/* The server goes on with a query whose client has gone. */
static void cancel(struct ch_client *c, const struct host *host,
                   const char *query_id)
{
    char sql[120];
    struct ch_request r = {.timeout_ns = 5 * SECOND};
    struct try t = {.client = c, .request = &r, .refusal = BUF_INIT(4096)};

    snprintf(sql, sizeof(sql), "KILL QUERY WHERE query_id = '%s' ASYNC",
             query_id);
    r.sql = str_from(sql);
    snprintf(t.query_id, sizeof(t.query_id), "k%.38s", query_id);
    t.handle = take_handle(c);
    if (!t.handle)
        return;
    perform(&t, host);
    give_handle(c, t.handle);
    buf_release(&t.refusal);
}

static enum store_status try_host(struct ch_client *c, struct ch_request *r,
                                  struct host *host, struct error *err)
{
    struct try t = {.client = c,
                    .request = r,
                    .refusal = BUF_INIT(REFUSAL_BYTES),
                    .handle = take_handle(c)};
    enum store_status status;
    CURLcode rc;

    if (!t.handle) {
        error_set(err, "out of memory");
        return STORE_FAILED;
    }
    snprintf(t.query_id, sizeof(t.query_id), "pprofd-%016" PRIx64 "-%llu",
             c->id_seed, atomic_fetch_add(&c->next_id, 1));
    rc = perform(&t, host);
    status = understand(&t, host, rc, err);
    give_handle(c, t.handle);
    if (!r->data.s &&
        (t.cancelled || t.too_large || rc == CURLE_OPERATION_TIMEDOUT))
        cancel(c, host, t.query_id);
    buf_release(&t.refusal);
    return status;
}

/* --- choosing a host ------------------------------------------------------ */

/* Does a host that was down answer again? */
static bool is_healthy(struct ch_client *c, struct host *host)
{
    struct ch_request r = {.sql = STR("SELECT 1"), .timeout_ns = 2 * SECOND};
    struct error ignored;
    bool ok = try_host(c, &r, host, &ignored) == STORE_OK;

    atomic_store(&host->down_until_ns,
                 ok ? 0 : clock_monotonic_ns() + PAUSE_NS);
    return ok;
}

static bool is_usable(struct ch_client *c, struct host *host, bool is_last)
{
    long long until = atomic_load(&host->down_until_ns);

    if (!until)
        return true;
    if (clock_monotonic_ns() < until)
        return is_last; /* better than giving up unasked */
    return c->address.n_hosts == 1 || is_healthy(c, host);
}

enum store_status ch_run(struct ch_client *c, struct ch_request *r,
                         struct error *err)
{
    enum store_status status = STORE_BUSY;
    size_t n = c->address.n_hosts, out_start = r->out ? r->out->len : 0;
    bool asked = false;

    for (size_t i = 0; i < n; i++) {
        struct host *host = &c->hosts[i];

        if (!is_usable(c, host, i + 1 == n && !asked))
            continue;
        asked = true;
        status = try_host(c, r, host, err);
        if (status != STORE_BUSY) {
            atomic_store(&host->down_until_ns, 0);
            return status;
        }
        atomic_store(&host->down_until_ns, clock_monotonic_ns() + PAUSE_NS);
        if (r->out) {
            r->out->len = out_start;
            r->out->failed = false;
        }
    }
    return status;
}

enum store_status ch_exec(struct ch_client *c, struct error *err,
                          const char *fmt, ...)
{
    struct buf sql = BUF_INIT((size_t)1 << 20);
    struct ch_request r = {0};
    enum store_status status = STORE_FAILED;
    va_list ap;

    va_start(ap, fmt);
    buf_vaddf(&sql, fmt, ap);
    va_end(ap);
    r.sql = buf_str(&sql);
    if (buf_ok(&sql))
        status = ch_run(c, &r, err);
    else
        error_set(err, "out of memory");
    buf_release(&sql);
    return status;
}

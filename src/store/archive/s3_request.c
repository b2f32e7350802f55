/*
 * One libcurl handle, so that a connection serves many requests.  Every try
 * is signed anew, since a signature has the time in it.
 */
#include "store/archive/s3_request.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/percent.h"
#include "fetch/curl.h"
#include "fetch/url.h"
#include "store/archive/s3_sign.h"

#define TRIES           5
#define FIRST_PAUSE_NS  (SECOND / 5)
#define CONNECT_SECONDS 10L
#define SILENT_SECONDS  60L
#define ERROR_MAX       ((size_t)64 << 10)
#define LOOK_NS         (SECOND / 10) /* for a cancellation */
#define DATE_TEXT       sizeof("20130524T000000Z")

struct s3_client {
    struct arena *arena;
    const struct curl_api *api;
    CURL *curl;
    struct str base; /* "https://host:port/path", no slash at the end */
    struct str host, base_path;
    struct str region, key_id, secret, token;
    atomic_bool is_cancelled;
    char words[CURL_ERROR_SIZE];
};

/* --- making a client ------------------------------------------------------ */

static bool set_endpoint(struct s3_client *c, struct str endpoint,
                         struct error *err)
{
    struct url u;

    while (str_has_suffix(endpoint, STR("/")))
        endpoint.n--;
    c->base = endpoint.n
                  ? arena_str(c->arena, endpoint)
                  : str_from(arena_printf(
                        c->arena, "https://s3.%" STR_FMT ".amazonaws.com",
                        STR_ARG(c->region)));
    if (!url_parse(c->base, &u) || u.host.n == 0 || u.query.n || u.userinfo.n ||
        (!str_eq(u.scheme, STR("http")) && !str_eq(u.scheme, STR("https"))))
        return error_set(err, "the S3 endpoint must be a URL like "
                              "https://HOST:PORT, without a password");
    c->host = u.host;
    c->base_path = u.path;
    return true;
}

static int look_at_cancellation(void *arg, curl_off_t down_all, curl_off_t down,
                                curl_off_t up_all, curl_off_t up)
{
    struct s3_client *c = arg;

    (void)down_all, (void)down, (void)up_all, (void)up;
    return atomic_load(&c->is_cancelled);
}

static void set_options(struct s3_client *c, struct str ca_file)
{
    const struct curl_api *api = c->api;

    api->easy_setopt(c->curl, CURLOPT_NOSIGNAL, 1L);
    api->easy_setopt(c->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    api->easy_setopt(c->curl, CURLOPT_PATH_AS_IS, 1L);
    api->easy_setopt(c->curl, CURLOPT_SSLVERSION,
                     (long)CURL_SSLVERSION_TLSv1_2);
    api->easy_setopt(c->curl, CURLOPT_HTTP_VERSION,
                     (long)CURL_HTTP_VERSION_1_1);
    api->easy_setopt(c->curl, CURLOPT_USERAGENT, "pprof-c");
    api->easy_setopt(c->curl, CURLOPT_ERRORBUFFER, c->words);
    api->easy_setopt(c->curl, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
    api->easy_setopt(c->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    api->easy_setopt(c->curl, CURLOPT_LOW_SPEED_TIME, SILENT_SECONDS);
    api->easy_setopt(c->curl, CURLOPT_NOPROGRESS, 0L);
    api->easy_setopt(c->curl, CURLOPT_XFERINFOFUNCTION, look_at_cancellation);
    api->easy_setopt(c->curl, CURLOPT_XFERINFODATA, c);
    if (ca_file.n)
        api->easy_setopt(c->curl, CURLOPT_CAINFO,
                         arena_cstr(c->arena, ca_file));
}

struct s3_client *s3_client_new(const struct s3_settings *s, struct error *err)
{
    struct arena *a = arena_new();
    struct s3_client *c = arena_alloc(a, sizeof(*c));

    c->arena = a;
    c->region = s->region.n ? arena_str(a, s->region) : STR("us-east-1");
    c->key_id = arena_str(a, s->key_id);
    c->secret = arena_str(a, s->secret);
    c->token = arena_str(a, s->token);
    c->api = curl_load(err);
    if (c->api && set_endpoint(c, s->endpoint, err)) {
        c->curl = c->api->easy_init();
        if (c->curl) {
            set_options(c, s->ca_file);
            return c;
        }
        error_set(err, "out of memory");
    }
    s3_client_free(c);
    return NULL;
}

void s3_client_free(struct s3_client *c)
{
    if (!c)
        return;
    if (c->curl)
        c->api->easy_cleanup(c->curl);
    if (c->secret.n)
        explicit_bzero((char *)c->secret.s, c->secret.n);
    arena_free(c->arena);
}

void s3_client_cancel(struct s3_client *c)
{
    atomic_store(&c->is_cancelled, true);
}

/* --- one try -------------------------------------------------------------- */

static size_t take_body(char *data, size_t size, size_t n, void *arg)
{
    struct s3_request *r = arg;
    struct s3_client *c = r->client;
    struct buf *to;

    c->api->easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &r->status);
    to = r->status == 200 && r->out ? r->out : &r->refusal;
    buf_add_bytes(to, data, size * n);
    return buf_ok(to) || to == &r->refusal ? size * n : 0;
}

/* "ETag: \"…\"", of the last reply if there are several. */
static size_t take_header(char *data, size_t size, size_t n, void *arg)
{
    struct s3_request *r = arg;
    struct str line = str_of(data, size * n), name = STR("etag:");

    if (r->etag && line.n > name.n &&
        strncasecmp(line.s, name.s, name.n) == 0) {
        buf_clear(r->etag);
        buf_add(r->etag, str_trim(str_skip(line, name.n)));
    }
    return size * n;
}

static void put_date(char out[DATE_TEXT])
{
    time_t now = (time_t)(clock_realtime_ns() / SECOND);
    struct tm tm;

    gmtime_r(&now, &tm);
    strftime(out, DATE_TEXT, "%Y%m%dT%H%M%SZ", &tm);
}

static struct curl_slist *make_headers(struct arena *a, struct s3_request *r,
                                       struct str path)
{
    struct s3_client *c = r->client;
    struct curl_slist *list = NULL;
    struct buf authorization = arena_buf(a);
    char date[DATE_TEXT], hash[S3_HASH_TEXT];

    put_date(date);
    s3_hash(r->body, hash);
    const struct s3_header headers[] = {
        {STR("host"), c->host},
        {STR("x-amz-content-sha256"), str_of(hash, sizeof(hash))},
        {STR("x-amz-date"), str_from(date)},
        {STR("x-amz-security-token"), c->token},
    };
    size_t n = c->token.n ? 4 : 3;

    s3_sign(&(struct s3_to_sign){r->method, path, r->query, headers, n,
                                 headers[1].value, headers[2].value, c->region,
                                 STR("s3")},
            c->key_id, c->secret, &authorization);
    for (size_t i = 0; i < n; i++)
        list = c->api->slist_append(list,
                                    arena_printf(a, "%" STR_FMT ": %" STR_FMT,
                                                 STR_ARG(headers[i].name),
                                                 STR_ARG(headers[i].value)));
    list = c->api->slist_append(
        list, arena_printf(a, "Authorization: %s", buf_cstr(&authorization)));
    list = c->api->slist_append(list, "Expect:");
    return c->api->slist_append(list, "Content-Type: application/octet-stream");
}

static void set_method(struct s3_request *r)
{
    const struct curl_api *api = r->client->api;
    CURL *curl = r->client->curl;

    api->easy_setopt(curl, CURLOPT_CUSTOMREQUEST, NULL);
    api->easy_setopt(curl, CURLOPT_HTTPGET, 1L);
    if (str_eq(r->method, STR("GET")))
        return;
    api->easy_setopt(curl, CURLOPT_POST, 1L);
    api->easy_setopt(curl, CURLOPT_POSTFIELDS, r->body.n ? r->body.s : "");
    api->easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.n);
    api->easy_setopt(curl, CURLOPT_CUSTOMREQUEST, r->method.s); /* a literal */
}

static CURLcode try_once(struct s3_request *r)
{
    struct s3_client *c = r->client;
    struct arena *a = arena_new();
    struct buf path = arena_buf(a);
    struct curl_slist *headers;
    CURLcode rc;

    buf_addf(&path, "%" STR_FMT "/%" STR_FMT, STR_ARG(c->base_path),
             STR_ARG(r->bucket));
    if (r->key.n) {
        buf_add_char(&path, '/');
        percent_encode(&path, r->key, "/");
    }
    headers = make_headers(a, r, buf_str(&path));
    c->api->easy_setopt(c->curl, CURLOPT_URL,
                        arena_printf(a, "%.*s%" STR_FMT "%s%" STR_FMT,
                                     (int)(c->base.n - c->base_path.n),
                                     c->base.s, STR_ARG(buf_str(&path)),
                                     r->query.n ? "?" : "", STR_ARG(r->query)));
    set_method(r);
    c->api->easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);
    c->api->easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, take_body);
    c->api->easy_setopt(c->curl, CURLOPT_WRITEDATA, r);
    c->api->easy_setopt(c->curl, CURLOPT_HEADERFUNCTION, take_header);
    c->api->easy_setopt(c->curl, CURLOPT_HEADERDATA, r);
    c->words[0] = '\0';
    r->status = 0;
    buf_clear(&r->refusal);
    rc = c->api->easy_perform(c->curl);
    c->api->easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &r->status);
    c->api->easy_setopt(c->curl, CURLOPT_HTTPHEADER, NULL);
    c->api->slist_free_all(headers);
    arena_free(a);
    return rc;
}

/* --- words for failures --------------------------------------------------- */

static const struct {
    const char *code, *advice;
} advices[] = {
    {"InvalidAccessKeyId", "check AWS_ACCESS_KEY_ID and the endpoint"},
    {"SignatureDoesNotMatch", "check AWS_SECRET_ACCESS_KEY"},
    {"AccessDenied", "the access key needs s3:PutObject to export, and "
                     "s3:ListBucket and s3:GetObject to import"},
    {"NoSuchBucket", "check the name and the endpoint, or create the bucket"},
    {"PermanentRedirect", "set AWS_REGION to the region of the bucket"},
    {"AuthorizationHeaderMalformed",
     "set AWS_REGION to the region of the bucket"},
    {"ExpiredToken", "get new credentials: AWS_SESSION_TOKEN has expired"},
    {"InvalidToken", "check AWS_SESSION_TOKEN"},
    {"RequestTimeTooSkewed", "set the clock of this machine"},
};

static const char *advice_for(struct str code, long status)
{
    for (size_t i = 0; i < sizeof(advices) / sizeof(*advices); i++)
        if (str_eq(code, str_from(advices[i].code)))
            return advices[i].advice;
    if (code.n == 0)
        return "the reply has no S3 error; is this an S3 endpoint?";
    return status >= 500 ? "try again later" : "";
}

static bool refusal_words(struct s3_request *r, struct error *err)
{
    struct buf code = BUF_INIT(S3_TEXT_MAX), words = BUF_INIT(S3_TEXT_MAX);
    const char *advice;

    s3_xml_find(buf_str(&r->refusal), STR("Code"), &code);
    s3_xml_find(buf_str(&r->refusal), STR("Message"), &words);
    advice = advice_for(buf_str(&code), r->status);
    error_set(err, "status %ld%s%" STR_FMT "%s%.*s%s%s%s", r->status,
              code.len ? " " : "", STR_ARG(buf_str(&code)),
              words.len ? ": " : "", words.len > 500 ? 500 : (int)words.len,
              words.data, advice[0] ? " (" : "", advice, advice[0] ? ")" : "");
    buf_release(&code);
    buf_release(&words);
    return false;
}

static bool transfer_words(struct s3_request *r, CURLcode rc, struct error *err)
{
    struct s3_client *c = r->client;

    if (r->out && !buf_ok(r->out))
        return error_set(err, "the reply is larger than %zu bytes",
                         r->out->max);
    return error_set(
        err, "%" STR_FMT ": %s (check --s3-endpoint or AWS_ENDPOINT_URL)",
        STR_ARG(c->base), c->words[0] ? c->words : c->api->easy_strerror(rc));
}

/* --- all tries ------------------------------------------------------------ */

static bool may_go_away(const struct s3_request *r, CURLcode rc)
{
    struct buf code = BUF_INIT(S3_TEXT_MAX);
    bool slow;

    if (rc != CURLE_OK)
        return rc == CURLE_COULDNT_CONNECT ||
               rc == CURLE_COULDNT_RESOLVE_HOST ||
               rc == CURLE_OPERATION_TIMEDOUT || rc == CURLE_SEND_ERROR ||
               rc == CURLE_RECV_ERROR || rc == CURLE_GOT_NOTHING ||
               rc == CURLE_PARTIAL_FILE;
    if (r->status >= 500 || r->status == 429)
        return true;
    s3_xml_find(buf_str(&r->refusal), STR("Code"), &code);
    slow = str_eq(buf_str(&code), STR("SlowDown")) ||
           str_eq(buf_str(&code), STR("RequestTimeout"));
    buf_release(&code);
    return slow;
}

static bool is_done(const struct s3_request *r)
{
    return r->status == 200 ||
           (r->status == 204 && str_eq(r->method, STR("DELETE")));
}

/* Less if the client is cancelled. */
static void pause_for(struct s3_client *c, int64_t ns)
{
    int64_t end = clock_monotonic_ns() + ns;

    while (!atomic_load(&c->is_cancelled) && clock_monotonic_ns() < end)
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
}

static const char *verb_of(const struct s3_request *r)
{
    return !str_eq(r->method, STR("GET")) ? "write"
           : r->key.n                     ? "read"
                                          : "list";
}

bool s3_request_run(struct s3_request *r, struct error *err)
{
    int64_t pause_ns = FIRST_PAUSE_NS;
    CURLcode rc = CURLE_OK;
    bool ok;

    r->refusal = BUF_INIT(ERROR_MAX);
    r->out_start = r->out ? r->out->len : 0;
    for (int i = 1;; i++) {
        rc = try_once(r);
        ok = rc == CURLE_OK && is_done(r);
        if (ok || i == TRIES || !may_go_away(r, rc) ||
            atomic_load(&r->client->is_cancelled))
            break;
        if (r->out)
            r->out->len = r->out_start;
        pause_for(r->client, pause_ns);
        pause_ns *= 2;
    }
    if (!ok) {
        if (rc != CURLE_OK)
            transfer_words(r, rc, err);
        else
            refusal_words(r, err);
        error_wrap(err, "%s s3://%" STR_FMT "/%" STR_FMT, verb_of(r),
                   STR_ARG(r->bucket), STR_ARG(r->key));
    }
    buf_release(&r->refusal);
    return ok;
}

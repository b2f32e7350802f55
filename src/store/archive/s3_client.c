/*
 * One libcurl handle, so that a connection serves many requests.  Every try
 * is signed anew, since a signature has the time in it.
 */
#include "store/archive/s3_client.h"

#include <stdlib.h>
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
#define LISTING_MAX     ((size_t)16 << 20)
#define ERROR_MAX       ((size_t)64 << 10)
#define DATE_TEXT       sizeof("20130524T000000Z")

struct s3_client {
    struct arena *arena;
    const struct curl_api *api;
    CURL *curl;
    struct str base; /* "https://host:port/path", no slash at the end */
    struct str host, base_path;
    struct str region, key_id, secret, token;
    char words[CURL_ERROR_SIZE];
};

/* One request, over all its tries. */
struct request {
    struct s3_client *client;
    struct str method, bucket, key;
    struct str query; /* percent-encoded, sorted */
    struct str body;
    struct buf *out;    /* gets the body of a reply with status 200 */
    size_t out_start;   /* its length before the try */
    struct buf refusal; /* gets the body of any other */
    long status;        /* 0: no reply */
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

/* --- one try -------------------------------------------------------------- */

static size_t take_body(char *data, size_t size, size_t n, void *arg)
{
    struct request *r = arg;
    struct s3_client *c = r->client;
    struct buf *to;

    c->api->easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &r->status);
    to = r->status == 200 && r->out ? r->out : &r->refusal;
    buf_add_bytes(to, data, size * n);
    return buf_ok(to) || to == &r->refusal ? size * n : 0;
}

static void put_date(char out[DATE_TEXT])
{
    time_t now = (time_t)(clock_realtime_ns() / SECOND);
    struct tm tm;

    gmtime_r(&now, &tm);
    strftime(out, DATE_TEXT, "%Y%m%dT%H%M%SZ", &tm);
}

static struct curl_slist *make_headers(struct arena *a, struct request *r,
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

static void set_method(struct request *r)
{
    const struct curl_api *api = r->client->api;
    CURL *curl = r->client->curl;

    if (str_eq(r->method, STR("PUT"))) {
        api->easy_setopt(curl, CURLOPT_POST, 1L);
        api->easy_setopt(curl, CURLOPT_POSTFIELDS, r->body.n ? r->body.s : "");
        api->easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                         (curl_off_t)r->body.n);
        api->easy_setopt(curl, CURLOPT_CUSTOMREQUEST, "PUT");
    } else {
        api->easy_setopt(curl, CURLOPT_CUSTOMREQUEST, NULL);
        api->easy_setopt(curl, CURLOPT_HTTPGET, 1L);
    }
}

static CURLcode try_once(struct request *r)
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

static bool refusal_words(struct request *r, struct error *err)
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

static bool transfer_words(struct request *r, CURLcode rc, struct error *err)
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

static bool may_go_away(const struct request *r, CURLcode rc)
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

static bool run(struct request *r, struct error *err)
{
    int64_t pause_ns = FIRST_PAUSE_NS;
    CURLcode rc = CURLE_OK;
    bool ok;

    r->refusal = BUF_INIT(ERROR_MAX);
    r->out_start = r->out ? r->out->len : 0;
    for (int i = 1;; i++) {
        rc = try_once(r);
        ok = rc == CURLE_OK && r->status == 200;
        if (ok || i == TRIES || !may_go_away(r, rc))
            break;
        if (r->out)
            r->out->len = r->out_start;
        nanosleep(&(struct timespec){pause_ns / SECOND, pause_ns % SECOND},
                  NULL);
        pause_ns *= 2;
    }
    if (!ok) {
        if (rc != CURLE_OK)
            transfer_words(r, rc, err);
        else
            refusal_words(r, err);
        error_wrap(err, "%s s3://%" STR_FMT "/%" STR_FMT,
                   str_eq(r->method, STR("PUT")) ? "write"
                   : r->key.n                    ? "read"
                                                 : "list",
                   STR_ARG(r->bucket), STR_ARG(r->key));
    }
    buf_release(&r->refusal);
    return ok;
}

bool s3_put(struct s3_client *c, struct str bucket, struct str key,
            struct str bytes, struct error *err)
{
    struct request r = {.client = c,
                        .method = STR("PUT"),
                        .bucket = bucket,
                        .key = key,
                        .body = bytes};

    if (bytes.n > S3_OBJECT_MAX)
        return error_set(err,
                         "write s3://%" STR_FMT "/%" STR_FMT
                         ": %zu bytes; S3 takes at most 5 GB at once",
                         STR_ARG(bucket), STR_ARG(key), bytes.n);
    return run(&r, err);
}

bool s3_get(struct s3_client *c, struct str bucket, struct str key,
            struct buf *out, struct error *err)
{
    struct request r = {.client = c,
                        .method = STR("GET"),
                        .bucket = bucket,
                        .key = key,
                        .out = out};

    return run(&r, err);
}

/* A page of the listing; `token` is that of this page, then of the next. */
static bool list_page(struct s3_client *c, struct str bucket, struct str prefix,
                      s3_each_object *each, void *arg, struct buf *token,
                      struct error *err)
{
    struct buf query = BUF_INIT(4 * S3_TEXT_MAX), page = BUF_INIT(LISTING_MAX);
    struct buf next = BUF_INIT(S3_TEXT_MAX);
    struct request r = {
        .client = c, .method = STR("GET"), .bucket = bucket, .out = &page};
    bool ok;

    if (token->len) {
        buf_add(&query, STR("continuation-token="));
        percent_encode(&query, buf_str(token), "");
        buf_add_char(&query, '&');
    }
    buf_add(&query, STR("list-type=2&prefix="));
    percent_encode(&query, prefix, "");
    r.query = buf_str(&query);
    ok = run(&r, err) && s3_xml_list(buf_str(&page), each, arg, &next, err);
    if (ok && next.len && str_eq(buf_str(&next), buf_str(token)))
        ok = error_set(err,
                       "list s3://%" STR_FMT ": the server sends the same "
                       "page again and again",
                       STR_ARG(bucket));
    buf_clear(token);
    buf_add(token, buf_str(&next));
    buf_release(&query);
    buf_release(&page);
    buf_release(&next);
    return ok;
}

bool s3_list(struct s3_client *c, struct str bucket, struct str prefix,
             s3_each_object *each, void *arg, struct error *err)
{
    struct buf token = BUF_INIT(S3_TEXT_MAX);
    bool ok;

    do
        ok = list_page(c, bucket, prefix, each, arg, &token, err);
    while (ok && token.len);
    buf_release(&token);
    return ok;
}

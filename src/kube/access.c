/*
 * Three ways to the API server, chosen once at the start; after that they
 * differ only in which fields are set.
 */
#include "kube/access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "kube/kubectl_proxy.h"

#define ACCOUNT_DIR     "/var/run/secrets/kubernetes.io/serviceaccount"
#define MAX_TOKEN_BYTES ((size_t)64 << 10)

struct kube_access {
    char *url, *words;
    char *token_file, *ca_file, *cert_file, *key_file; /* or NULL */
    bool is_insecure;
    bool is_in_cluster;
    struct kubectl_proxy *proxy; /* or NULL */
};

static char *copy(const char *text)
{
    return text && *text ? strdup(text) : NULL;
}

static char *join(const char *x, const char *y)
{
    char *text = NULL;

    return asprintf(&text, "%s%s", x, y) < 0 ? NULL : text;
}

/* https://10.96.0.1:443; an IPv6 address needs brackets. */
static char *url_of(const char *host, const char *port)
{
    bool is_v6 = strchr(host, ':') && host[0] != '[';
    char *text = NULL;

    return asprintf(&text, "https://%s%s%s:%s", is_v6 ? "[" : "", host,
                    is_v6 ? "]" : "", port) < 0
               ? NULL
               : text;
}

const char *kube_account_dir(void)
{
    const char *dir = secure_getenv("PPROF_KUBERNETES_DIR");

    return dir && *dir ? dir : ACCOUNT_DIR;
}

static void in_cluster(struct kube_access *x, const char *host)
{
    const char *port = secure_getenv("KUBERNETES_SERVICE_PORT");
    const char *dir = kube_account_dir();

    x->url = url_of(host, port && *port ? port : "443");
    x->words = copy("the cluster of this pod");
    x->token_file = join(dir, "/token");
    x->ca_file = join(dir, "/ca.crt");
    x->is_in_cluster = true;
}

static void by_address(struct kube_access *x,
                       const struct kube_access_options *o)
{
    size_t n = strlen(o->api_server);

    while (n && o->api_server[n - 1] == '/')
        n--;
    x->url = strndup(o->api_server, n);
    x->words = copy(x->url);
    x->token_file = copy(o->token_file);
    x->ca_file = copy(o->ca_file);
    x->cert_file = copy(o->cert_file);
    x->key_file = copy(o->key_file);
    x->is_insecure = o->is_insecure;
}

static bool by_kubectl(struct kube_access *x,
                       const struct kube_access_options *o, struct error *err)
{
    x->url = copy("http://localhost"); /* the host that it accepts */
    x->words = join("kubectl's context ",
                    o->context && *o->context ? o->context : "(current)");
    x->proxy = kubectl_proxy_new(o->kubectl, o->kubeconfig, o->context, err);
    return x->proxy != NULL;
}

static bool has_text(const char *text)
{
    return text && *text;
}

struct kube_access *kube_access_new(const struct kube_access_options *o,
                                    struct error *err)
{
    struct kube_access *x = calloc(1, sizeof(*x));
    const char *host = secure_getenv("KUBERNETES_SERVICE_HOST");
    bool ok = true;

    if (!x) {
        error_set(err, "out of memory");
        return NULL;
    }
    if (has_text(o->api_server))
        by_address(x, o);
    else if (has_text(host) && !has_text(o->kubectl) &&
             !has_text(o->kubeconfig) && !has_text(o->context))
        in_cluster(x, host);
    else
        ok = by_kubectl(x, o, err);
    if (ok && !x->url)
        ok = error_set(err, "out of memory");
    if (ok)
        return x;
    kube_access_free(x);
    return NULL;
}

void kube_access_free(struct kube_access *x)
{
    if (!x)
        return;
    kubectl_proxy_free(x->proxy);
    free(x->url);
    free(x->words);
    free(x->token_file);
    free(x->ca_file);
    free(x->cert_file);
    free(x->key_file);
    free(x);
}

bool kube_access_is_ready(struct kube_access *x, int64_t now_ns,
                          int64_t *again_ns, struct error *err)
{
    return !x->proxy || kubectl_proxy_is_ready(x->proxy, now_ns, again_ns, err);
}

const char *kube_access_url(const struct kube_access *x)
{
    return x->url;
}

const char *kube_access_words(const struct kube_access *x)
{
    return x->words ? x->words : x->url;
}

static bool add_token(const struct kube_access *x, const struct curl_api *api,
                      struct curl_slist **headers, struct error *err)
{
    struct buf token = BUF_INIT(MAX_TOKEN_BYTES);
    struct buf line = BUF_INIT(MAX_TOKEN_BYTES + 64);
    bool ok = file_read(x->token_file, &token, err);

    if (ok) {
        struct str text = str_trim(buf_str(&token));

        buf_addf(&line, "Authorization: Bearer %" STR_FMT, STR_ARG(text));
        if (str_find_char(text, '\n') >= 0 || text.n == 0)
            ok = error_set(err, "%s does not hold a token", x->token_file);
        else
            *headers = api->slist_append(*headers, buf_cstr(&line));
    }
    if (token.data)
        explicit_bzero(token.data, token.len);
    if (line.data)
        explicit_bzero(line.data, line.len);
    buf_release(&token);
    buf_release(&line);
    return ok;
}

bool kube_access_apply(const struct kube_access *x, const struct curl_api *api,
                       CURL *curl, struct curl_slist **headers,
                       struct error *err)
{
    if (x->proxy)
        api->easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH,
                         kubectl_proxy_socket(x->proxy));
    /* A proxy of the environment is for the world outside. */
    if (x->proxy || x->is_in_cluster)
        api->easy_setopt(curl, CURLOPT_PROXY, "");
    if (x->ca_file) {
        api->easy_setopt(curl, CURLOPT_CAINFO, x->ca_file);
        api->easy_setopt(curl, CURLOPT_CAPATH, NULL);
    }
    /* libcurl would keep a CA file for a day. */
    api->easy_setopt(curl, CURLOPT_CA_CACHE_TIMEOUT, 0L);
    if (x->is_insecure) {
        api->easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
        api->easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (x->cert_file) {
        api->easy_setopt(curl, CURLOPT_SSLCERT, x->cert_file);
        api->easy_setopt(curl, CURLOPT_SSLKEY,
                         x->key_file ? x->key_file : x->cert_file);
    }
    return !x->token_file || add_token(x, api, headers, err);
}

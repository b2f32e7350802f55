/*
 * Between the scraper and Kubernetes discovery, which do not know each other:
 * a configuration becomes options of kube/discovery.h, and its functions
 * become those that the scraper calls.
 *
 * Credentials for the API server are those of the kubernetes_sd_config and
 * never those of the job, which go to every pod that is scraped.
 */
#include "cmd/pprofd/kube_targets.h"

#include "base/file.h"
#include "kube/discovery.h"

#define MAX_NAME_BYTES 256 /* of a namespace; Kubernetes allows 63 */

/* --- options -------------------------------------------------------------- */

static const char *text_or_null(struct arena *a, struct str s)
{
    return s.n ? arena_cstr(a, s) : NULL;
}

static struct kube_access_options access_of(const struct scrape_kube *c,
                                            struct arena *a)
{
    return (struct kube_access_options){
        .api_server = text_or_null(a, c->keys.api_server),
        .token_file = text_or_null(a, c->keys.bearer_token_file),
        .ca_file = text_or_null(a, c->tls.ca_file),
        .cert_file = text_or_null(a, c->tls.cert_file),
        .key_file = text_or_null(a, c->tls.key_file),
        .is_insecure = c->tls.insecure_skip_verify,
        .kubeconfig = text_or_null(a, c->keys.kubeconfig_file),
        .context = text_or_null(a, c->keys.context)};
}

static enum kube_mode mode_of(const struct scrape_job *job,
                              const struct scrape_kube *c)
{
    if (c->keys.mode.n)
        return str_eq(c->keys.mode, STR("ports")) ? KUBE_EVERY_PORT
                                                  : KUBE_BY_ANNOTATION;
    return job->relabel.n ? KUBE_EVERY_PORT : KUBE_BY_ANNOTATION;
}

static bool own_namespace(struct arena *a, struct str *out, struct error *err)
{
    const char *path = arena_printf(a, "%s/namespace", kube_account_dir());
    struct buf text = BUF_INIT(MAX_NAME_BYTES);
    bool ok = file_read(path, &text, err);

    if (ok)
        *out = arena_str(a, str_trim(buf_str(&text)));
    if (ok && out->n == 0)
        ok = error_set(err, "%s is empty", path);
    buf_release(&text);
    if (!ok)
        error_wrap(err, "own_namespace");
    return ok;
}

/* The names, and the own namespace unless it is one of them. */
static bool add_namespaces(const struct keys_namespaces *c, struct arena *a,
                           struct kube_discovery_options *o, struct error *err)
{
    struct str *list = arena_new_array(a, struct str, c->names.list.n + 1);
    struct str own = STR("");

    o->namespaces = list;
    for (size_t i = 0; i < c->names.list.n; i++)
        list[o->n_namespaces++] = c->names.list.v[i];
    if (!c->own_namespace)
        return true;
    if (!own_namespace(a, &own, err))
        return false;
    for (size_t i = 0; i < c->names.list.n; i++)
        if (str_eq(list[i], own))
            return true;
    list[o->n_namespaces++] = own;
    return true;
}

/* --- the discovery -------------------------------------------------------- */

static uint64_t version(void *d)
{
    return kube_discovery_version(d);
}

static bool snapshot(void *d, struct arena *a, struct label_set **out,
                     size_t *n, struct error *err)
{
    return kube_discovery_snapshot(d, a, out, n, err);
}

static bool secret(void *d, struct arena *a, struct str name,
                   struct tls_material *out, struct error *err)
{
    struct kube_tls tls;

    if (!kube_discovery_secret(d, a, name, &tls, err))
        return false;
    *out =
        (struct tls_material){.ca = tls.ca, .cert = tls.cert, .key = tls.key};
    return true;
}

static bool failure(void *d, struct error *out)
{
    return kube_discovery_failure(d, out);
}

static void status(void *d, struct buf *out)
{
    kube_discovery_status(d, out);
}

static void discovery_free(void *d)
{
    kube_discovery_free(d);
}

static const struct discovery_ops ops = {.version = version,
                                         .snapshot = snapshot,
                                         .secret = secret,
                                         .failure = failure,
                                         .status = status,
                                         .free = discovery_free};

bool kube_targets_make(const struct scrape_job *job,
                       const struct scrape_kube *config, struct discovery *out,
                       struct error *err)
{
    struct arena *a = arena_new();
    struct kube_discovery_options o = {
        .access = access_of(config, a),
        .targets = {.mode = mode_of(job, config),
                    .pod_labels = config->keys.pod_labels.list.v,
                    .n_pod_labels = config->keys.pod_labels.list.n},
        .label_selector = config->label_selector,
        .field_selector = config->field_selector};
    struct kube_discovery *d = NULL;

    if (add_namespaces(&config->namespaces, a, &o, err))
        d = kube_discovery_new(&o, err);
    arena_free(a);
    *out = (struct discovery){&ops, d};
    return d || error_wrap(err, "kubernetes_sd_configs");
}

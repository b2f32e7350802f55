/*
 * The table first, in the order of the reference; then how a value of each
 * kind is read.
 */
#include "collector/scrape/keys.h"

#include <string.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/size_text.h"
#include "base/time_text.h"
#include "config/node_error.h"

#define AT(record, member) offsetof(struct keys_##record, member)
#define NESTED             KEY_NESTED, 0, ""
#define IGNORED            KEY_IGNORED, 0, ""

const struct config_key config_keys[] = {
    {KEYS_GLOBAL, "scrape_interval", KEY_DURATION, AT(global, interval_ns),
     "60s", "How often targets are scraped, for jobs that do not say.", "30s"},
    {KEYS_GLOBAL, "scrape_timeout", KEY_DURATION, AT(global, timeout_ns), "10s",
     "The timeout of jobs that do not say.", "5s"},
    {KEYS_GLOBAL, "evaluation_interval", IGNORED,
     "Prometheus' rules; no effect.", "1m"},
    {KEYS_GLOBAL, "external_labels", IGNORED,
     "Prometheus' labels for remote systems; no effect.", "{}"},

    {KEYS_JOB, "job_name", KEY_TEXT, AT(job, name), "",
     "The name of the job; required, and different for each job. It is the "
     "label `job`, and the service of targets that have no other.",
     "api"},
    {KEYS_JOB, "scrape_interval", KEY_DURATION, AT(job, interval_ns), "",
     "How often each profile is fetched; the default is that of `global`.",
     "15s"},
    {KEYS_JOB, "interval", KEY_DURATION, AT(job, short_interval_ns), "",
     "A shorter name of `scrape_interval`.", "15s"},
    {KEYS_JOB, "scrape_timeout", KEY_DURATION, AT(job, timeout_ns), "",
     "How long a reply may take, beyond the seconds that are measured; the "
     "default is that of `global`.",
     "20s"},
    {KEYS_JOB, "scheme", KEY_TEXT, AT(job, scheme), "http", "http or https.",
     "https"},
    {KEYS_JOB, "path_prefix", KEY_TEXT, AT(job, path_prefix), "/debug/pprof",
     "The path of the index page; profiles are below it.", "/internal/pprof"},
    {KEYS_JOB, "profiles", KEY_TEXTS, AT(job, profiles), "",
     "The profiles to fetch. Without it, pprofd reads the index page of the "
     "target and fetches what is useful there.",
     "[cpu, heap, mutex]"},
    {KEYS_JOB, "seconds", KEY_SECONDS, AT(job, seconds_ns), "",
     "How long profiles that measure (cpu, wall, fgprof) run; the default is "
     "10s, or the interval if that is shorter.",
     "30s"},
    {KEYS_JOB, "profiling_config", NESTED,
     "Profiles as Parca's configuration names them.", "see below"},
    {KEYS_JOB, "params", NESTED,
     "Parameters for the URL: a map of names to lists of values.",
     "{gc: [\"1\"]}"},
    {KEYS_JOB, "static_configs", NESTED, "Targets that are written down.",
     "see below"},
    {KEYS_JOB, "file_sd_configs", NESTED, "Targets from files.", "see below"},
    {KEYS_JOB, "dns_sd_configs", NESTED, "Targets from DNS.", "see below"},
    {KEYS_JOB, "http_sd_configs", NESTED, "Targets from a web server.",
     "see below"},
    {KEYS_JOB, "kubernetes_sd_configs", NESTED, "Targets from Kubernetes.",
     "see below"},
    {KEYS_JOB, "relabel_configs", NESTED,
     "Rules that choose targets and rewrite their labels.", "see below"},
    {KEYS_JOB, "tls_config", NESTED, "Certificates for https.", "see below"},
    {KEYS_JOB, "authorization", NESTED, "An Authorization header.",
     "see below"},
    {KEYS_JOB, "basic_auth", NESTED, "User name and password.", "see below"},
    {KEYS_JOB, "bearer_token", KEY_TEXT, AT(job, bearer_token), "",
     "A token for the Authorization header.", "s3cret"},
    {KEYS_JOB, "bearer_token_file", KEY_FILE, AT(job, bearer_token_file), "",
     "A file with the token. It is read again when it changes.",
     "/var/run/secrets/token"},
    {KEYS_JOB, "proxy_url", KEY_TEXT, AT(job, proxy_url), "",
     "The proxy to go through. Without it, the variables http_proxy, "
     "https_proxy and no_proxy of the environment count.",
     "http://proxy:3128"},
    {KEYS_JOB, "follow_redirects", KEY_BOOL, AT(job, follow_redirects), "true",
     "Whether redirects are followed.", "false"},
    {KEYS_JOB, "body_size_limit", KEY_BYTES, AT(job, body_size_limit), "16MB",
     "The largest profile, as it is sent.", "4MB"},
    {KEYS_JOB, "normalized_addresses", IGNORED,
     "Parca's addresses in profiles; no effect, the store does this by "
     "itself.",
     "true"},
    {KEYS_JOB, "honor_labels", IGNORED, "Prometheus' metrics; no effect.",
     "true"},
    {KEYS_JOB, "honor_timestamps", IGNORED, "Prometheus' metrics; no effect.",
     "true"},
    {KEYS_JOB, "enable_http2", IGNORED, "HTTP/2 is used where both sides can.",
     "true"},

    {KEYS_PROFILING, "path_prefix", KEY_TEXT, AT(profiling, path_prefix), "",
     "Put before the paths of all profiles.", "/myapp"},
    {KEYS_PROFILING, "pprof_config", NESTED,
     "A map: the name of a profile, and its keys below. As in Parca, `memory`, "
     "`block`, `goroutine`, `mutex` and `process_cpu` are fetched unless "
     "`enabled` is false.",
     "{process_cpu: {enabled: true}}"},

    {KEYS_PPROF, "enabled", KEY_BOOL, AT(pprof, enabled), "true",
     "Whether this profile is fetched.", "false"},
    {KEYS_PPROF, "path", KEY_TEXT, AT(pprof, path), "",
     "Its path on the server; the default is its name below the index page.",
     "/debug/pprof/allocs"},
    {KEYS_PPROF, "delta", KEY_BOOL, AT(pprof, delta), "false",
     "Asks the target for what happened within some seconds (`?seconds=`). A "
     "target that cannot do this sends totals, and the store takes the "
     "differences.",
     "true"},
    {KEYS_PPROF, "seconds", KEY_SECONDS, AT(pprof, seconds_ns), "",
     "How long; the default is `seconds` of the job, with `delta` the "
     "interval.",
     "10"},
    {KEYS_PPROF, "keep_sample_type", NESTED,
     "The sample types to store; the default is all. Others are removed.",
     "[{type: inuse_space, unit: bytes}]"},

    {KEYS_SAMPLE_TYPE, "type", KEY_TEXT, AT(sample_type, type), "",
     "The name of a sample type.", "inuse_space"},
    {KEYS_SAMPLE_TYPE, "unit", KEY_TEXT, AT(sample_type, unit), "",
     "Its unit; any, if left out.", "bytes"},

    {KEYS_STATIC, "targets", KEY_TEXTS, AT(static, targets), "",
     "Addresses, host:port.", "['127.0.0.1:6060']"},
    {KEYS_STATIC, "labels", NESTED, "Labels of all these targets.",
     "{region: eu}"},

    {KEYS_FILE_SD, "files", KEY_TEXTS, AT(file_sd, files), "",
     "JSON or YAML files; the last part of a path may contain `*`.",
     "['targets/*.json']"},
    {KEYS_FILE_SD, "refresh_interval", KEY_DURATION, AT(file_sd, refresh_ns),
     "2s", "How often pprofd looks whether a file has changed.", "30s"},

    {KEYS_DNS_SD, "names", KEY_TEXTS, AT(dns_sd, names), "",
     "The names to look up.", "['_pprof._tcp.example.com']"},
    {KEYS_DNS_SD, "type", KEY_TEXT, AT(dns_sd, type), "SRV", "SRV, A or AAAA.",
     "A"},
    {KEYS_DNS_SD, "port", KEY_COUNT, AT(dns_sd, port), "0",
     "The port of targets; required for A and AAAA.", "6060"},
    {KEYS_DNS_SD, "nameserver", KEY_TEXT, AT(dns_sd, nameserver), "",
     "The DNS server to ask, an IPv4 address with or without a port, such as "
     "that of a Consul agent. Without it, those of /etc/resolv.conf are asked.",
     "127.0.0.1:8600"},
    {KEYS_DNS_SD, "refresh_interval", KEY_DURATION, AT(dns_sd, refresh_ns),
     "30s", "How often names are looked up.", "10s"},

    {KEYS_HTTP_SD, "url", KEY_TEXT, AT(http_sd, url), "",
     "Where the list of targets is fetched, as JSON.",
     "http://inventory/targets"},
    {KEYS_HTTP_SD, "refresh_interval", KEY_DURATION, AT(http_sd, refresh_ns),
     "60s", "How often the list is fetched.", "5m"},

    {KEYS_KUBE_SD, "role", KEY_TEXT, AT(kube_sd, role), "pod",
     "What to discover; pods are all that pprofd knows.", "pod"},
    {KEYS_KUBE_SD, "api_server", KEY_TEXT, AT(kube_sd, api_server), "",
     "The API server; inside a cluster it is found.", "https://10.0.0.1:6443"},
    {KEYS_KUBE_SD, "kubeconfig_file", KEY_FILE, AT(kube_sd, kubeconfig_file),
     "", "A kubeconfig file, outside a cluster.", "/etc/pprofd/kubeconfig"},
    {KEYS_KUBE_SD, "context", KEY_TEXT, AT(kube_sd, context), "",
     "A context of the kubeconfig file; the default is its current one.",
     "staging"},
    {KEYS_KUBE_SD, "bearer_token_file", KEY_FILE,
     AT(kube_sd, bearer_token_file), "",
     "With `api_server`: a file with the token for it. It is read again for "
     "every request.",
     "/etc/pprofd/api-token"},
    {KEYS_KUBE_SD, "tls_config", NESTED,
     "With `api_server`: the CA and the client certificate for it.",
     "{ca_file: api-ca.crt}"},
    {KEYS_KUBE_SD, "mode", KEY_TEXT, AT(kube_sd, mode), "",
     "`annotations`: pods whose annotations ask for it; `ports`: every port of "
     "every container, for `relabel_configs` to choose from. The default is "
     "`ports` in a job with `relabel_configs`, otherwise `annotations`.",
     "annotations"},
    {KEYS_KUBE_SD, "pod_labels", KEY_TEXTS, AT(kube_sd, pod_labels), "",
     "Labels of pods that profiles get, with `mode: annotations`.",
     "[app.kubernetes.io/version]"},
    {KEYS_KUBE_SD, "namespaces", NESTED,
     "The namespaces to look in; the default is all.", "{names: [prod]}"},
    {KEYS_KUBE_SD, "selectors", NESTED, "Which pods.",
     "[{role: pod, label: app=api}]"},

    {KEYS_NAMESPACES, "own_namespace", KEY_BOOL, AT(namespaces, own_namespace),
     "false", "The namespace of pprofd's own pod.", "true"},
    {KEYS_NAMESPACES, "names", KEY_TEXTS, AT(namespaces, names), "",
     "Namespaces by name.", "[prod, staging]"},

    {KEYS_SELECTORS, "role", KEY_TEXT, AT(selectors, role), "pod",
     "The role that the selector is for.", "pod"},
    {KEYS_SELECTORS, "label", KEY_TEXT, AT(selectors, label), "",
     "A label selector.", "app=api"},
    {KEYS_SELECTORS, "field", KEY_TEXT, AT(selectors, field), "",
     "A field selector.", "spec.nodeName=node-1"},

    {KEYS_TLS, "ca_file", KEY_FILE, AT(tls, ca_file), "",
     "The CA that signed the targets' certificates; the default is the "
     "system's.",
     "/etc/pprofd/ca.crt"},
    {KEYS_TLS, "cert_file", KEY_FILE, AT(tls, cert_file), "",
     "The client certificate.", "/etc/pprofd/client.crt"},
    {KEYS_TLS, "key_file", KEY_FILE, AT(tls, key_file), "", "Its private key.",
     "/etc/pprofd/client.key"},
    {KEYS_TLS, "server_name", KEY_TEXT, AT(tls, server_name), "",
     "The name that the certificate must be for, if it is not the address.",
     "etcd.example.com"},
    {KEYS_TLS, "insecure_skip_verify", KEY_BOOL, AT(tls, insecure_skip_verify),
     "false", "Accept any certificate.", "true"},
    {KEYS_TLS, "min_version", IGNORED, "TLS 1.2 or later is always used.",
     "TLS12"},

    {KEYS_AUTHORIZATION, "type", KEY_TEXT, AT(authorization, type), "Bearer",
     "The kind of credentials.", "Bearer"},
    {KEYS_AUTHORIZATION, "credentials", KEY_TEXT,
     AT(authorization, credentials), "", "The credentials.", "s3cret"},
    {KEYS_AUTHORIZATION, "credentials_file", KEY_FILE,
     AT(authorization, credentials_file), "",
     "A file with the credentials. It is read again when it changes.",
     "/var/run/secrets/token"},

    {KEYS_BASIC_AUTH, "username", KEY_TEXT, AT(basic_auth, username), "",
     "The user.", "pprofd"},
    {KEYS_BASIC_AUTH, "password", KEY_TEXT, AT(basic_auth, password), "",
     "The password.", "s3cret"},
    {KEYS_BASIC_AUTH, "password_file", KEY_FILE, AT(basic_auth, password_file),
     "", "A file with the password. It is read again when it changes.",
     "/etc/pprofd/password"},

    {KEYS_RELABEL, "source_labels", KEY_TEXTS, AT(relabel, source_labels), "",
     "The labels whose values are joined.", "[__address__]"},
    {KEYS_RELABEL, "separator", KEY_TEXT, AT(relabel, separator), ";",
     "What stands between the joined values.", "@"},
    {KEYS_RELABEL, "regex", KEY_TEXT, AT(relabel, regex), "(.*)",
     "The expression (RE2) that the whole value is compared with.",
     "(.+):\\d+"},
    {KEYS_RELABEL, "target_label", KEY_TEXT, AT(relabel, target_label), "",
     "The label to write.", "host"},
    {KEYS_RELABEL, "replacement", KEY_TEXT, AT(relabel, replacement), "$1",
     "The value to write.", "$1"},
    {KEYS_RELABEL, "modulus", KEY_COUNT, AT(relabel, modulus), "0",
     "By what hashmod divides.", "4"},
    {KEYS_RELABEL, "action", KEY_NESTED, 0, "replace", "What the rule does.",
     "keep"},
};

const size_t config_keys_n = sizeof(config_keys) / sizeof(config_keys[0]);

/* --- reading -------------------------------------------------------------- */

struct str keys_path(struct arena *a, const struct node *n, struct str path)
{
    struct str dir = path_dir(a, str_from(n->document->name));

    if (path.n == 0 || path.s[0] == '/' || str_eq(dir, STR(".")))
        return path;
    return str_from(
        arena_printf(a, "%" STR_FMT "/%" STR_FMT, STR_ARG(dir), STR_ARG(path)));
}

/* "10" and "10s". */
static bool read_seconds(const struct node *n, const char *key, int64_t *out,
                         struct error *err)
{
    const struct node *value = node_get(n, key);
    uint64_t seconds;

    if (value && value->kind == NODE_SCALAR &&
        str_to_u64(value->text, 10, &seconds) && seconds < 1000000) {
        *out = (int64_t)seconds * SECOND;
        return true;
    }
    return node_duration(n, key, out, err);
}

static bool read_value(const struct config_key *k, const struct node *n,
                       void *at, struct arena *a, struct error *err)
{
    int64_t number;

    switch (k->kind) {
    case KEY_TEXT:
        return node_text(n, k->key, at, err);
    case KEY_FILE:
        if (!node_text(n, k->key, at, err))
            return false;
        *(struct str *)at = keys_path(a, n, *(struct str *)at);
        return true;
    case KEY_TEXTS:
        return node_text_list(n, k->key, a, at, err);
    case KEY_BOOL:
        return node_bool(n, k->key, at, err);
    case KEY_COUNT:
        number = (int64_t) * (uint64_t *)at;
        if (!node_int(n, k->key, 0, INT64_MAX, &number, err))
            return false;
        *(uint64_t *)at = (uint64_t)number;
        return true;
    case KEY_BYTES:
        return node_bytes(n, k->key, at, err);
    case KEY_DURATION:
        return node_duration(n, k->key, at, err);
    case KEY_SECONDS:
        return read_seconds(n, k->key, at, err);
    case KEY_NESTED:
    case KEY_IGNORED:
        break;
    }
    node_ignore(n, k->key);
    return true;
}

static void set_default(const struct config_key *k, void *at)
{
    struct str text = str_from(k->fallback);
    struct error ignored;

    switch (k->kind) {
    case KEY_TEXT:
    case KEY_FILE:
        *(struct str *)at = text;
        break;
    case KEY_BOOL:
        *(bool *)at = str_eq(text, STR("true"));
        break;
    case KEY_COUNT:
        str_to_u64(text, 10, at);
        break;
    case KEY_BYTES:
        size_parse(text, at);
        break;
    case KEY_DURATION:
    case KEY_SECONDS:
        if (text.n == 0 || !duration_parse(text, at, &ignored))
            *(int64_t *)at = 0;
        break;
    case KEY_TEXTS:
    case KEY_NESTED:
    case KEY_IGNORED:
        break;
    }
}

bool keys_read(const char *map, const struct node *n, void *record,
               struct arena *a, struct error *err)
{
    for (size_t i = 0; i < config_keys_n; i++) {
        const struct config_key *k = &config_keys[i];
        void *at = (char *)record + k->offset;

        if (strcmp(k->map, map) != 0)
            continue;
        if (k->kind != KEY_NESTED && k->kind != KEY_IGNORED)
            set_default(k, at);
        if (n && !read_value(k, n, at, a, err))
            return false;
    }
    return true;
}

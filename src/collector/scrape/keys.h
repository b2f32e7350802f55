#ifndef COLLECTOR_SCRAPE_KEYS_H
#define COLLECTOR_SCRAPE_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "config/getters.h"

/*
 * The keys of a scrape job, as one table: to which map of the configuration a
 * key belongs, what kind of value it has, its default, what it means and an
 * example.  The reader of the file and the reference in docs/scraping.md are
 * made from it; a test compares the two.
 *
 * keys_read() fills the record of a map.  A nested key is only marked as known:
 * its reader gets it with node_get().  The caller calls node_check_keys() at
 * the end.
 */
#define KEYS_GLOBAL        "global"
#define KEYS_JOB           "scrape_configs"
#define KEYS_PROFILING     "profiling_config"
#define KEYS_PPROF         "pprof_config"
#define KEYS_SAMPLE_TYPE   "keep_sample_type"
#define KEYS_TLS           "tls_config"
#define KEYS_AUTHORIZATION "authorization"
#define KEYS_BASIC_AUTH    "basic_auth"
#define KEYS_STATIC        "static_configs"
#define KEYS_FILE_SD       "file_sd_configs"
#define KEYS_DNS_SD        "dns_sd_configs"
#define KEYS_HTTP_SD       "http_sd_configs"
#define KEYS_KUBE_SD       "kubernetes_sd_configs"
#define KEYS_NAMESPACES    "namespaces"
#define KEYS_SELECTORS     "selectors"
#define KEYS_RELABEL       "relabel_configs"

enum key_kind {
    KEY_TEXT,     /* struct str */
    KEY_FILE,     /* struct str: a path, relative to the configuration file */
    KEY_TEXTS,    /* struct node_texts */
    KEY_BOOL,     /* bool */
    KEY_COUNT,    /* uint64_t */
    KEY_BYTES,    /* uint64_t */
    KEY_DURATION, /* int64_t, nanoseconds; 0 if it has no default */
    KEY_SECONDS,  /* the same, but a bare number is seconds */
    KEY_NESTED,   /* read elsewhere */
    KEY_IGNORED,  /* known to Prometheus or Parca, without effect here */
};

struct config_key {
    const char *map, *key;
    enum key_kind kind;
    size_t offset;        /* in the record of the map */
    const char *fallback; /* "": none */
    const char *meaning, *example;
};

extern const struct config_key config_keys[];
extern const size_t config_keys_n;

/* --- records -------------------------------------------------------------- */

struct keys_global {
    int64_t interval_ns, timeout_ns;
};

struct keys_job {
    struct str name, scheme, path_prefix;
    int64_t interval_ns, short_interval_ns, timeout_ns, seconds_ns;
    struct node_texts profiles;
    struct str bearer_token, bearer_token_file, proxy_url;
    bool follow_redirects;
    uint64_t body_size_limit;
};

struct keys_profiling {
    struct str path_prefix;
};

struct keys_pprof {
    bool enabled, delta;
    struct str path;
    int64_t seconds_ns;
};

struct keys_sample_type {
    struct str type, unit;
};

struct keys_tls {
    struct str ca_file, cert_file, key_file, server_name;
    bool insecure_skip_verify;
};

struct keys_authorization {
    struct str type, credentials, credentials_file;
};

struct keys_basic_auth {
    struct str username, password, password_file;
};

struct keys_static {
    struct node_texts targets;
};

struct keys_file_sd {
    struct node_texts files;
    int64_t refresh_ns;
};

struct keys_dns_sd {
    struct node_texts names;
    struct str type, nameserver;
    uint64_t port;
    int64_t refresh_ns;
};

struct keys_http_sd {
    struct str url;
    int64_t refresh_ns;
};

struct keys_kube_sd {
    struct str role, api_server, kubeconfig_file, context, bearer_token_file;
    struct str mode; /* "annotations", "ports" or "" */
    struct node_texts pod_labels;
};

struct keys_namespaces {
    bool own_namespace;
    struct node_texts names;
};

struct keys_selectors {
    struct str role, label, field;
};

struct keys_relabel {
    struct node_texts source_labels;
    struct str separator, regex, target_label, replacement;
    uint64_t modulus;
};

/* --- reading -------------------------------------------------------------- */

/* Reads the keys of `map` from n, which must be a map, into the record; texts
 * are views of the document or from `a`. */
bool keys_read(const char *map, const struct node *n, void *record,
               struct arena *a, struct error *err);

/* A path of the configuration: relative to the directory of its file. */
struct str keys_path(struct arena *a, const struct node *n, struct str path);

#endif

#ifndef COLLECTOR_SCRAPE_SCRAPE_CONFIG_H
#define COLLECTOR_SCRAPE_SCRAPE_CONFIG_H

#include <netinet/in.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/label_set.h"
#include "collector/scrape/keys.h"
#include "collector/scrape/kinds.h"
#include "collector/scrape/relabel.h"
#include "collector/scrape/scrape_targets.h"
#include "config/limits.h"
#include "config/node.h"

/*
 * The jobs of a configuration: `scrape_configs` as Prometheus and Parca write
 * it.  docs/scraping.md is the reference.
 */
struct scrape_profile {
    struct scrape_kind kind;
    struct str path;    /* on the server; "": kind.path below the index page */
    int64_t seconds_ns; /* 0: none is asked for */
    bool delta;         /* ask a cumulative profile for a difference */
    const struct keys_sample_type *keep; /* n_keep sample types; 0: all */
    size_t n_keep;
};

struct scrape_param {
    struct str name, value;
};

/* How to reach the targets of a job. */
struct scrape_access {
    struct keys_tls tls;
    struct keys_authorization authorization;
    struct keys_basic_auth basic;
    struct str proxy_url;
    bool follow_redirects;
};

struct scrape_kube {
    struct keys_kube_sd keys;
    struct keys_tls tls; /* for the API server, as the token file is */
    struct keys_namespaces namespaces;
    struct str label_selector, field_selector;
};

struct scrape_job {
    struct str name, scheme, path_prefix;
    int64_t interval_ns, timeout_ns, seconds_ns;
    struct scrape_profile *profiles; /* n_profiles; 0: by the index page */
    size_t n_profiles;
    struct scrape_param *params;
    size_t n_params;
    struct scrape_access access;
    uint64_t body_bytes;
    struct relabel_rules relabel;

    struct scrape_targets statics;
    struct keys_file_sd *files;
    struct keys_dns_sd *names;
    struct keys_http_sd *urls;
    struct scrape_kube *kubes;
    size_t n_files, n_names, n_urls, n_kubes;
};

struct scrape_config {
    struct arena *arena; /* of everything here */
    struct scrape_job *jobs;
    size_t n_jobs;
};

/* Reads `global` and `scrape_configs` of a file, or of a text; other keys are
 * left to others.  NULL and *err: which line is wrong. */
struct scrape_config *scrape_config_read_file(const char *path,
                                              struct error *err);
struct scrape_config *scrape_config_read_text(struct document_source source,
                                              struct error *err);

/* One without jobs. */
struct scrape_config *scrape_config_new(void);
void scrape_config_free(struct scrape_config *c);

/* "127.0.0.1:8600" or "127.0.0.1", which means port 53. */
bool scrape_config_nameserver(struct str text, struct sockaddr_in *out);

/* How long a kind that measures runs in a job. */
int64_t scrape_default_seconds(const struct scrape_job *job);

#endif

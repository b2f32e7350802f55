/*
 * Reading the jobs.  The keys are in keys.c; here is what nests, and what
 * must fit together.
 */
#include "collector/scrape/scrape_config.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "base/clock.h"
#include "collector/scrape/target_groups.h"
#include "config/document.h"

#define MAX_JOBS           1000
#define MIN_INTERVAL_NS    (SECOND / 10)
#define MAX_SECONDS_NS     (3600 * SECOND)
#define DEFAULT_SECONDS_NS (10 * SECOND)

int64_t scrape_default_seconds(const struct scrape_job *job)
{
    if (job->seconds_ns)
        return job->seconds_ns;
    if (job->interval_ns < DEFAULT_SECONDS_NS)
        return job->interval_ns < SECOND ? SECOND : job->interval_ns;
    return DEFAULT_SECONDS_NS;
}

/* --- profiles ------------------------------------------------------------- */

static bool read_names(struct scrape_job *job, struct arena *a,
                       const struct node *n, const struct node_texts *names,
                       struct error *err)
{
    job->profiles = arena_new_array(a, struct scrape_profile, names->list.n);
    for (size_t i = 0; i < names->list.n; i++) {
        struct scrape_profile *p = &job->profiles[job->n_profiles++];

        if (!scrape_kind_named(names->list.v[i], &p->kind))
            return node_fail(node_get(n, "profiles"), err,
                             "has \"%" STR_FMT "\", which cannot be a profile: "
                             "names are lower-case letters, digits and _",
                             STR_ARG(names->list.v[i]));
        p->seconds_ns = p->kind.measures ? scrape_default_seconds(job) : 0;
    }
    return true;
}

static bool read_sample_types(struct scrape_profile *p, struct arena *a,
                              const struct node *n, struct error *err)
{
    const struct node *list = NULL;
    struct keys_sample_type *keep;

    if (!node_list(n, "keep_sample_type", &list, err) || !list)
        return list == NULL;
    keep = arena_new_array(a, struct keys_sample_type, list->n);
    for (size_t i = 0; i < list->n; i++)
        if (!node_is_map(list->items[i], err) ||
            !keys_read(KEYS_SAMPLE_TYPE, list->items[i], &keep[i], a, err) ||
            !node_check_keys(list->items[i], err))
            return false;
    p->keep = keep;
    p->n_keep = list->n;
    return true;
}

static bool read_pprof(struct scrape_job *job, struct arena *a, struct str name,
                       struct str prefix, const struct node *n,
                       struct error *err)
{
    struct scrape_profile p = {0};
    struct keys_pprof keys;

    if ((n->kind != NODE_NULL && !node_is_map(n, err)) ||
        !keys_read(KEYS_PPROF, n->kind == NODE_NULL ? NULL : n, &keys, a, err))
        return false;
    if (!scrape_kind_of_parca(name, keys.path, &p.kind))
        return node_fail_key(n, err,
                             "cannot be a profile: names are "
                             "lower-case letters, digits and _");
    if (n->kind == NODE_MAP &&
        (!read_sample_types(&p, a, n, err) || !node_check_keys(n, err)))
        return false;
    if (!keys.enabled)
        return true;
    if (keys.path.n > 0)
        p.path = str_from(arena_printf(a, "%" STR_FMT "%" STR_FMT,
                                       STR_ARG(prefix), STR_ARG(keys.path)));
    p.delta = keys.delta && !p.kind.measures;
    if (keys.seconds_ns)
        p.seconds_ns = keys.seconds_ns;
    else if (keys.delta)
        p.seconds_ns = job->interval_ns < SECOND ? SECOND : job->interval_ns;
    else if (p.kind.measures)
        p.seconds_ns = scrape_default_seconds(job);
    job->profiles[job->n_profiles++] = p;
    return true;
}

static bool has_key(const struct node *map, struct str name)
{
    for (size_t i = 0; i < map->n; i++)
        if (str_eq(map->keys[i], name))
            return true;
    return false;
}

/* Parca fetches these unless they are switched off. */
static const char *const parca_profiles[] = {"memory", "block", "goroutine",
                                             "mutex", "process_cpu"};
#define PARCA_PROFILES (sizeof(parca_profiles) / sizeof(parca_profiles[0]))

static void add_defaults(struct scrape_job *job, const struct node *map)
{
    for (size_t i = 0; i < PARCA_PROFILES; i++) {
        struct scrape_profile *p = &job->profiles[job->n_profiles];

        if (has_key(map, str_from(parca_profiles[i])))
            continue;
        *p = (struct scrape_profile){0};
        scrape_kind_named(str_from(parca_profiles[i]), &p->kind);
        p->seconds_ns = p->kind.measures ? scrape_default_seconds(job) : 0;
        job->n_profiles++;
    }
}

/* Parca's profiling_config. */
static bool read_profiling(struct scrape_job *job, struct arena *a,
                           const struct node *n, struct error *err)
{
    const struct node *profiles = NULL;
    struct keys_profiling keys;

    if (!keys_read(KEYS_PROFILING, n, &keys, a, err) ||
        !node_map(n, "pprof_config", &profiles, err) ||
        !node_check_keys(n, err))
        return false;
    if (keys.path_prefix.n > 0)
        job->path_prefix = str_from(arena_printf(a, "%" STR_FMT "%" STR_FMT,
                                                 STR_ARG(keys.path_prefix),
                                                 STR_ARG(job->path_prefix)));
    if (!profiles)
        return true;
    job->profiles =
        arena_new_array(a, struct scrape_profile, profiles->n + PARCA_PROFILES);
    for (size_t i = 0; i < profiles->n; i++)
        if (!read_pprof(job, a, profiles->keys[i], keys.path_prefix,
                        profiles->items[i], err))
            return false;
    add_defaults(job, profiles);
    return true;
}

static bool read_profiles(struct scrape_job *job, struct arena *a,
                          const struct node *n, const struct keys_job *keys,
                          struct error *err)
{
    const struct node *profiling = NULL;

    if (!node_map(n, "profiling_config", &profiling, err))
        return false;
    if (profiling && keys->profiles.list.n)
        return node_fail_key(profiling, err,
                             "and profiles both say what to fetch: remove one");
    if (profiling)
        return read_profiling(job, a, profiling, err);
    return read_names(job, a, n, &keys->profiles, err);
}

/* --- access --------------------------------------------------------------- */

static bool read_map(const char *name, const struct node *n, void *record,
                     struct arena *a, struct error *err)
{
    const struct node *map = NULL;

    return node_map(n, name, &map, err) &&
           keys_read(name, map, record, a, err) &&
           (!map || node_check_keys(map, err));
}

static bool check_access(const struct scrape_access *x, const struct node *n,
                         struct error *err)
{
    int ways = (x->authorization.credentials.n > 0) +
               (x->authorization.credentials_file.n > 0) +
               (x->basic.username.n > 0);

    if (ways > 1)
        return node_fail(n, err,
                         "has more than one way to authenticate: "
                         "keep one of bearer_token, "
                         "bearer_token_file, authorization and "
                         "basic_auth");
    if ((x->tls.cert_file.n > 0) != (x->tls.key_file.n > 0))
        return node_fail(node_get(n, "tls_config"), err,
                         "needs cert_file and key_file, or neither");
    return true;
}

static bool read_access(struct scrape_job *job, struct arena *a,
                        const struct node *n, const struct keys_job *keys,
                        struct error *err)
{
    struct scrape_access *x = &job->access;

    if (!read_map(KEYS_TLS, n, &x->tls, a, err) ||
        !read_map(KEYS_AUTHORIZATION, n, &x->authorization, a, err) ||
        !read_map(KEYS_BASIC_AUTH, n, &x->basic, a, err))
        return false;
    if (keys->bearer_token.n)
        x->authorization.credentials = keys->bearer_token;
    if (keys->bearer_token_file.n)
        x->authorization.credentials_file = keys->bearer_token_file;
    x->proxy_url = keys->proxy_url;
    x->follow_redirects = keys->follow_redirects;
    return check_access(x, n, err);
}

static bool read_params(struct scrape_job *job, struct arena *a,
                        const struct node *n, struct error *err)
{
    const struct node *params = NULL;
    VEC(struct scrape_param) list = {0};

    if (!node_map(n, "params", &params, err))
        return false;
    for (size_t i = 0; params && i < params->n; i++) {
        struct node_texts values = {0};
        const char *name = arena_cstr(a, params->keys[i]);

        if (!node_text_list(params, name, a, &values, err))
            return false;
        for (size_t k = 0; k < values.list.n; k++)
            *vec_push(a, &list) =
                (struct scrape_param){params->keys[i], values.list.v[k]};
    }
    job->params = list.v;
    job->n_params = list.n;
    return true;
}

/* --- discovery ------------------------------------------------------------ */

/* The maps of a list, as an array of records. */
static bool read_records(const char *name, const struct node *n, size_t size,
                         void **out, size_t *count, struct arena *a,
                         struct error *err)
{
    const struct node *list = NULL;

    if (!node_list(n, name, &list, err) || !list)
        return list == NULL;
    *out = arena_alloc_array(a, list->n, size);
    for (; *count < list->n; (*count)++) {
        const struct node *item = list->items[*count];

        if (!node_is_map(item, err) ||
            !keys_read(name, item, (char *)*out + *count * size, a, err) ||
            !node_check_keys(item, err))
            return false;
    }
    return true;
}

static bool read_files(struct scrape_job *job, struct arena *a,
                       const struct node *n, struct error *err)
{
    if (!read_records(KEYS_FILE_SD, n, sizeof(*job->files),
                      (void **)&job->files, &job->n_files, a, err))
        return false;
    for (size_t i = 0; i < job->n_files; i++) {
        struct node_texts *files = &job->files[i].files;

        if (files->list.n == 0)
            return node_fail(node_get(n, KEYS_FILE_SD), err,
                             "needs files: a list of paths");
        for (size_t k = 0; k < files->list.n; k++)
            files->list.v[k] = keys_path(a, n, files->list.v[k]);
    }
    return true;
}

bool scrape_config_nameserver(struct str text, struct sockaddr_in *out)
{
    ptrdiff_t colon = str_find_char(text, ':');
    struct str host = colon < 0 ? text : str_first(text, (size_t)colon);
    char address[INET_ADDRSTRLEN];
    uint64_t port = 53;

    *out = (struct sockaddr_in){.sin_family = AF_INET};
    if (host.n >= sizeof(address) ||
        (colon >= 0 && !str_to_u64(str_skip(text, host.n + 1), 10, &port)) ||
        port == 0 || port > UINT16_MAX)
        return false;
    snprintf(address, sizeof(address), "%" STR_FMT, STR_ARG(host));
    out->sin_port = htons((uint16_t)port);
    return inet_pton(AF_INET, address, &out->sin_addr) == 1;
}

static bool read_names_sd(struct scrape_job *job, struct arena *a,
                          const struct node *n, struct error *err)
{
    if (!read_records(KEYS_DNS_SD, n, sizeof(*job->names), (void **)&job->names,
                      &job->n_names, a, err))
        return false;
    for (size_t i = 0; i < job->n_names; i++) {
        const struct keys_dns_sd *k = &job->names[i];
        bool is_srv = str_eq(k->type, STR("SRV"));
        struct sockaddr_in server;

        if (k->names.list.n == 0)
            return node_fail(node_get(n, KEYS_DNS_SD), err,
                             "needs names: what to look up");
        if (!is_srv && !str_eq(k->type, STR("A")) &&
            !str_eq(k->type, STR("AAAA")))
            return node_fail(node_get(n, KEYS_DNS_SD), err,
                             "must have the type SRV, A or AAAA");
        if (!is_srv && (k->port == 0 || k->port > 65535))
            return node_fail(node_get(n, KEYS_DNS_SD), err,
                             "needs a port from 1 to 65535 for the type "
                             "%" STR_FMT,
                             STR_ARG(k->type));
        if (k->nameserver.n &&
            !scrape_config_nameserver(k->nameserver, &server))
            return node_fail(node_get(n, KEYS_DNS_SD), err,
                             "needs an address like 127.0.0.1:53 as "
                             "nameserver");
    }
    return true;
}

static bool read_urls(struct scrape_job *job, struct arena *a,
                      const struct node *n, struct error *err)
{
    if (!read_records(KEYS_HTTP_SD, n, sizeof(*job->urls), (void **)&job->urls,
                      &job->n_urls, a, err))
        return false;
    for (size_t i = 0; i < job->n_urls; i++)
        if (!str_has_prefix(job->urls[i].url, STR("http://")) &&
            !str_has_prefix(job->urls[i].url, STR("https://")))
            return node_fail(node_get(n, KEYS_HTTP_SD), err,
                             "needs a url that starts with http:// or "
                             "https://");
    return true;
}

static bool read_selectors(struct scrape_kube *out, struct arena *a,
                           const struct node *n, struct error *err)
{
    const struct node *list = NULL;

    if (!node_list(n, "selectors", &list, err))
        return false;
    for (size_t i = 0; list && i < list->n; i++) {
        struct keys_selectors keys;

        if (!node_is_map(list->items[i], err) ||
            !keys_read(KEYS_SELECTORS, list->items[i], &keys, a, err) ||
            !node_check_keys(list->items[i], err))
            return false;
        if (!str_eq(keys.role, STR("pod")))
            continue;
        out->label_selector = keys.label;
        out->field_selector = keys.field;
    }
    return true;
}

static bool check_kube(const struct scrape_kube *k, const struct node *n,
                       struct error *err)
{
    const struct keys_kube_sd *keys = &k->keys;
    bool has_credentials = keys->bearer_token_file.n || k->tls.ca_file.n ||
                           k->tls.cert_file.n || k->tls.insecure_skip_verify;

    if (!str_eq(keys->role, STR("pod")))
        return node_fail(n, err,
                         "has the role %" STR_FMT
                         ": pod is the only one that can be scraped",
                         STR_ARG(keys->role));
    if (keys->mode.n && !str_eq(keys->mode, STR("annotations")) &&
        !str_eq(keys->mode, STR("ports")))
        return node_fail(n, err,
                         "has the mode %" STR_FMT
                         ": it must be annotations or ports",
                         STR_ARG(keys->mode));
    if (keys->api_server.n && (keys->kubeconfig_file.n || keys->context.n))
        return node_fail(n, err,
                         "has api_server and kubeconfig_file or context: give "
                         "only one of them");
    if (has_credentials && !keys->api_server.n)
        return node_fail(n, err,
                         "has bearer_token_file or tls_config, which need "
                         "api_server");
    return true;
}

static bool read_kube(struct scrape_kube *out, struct arena *a,
                      const struct node *n, struct error *err)
{
    return node_is_map(n, err) &&
           keys_read(KEYS_KUBE_SD, n, &out->keys, a, err) &&
           read_map(KEYS_TLS, n, &out->tls, a, err) &&
           read_map(KEYS_NAMESPACES, n, &out->namespaces, a, err) &&
           read_selectors(out, a, n, err) && node_check_keys(n, err) &&
           check_kube(out, n, err);
}

static bool read_kubes(struct scrape_job *job, struct arena *a,
                       const struct node *n, struct error *err)
{
    const struct node *list = NULL;

    if (!node_list(n, KEYS_KUBE_SD, &list, err) || !list)
        return list == NULL;
    job->kubes = arena_new_array(a, struct scrape_kube, list->n);
    for (; job->n_kubes < list->n; job->n_kubes++)
        if (!read_kube(&job->kubes[job->n_kubes], a, list->items[job->n_kubes],
                       err))
            return false;
    return true;
}

static bool read_discovery(struct scrape_job *job, struct arena *a,
                           const struct node *n, struct error *err)
{
    const struct node *statics = NULL;

    if (!node_list(n, KEYS_STATIC, &statics, err) ||
        (statics && !target_groups_read(&job->statics, a, statics, err)))
        return false;
    return read_files(job, a, n, err) && read_names_sd(job, a, n, err) &&
           read_urls(job, a, n, err) && read_kubes(job, a, n, err);
}

/* --- jobs ----------------------------------------------------------------- */

static bool set_times(struct scrape_job *job, const struct keys_job *keys,
                      const struct keys_global *global, const struct node *n,
                      struct error *err)
{
    job->interval_ns = keys->interval_ns         ? keys->interval_ns
                       : keys->short_interval_ns ? keys->short_interval_ns
                                                 : global->interval_ns;
    job->timeout_ns = keys->timeout_ns ? keys->timeout_ns : global->timeout_ns;
    job->seconds_ns = keys->seconds_ns;
    if (job->interval_ns < MIN_INTERVAL_NS)
        return node_fail(n, err, "has an interval below 100ms");
    if (job->seconds_ns > MAX_SECONDS_NS)
        return node_fail(node_get(n, "seconds"), err, "must be at most 1h");
    return true;
}

static bool check_job(const struct scrape_job *job, const struct node *n,
                      struct error *err)
{
    if (job->name.n == 0)
        return node_fail(n, err, "needs a job_name");
    if (!str_eq(job->scheme, STR("http")) && !str_eq(job->scheme, STR("https")))
        return node_fail(node_get(n, "scheme"), err, "must be http or https");
    if (job->path_prefix.n == 0 || job->path_prefix.s[0] != '/')
        return node_fail(node_get(n, "path_prefix"), err,
                         "must start with a slash");
    return true;
}

static bool read_job(struct scrape_job *job, struct arena *a,
                     const struct keys_global *global, const struct node *n,
                     struct error *err)
{
    const struct node *rules = NULL;
    struct keys_job keys = {0};

    if (!node_is_map(n, err) || !keys_read(KEYS_JOB, n, &keys, a, err))
        return false;
    job->name = keys.name;
    job->scheme = keys.scheme;
    job->path_prefix = keys.path_prefix;
    while (job->path_prefix.n > 1 &&
           job->path_prefix.s[job->path_prefix.n - 1] == '/')
        job->path_prefix.n--;
    job->body_bytes = keys.body_size_limit;
    return check_job(job, n, err) && set_times(job, &keys, global, n, err) &&
           read_profiles(job, a, n, &keys, err) &&
           read_access(job, a, n, &keys, err) && read_params(job, a, n, err) &&
           read_discovery(job, a, n, err) && node_check_keys(n, err) &&
           node_list(n, KEYS_RELABEL, &rules, err) &&
           (!rules || relabel_read(&job->relabel, a, rules, err));
}

static bool check_names(const struct scrape_config *c, const struct node *list,
                        struct error *err)
{
    for (size_t i = 0; i < c->n_jobs; i++)
        for (size_t k = 0; k < i; k++)
            if (str_eq(c->jobs[i].name, c->jobs[k].name))
                return node_fail(node_get(list->items[i], "job_name"), err,
                                 "must be different for each job: job %zu has "
                                 "this name too",
                                 k + 1);
    return true;
}

static bool read_jobs(struct scrape_config *c, const struct node *root,
                      struct error *err)
{
    const struct node *list = NULL;
    struct keys_global global;

    if (!read_map(KEYS_GLOBAL, root, &global, c->arena, err) ||
        !node_list(root, "scrape_configs", &list, err))
        return false;
    if (!list)
        return true;
    if (list->n > MAX_JOBS)
        return node_fail(list, err, "has more than %d jobs", MAX_JOBS);
    c->jobs = arena_new_array(c->arena, struct scrape_job, list->n);
    for (size_t i = 0; i < list->n; i++) {
        c->n_jobs++; /* whatever it has is released */
        if (!read_job(&c->jobs[i], c->arena, &global, list->items[i], err))
            return false;
    }
    return check_names(c, list, err);
}

struct scrape_config *scrape_config_new(void)
{
    struct arena *a = arena_new();
    struct scrape_config *c = arena_alloc(a, sizeof(*c));

    c->arena = a;
    return c;
}

void scrape_config_free(struct scrape_config *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n_jobs; i++)
        relabel_release(&c->jobs[i].relabel);
    arena_free(c->arena);
}

static struct scrape_config *finish(struct scrape_config *c,
                                    const struct node *root, struct error *err)
{
    if (root && read_jobs(c, root, err))
        return c;
    scrape_config_free(c);
    return NULL;
}

struct scrape_config *scrape_config_read_file(const char *path,
                                              struct error *err)
{
    struct scrape_config *c = scrape_config_new();

    return finish(
        c, document_read_file(c->arena, path, &document_default_limits, err),
        err);
}

struct scrape_config *scrape_config_read_text(struct document_source source,
                                              struct error *err)
{
    struct scrape_config *c = scrape_config_new();

    return finish(
        c, document_read_yaml(c->arena, source, &document_default_limits, err),
        err);
}

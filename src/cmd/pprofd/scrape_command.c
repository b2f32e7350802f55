/*
 * One round of scraping, for cron.
 *
 * The flags of kprofefe are accepted, so that its CronJob only changes its
 * image: they become the configuration of a job that discovers pods.
 */
#include "cmd/pprofd/scrape_command.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "cmd/flags.h"
#include "cmd/pprofd/scrape_sinks.h"
#include "cmd/pprofd/settings.h"
#include "cmd/pprofd/start_scraper.h"

#define DISCOVERY_NS    (30 * SECOND)
#define POST_TIMEOUT_NS (30 * SECOND)

struct scrape_flags {
    struct str config, out, collector, token_file, tls_ca, tls_cert, tls_key;
    struct str hostport, namespace, selector, kubeconfig, context, server;
    struct str server_ca, server_cert, server_key;
    bool once, all_namespaces, is_insecure, ignored_bool;
    struct str ignored;
};

static bool parse(struct scrape_flags *f, struct arena *a, int argc,
                  char **argv, struct error *err)
{
    const struct flag flags[] = {
        {STR("config"), FLAG_TEXT, &f->config},
        {STR("once"), FLAG_BOOL, &f->once},
        {STR("o"), FLAG_TEXT, &f->out},
        {STR("collector"), FLAG_TEXT, &f->collector},
        {STR("token-file"), FLAG_TEXT, &f->token_file},
        {STR("tls-ca"), FLAG_TEXT, &f->tls_ca},
        {STR("tls-cert"), FLAG_TEXT, &f->tls_cert},
        {STR("tls-key"), FLAG_TEXT, &f->tls_key},
        /* kprofefe's */
        {STR("profefe-hostport"), FLAG_TEXT, &f->hostport},
        {STR("n"), FLAG_TEXT, &f->namespace},
        {STR("namespace"), FLAG_TEXT, &f->namespace},
        {STR("A"), FLAG_BOOL, &f->all_namespaces},
        {STR("all-namespaces"), FLAG_BOOL, &f->all_namespaces},
        {STR("l"), FLAG_TEXT, &f->selector},
        {STR("selector"), FLAG_TEXT, &f->selector},
        {STR("kubeconfig"), FLAG_TEXT, &f->kubeconfig},
        {STR("s"), FLAG_TEXT, &f->server},
        {STR("server"), FLAG_TEXT, &f->server},
        {STR("context"), FLAG_TEXT, &f->context},
        {STR("certificate-authority"), FLAG_TEXT, &f->server_ca},
        {STR("client-certificate"), FLAG_TEXT, &f->server_cert},
        {STR("client-key"), FLAG_TEXT, &f->server_key},
        {STR("insecure-skip-tls-verify"), FLAG_BOOL, &f->is_insecure},
        /* accepted and without effect */
        {STR("tracer"), FLAG_TEXT, &f->ignored},
        {STR("--tracer.jaeger-address"), FLAG_TEXT, &f->ignored},
        {STR("tracer.jaeger-address"), FLAG_TEXT, &f->ignored},
        {STR("cluster"), FLAG_TEXT, &f->ignored},
        {STR("user"), FLAG_TEXT, &f->ignored},
        {STR("token"), FLAG_TEXT, &f->ignored},
        {STR("as"), FLAG_TEXT, &f->ignored},
        {STR("as-group"), FLAG_TEXT, &f->ignored},
        {STR("request-timeout"), FLAG_TEXT, &f->ignored},
        {STR("cache-dir"), FLAG_TEXT, &f->ignored},
        {STR("f"), FLAG_TEXT, &f->ignored},
        {STR("filename"), FLAG_TEXT, &f->ignored},
        {STR("R"), FLAG_BOOL, &f->ignored_bool},
        {STR("recursive"), FLAG_BOOL, &f->ignored_bool},
    };
    int rest;

    if (flags_parse(flags, sizeof(flags) / sizeof(flags[0]), a, argv, argc,
                    &rest, err) != FLAGS_OK)
        return false;
    if (rest < argc)
        return error_set(err, "unexpected argument \"%s\"; see pprofd -h",
                         argv[rest]);
    if (f->out.n && (f->collector.n || f->hostport.n))
        return error_set(err, "-o and --collector: give only one of them");
    if (f->hostport.n && !f->collector.n)
        f->collector = f->hostport;
    if (!f->collector.n)
        f->collector = STR("http://localhost:10100");
    return true;
}

/* --- jobs ----------------------------------------------------------------- */

static void add_value(struct buf *out, const char *key, struct str value)
{
    if (value.n == 0)
        return;
    buf_add(out, str_from(key));
    buf_add_json(out, value); /* a JSON text is a YAML text */
    buf_add_char(out, '\n');
}

/* How to reach the API server.  Like kprofefe, a pod asks its own cluster
 * whatever $KUBECONFIG says. */
static void add_server(struct buf *out, const struct scrape_flags *f)
{
    bool is_in_pod = getenv("KUBERNETES_SERVICE_HOST") != NULL;
    const char *file = is_in_pod ? NULL : getenv("KUBECONFIG");

    if (f->server.n == 0) {
        add_value(out, "    kubeconfig_file: ",
                  f->kubeconfig.n ? f->kubeconfig : str_from(file));
        add_value(out, "    context: ", f->context);
        return;
    }
    add_value(out, "    api_server: ", f->server);
    buf_addf(out, "    tls_config:\n      insecure_skip_verify: %s\n",
             f->is_insecure ? "true" : "false");
    add_value(out, "      ca_file: ", f->server_ca);
    add_value(out, "      cert_file: ", f->server_cert);
    add_value(out, "      key_file: ", f->server_key);
}

/* What kprofefe does, as a configuration. */
static struct scrape_config *pods(const struct scrape_flags *f, struct arena *a,
                                  struct error *err)
{
    struct buf text = arena_buf(a);

    buf_add(&text,
            STR("scrape_configs:\n"
                "- job_name: kprofefe\n"
                "  seconds: 30s\n"
                "  scrape_timeout: 10s\n"
                "  profiles: [cpu, heap, allocs, block, goroutine, mutex, "
                "threadcreate]\n"
                "  relabel_configs:\n"
                "  - {target_label: from, replacement: kube-profefe}\n"
                "  kubernetes_sd_configs:\n"
                "  - role: pod\n"
                "    mode: annotations\n"));
    add_server(&text, f);
    if (!f->all_namespaces) {
        buf_add(&text, STR("    namespaces:\n"));
        add_value(&text, "      names: ",
                  f->namespace.n ? f->namespace : STR("default"));
    }
    if (f->selector.n) {
        buf_add(&text, STR("    selectors:\n    - role: pod\n"));
        add_value(&text, "      label: ", f->selector);
    }
    return scrape_config_read_text(
        (struct document_source){"the flags", buf_str(&text)}, err);
}

/* The limits of the file's other settings, and its jobs. */
static struct scrape_config *read_config(const struct scrape_flags *f,
                                         struct arena *a,
                                         struct settings *settings,
                                         struct error *err)
{
    char *words[] = {(char[]){"--config"}, arena_cstr(a, f->config)};
    bool has_file = f->config.n > 0;
    int rest;

    if (!settings_read(settings, a, words, has_file ? 2 : 0, &rest, err))
        return NULL;
    return has_file ? read_jobs(words[1], err) : pods(f, a, err);
}

/* --- the round ------------------------------------------------------------ */

struct failures {
    pthread_mutex_t lock;
    size_t n;
};

static void failed(void *arg, struct str target, struct str profile,
                   const char *words)
{
    struct failures *f = arg;

    pthread_mutex_lock(&f->lock);
    f->n++;
    fprintf(stderr, "pprofd: %" STR_FMT " %" STR_FMT ": %s\n", STR_ARG(target),
            STR_ARG(profile), words);
    pthread_mutex_unlock(&f->lock);
}

static bool open_sink(const struct scrape_flags *f, struct arena *a,
                      struct failures *failures, struct scraper_options *o,
                      struct poster **poster, struct error *err)
{
    struct http_options http = {.tls_ca = f->tls_ca,
                                .tls_cert = f->tls_cert,
                                .tls_key = f->tls_key,
                                .token_file = f->token_file,
                                .timeout_ns = POST_TIMEOUT_NS};
    struct stat st;

    if (f->out.n == 0) {
        *poster = poster_new(f->collector, &http, failed, failures, err);
        o->deliver = poster_deliver;
        o->arg = *poster;
        return *poster != NULL;
    }
    o->deliver = directory_deliver;
    o->arg = arena_cstr(a, f->out);
    if (stat(o->arg, &st) != 0 && mkdir(o->arg, 0777) != 0)
        return error_set(err, "-o %s: cannot create the directory",
                         (char *)o->arg);
    return true;
}

static int run_round(const struct scrape_flags *f, struct arena *a,
                     struct error *err)
{
    struct failures failures = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct settings settings;
    struct scrape_config *config = read_config(f, a, &settings, err);
    struct poster *poster = NULL;
    struct scraper_options o;
    struct scraper *s;
    size_t delivered;

    if (!config)
        return 2;
    o = scraper_options_of(&settings);
    o.once = true;
    if (!open_sink(f, a, &failures, &o, &poster, err)) {
        scrape_config_free(config);
        return 2;
    }
    s = scraper_new(&o, config, err);
    if (!s) {
        poster_free(poster);
        return 2;
    }
    delivered = scraper_run_once(s, DISCOVERY_NS, failed, &failures);
    poster_free(poster);
    scraper_free(s);
    if (delivered == 0 && failures.n == 0)
        printf("No targets to profile\n");
    else
        printf("%zu profiles, %zu failed\n", delivered, failures.n);
    return failures.n ? 1 : 0;
}

int scrape_command(int argc, char **argv)
{
    struct arena *a = arena_new();
    struct scrape_flags flags = {0};
    struct error err;
    int rc = 2;

    signal(SIGPIPE, SIG_IGN);
    log_set_level(LOG_LEVEL_ERROR); /* failures are reported at the end */
    if (parse(&flags, a, argc, argv, &err))
        rc = run_round(&flags, a, &err);
    if (rc == 2)
        fprintf(stderr, "pprofd: %s\n", err.text);
    arena_free(a);
    return rc;
}

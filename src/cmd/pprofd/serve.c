/*
 * The daemon: opens the store, listens, and waits for signals.
 *
 * Everything that serves a request is below, in the collector; here are only
 * the parts put together, and what happens when settings change: SIGHUP, or a
 * configuration file with another time, reads the settings again.  Those that
 * can be changed while requests are being served take effect; an invalid file
 * changes nothing.
 */
#include "cmd/pprofd/serve.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/file_version.h"
#include "base/log.h"
#include "base/thread.h"
#include "cmd/pprofd/fleet_source.h"
#include "cmd/pprofd/open_store.h"
#include "cmd/pprofd/self_profile.h"
#include "cmd/pprofd/settings.h"
#include "cmd/pprofd/start_archive.h"
#include "cmd/pprofd/start_scraper.h"
#include "cmd/pprofd/store_watch.h"
#include "collector/collector.h"
#include "collector/scrape/sink_store.h"
#include "http/access/guard.h"
#include "http/server/server.h"
#include "page/assets.h"
#include "page/page.h"

/* How often the configuration file and the store are looked at. */
#define LOOK_NS INT64_C(2000000000)

struct daemon {
    struct settings settings;
    struct arena *arena; /* of the settings */
    int argc;
    char **argv;
    const char *config_file; /* or NULL */
    struct file_version config;

    struct store *store;  /* what requests use; it may archive */
    struct store *engine; /* what it is made of */
    struct archive *archive;
    struct sink_store sink; /* used until the store is closed */
    struct scraper *scraper;
    struct collector collector;
    struct page *page;
    struct report_config report; /* what the page starts from */
    int64_t page_wait_ns;
    struct guard *guard;
    struct http_server *server;
};

/* --- requests ------------------------------------------------------------- */

static bool answer_probe(struct http_exchange *x, void *arg)
{
    struct daemon *d = arg;
    struct str path = x->request->path;
    bool is_ready = str_eq(path, STR("/readyz"));
    struct store_stats stats = {.is_unreachable = false};

    if (!is_ready && !str_eq(path, STR("/healthz")))
        return false;
    http_exchange_header(x, "Content-Type", STR("text/plain; charset=utf-8"));
    if (is_ready)
        store_get_stats(d->store, &stats);
    if (stats.is_unreachable) {
        x->status = 503;
        http_exchange_header(x, "Retry-After", STR("1"));
        /* The reason names hosts; anybody may ask here. */
        buf_add(&x->body,
                STR("the store does not answer; see the log of pprofd\n"));
    } else {
        buf_add(&x->body, STR("ok\n"));
    }
    return true;
}

static enum http_admission admit(struct http_exchange *x, bool may_wait,
                                 void *arg)
{
    struct daemon *d = arg;
    unsigned scope = collector_admit(&d->collector, x);
    enum http_admission answer = guard_admit(d->guard, x, may_wait);

    if (answer == HTTP_ADMITTED && !guard_require(x, scope, STR("")))
        return HTTP_REFUSED;
    return answer;
}

static void answer_not_found(struct http_exchange *x)
{
    x->status = 404;
    http_exchange_header(x, "Content-Type", STR("text/plain; charset=utf-8"));
    http_exchange_header(x, "X-Content-Type-Options", STR("nosniff"));
    buf_add(&x->body, STR("404 page not found\n"));
}

static bool is_page(struct str path)
{
    return str_eq(path, STR("/")) || str_eq(path, STR("/ui")) ||
           str_has_prefix(path, STR("/ui/"));
}

static void handle(struct http_exchange *x, void *arg)
{
    struct daemon *d = arg;
    struct str path = x->request->path;

    if (collector_knows(path))
        collector_handle(&d->collector, x);
    else if (str_has_prefix(path, STR("/debug/pprof")))
        self_profile(x);
    else if (is_page(path))
        page_handle(x, d->page);
    else
        answer_not_found(x);
}

static void say(void *arg, const char *words)
{
    (void)arg;
    log_warn("server", log_text("message", words));
}

/* --- start ---------------------------------------------------------------- */

static const char *text_or_null(struct arena *a, struct str s)
{
    return s.n > 0 ? arena_cstr(a, s) : NULL;
}

static bool make_guard(struct daemon *d, struct error *err)
{
    const struct settings *s = &d->settings;

    d->guard = guard_new(
        &(struct guard_options){
            .certificates = s->client_ca.n > 0,
            .client_allow = text_or_null(d->arena, s->client_allow),
            .token_file = text_or_null(d->arena, s->token_file),
            .kubernetes = s->kubernetes,
            .rbac_prefix = "/pprofd",
            .hosts = text_or_null(d->arena, s->hosts),
            .may_navigate = true, /* links to the page */
            .say = say,
        },
        err);
    return d->guard != NULL;
}

static bool is_allowed_address(const struct settings *s, const char *address,
                               struct error *err)
{
    if (!http_address_check(address, err))
        return false;
    if (s->insecure || settings_have_guard(s) || http_address_is_local(address))
        return true;
    return error_set(err,
                     "%s can be reached from other machines, but "
                     "authentication is not enabled: configure --token-file, "
                     "--client-ca or --kubernetes, or pass --insecure",
                     address);
}

static bool listen_on(struct daemon *d, struct error *err)
{
    const struct settings *s = &d->settings;
    const char *address = arena_cstr(d->arena, s->address);
    struct http_limits limits = http_default_limits;
    struct tls_files tls = {text_or_null(d->arena, s->tls_cert),
                            text_or_null(d->arena, s->tls_key),
                            text_or_null(d->arena, s->client_ca)};

    if (!is_allowed_address(s, address, err))
        return false;
    limits.connections = (unsigned)s->max_connections;
    limits.workers = (unsigned)s->workers;
    limits.body_bytes = s->max_body;
    limits.reply_bytes = s->query_memory;
    limits.request_memory_bytes = s->request_memory;
    limits.reply_memory_bytes = s->query_memory;
    limits.requests = 0;
    limits.cpu_percent = 0;
    d->server = http_server_new(
        &(struct http_server_options){
            .address = address,
            .tls = s->tls_cert.n > 0 ? &tls : NULL,
            .limits = &limits,
            .handler = handle,
            .admit = admit,
            .at_once = answer_probe,
            .arg = d,
            .say = say,
        },
        err);
    return d->server != NULL;
}

static void start_collector(struct daemon *d)
{
    const struct settings *s = &d->settings;

    collector_init(&d->collector, &(struct collector_options){
                                      .store = d->store,
                                      .query = {.profiles = s->query_profiles,
                                                .bytes = s->query_bytes,
                                                .cpu_ns = s->query_cpu_ns},
                                      .query_memory_bytes = s->query_memory,
                                      .profile_bytes = s->max_body,
                                      .version = PPROF_VERSION,
                                      .scraper = d->scraper,
                                      .more_metrics = archive_metrics_write,
                                      .arg = d->archive,
                                  });
}

static bool overview(void *arg, struct http_exchange *x, struct buf *out)
{
    struct daemon *d = arg;

    return collector_overview(&d->collector, x, d->page_wait_ns, out);
}

static void start_page(struct daemon *d)
{
    const struct settings *s = &d->settings;

    config_init(&d->report);
    d->page_wait_ns = s->page_wait_ns;
    d->page =
        page_new(fleet_source(&(struct fleet_source_options){
                     .store = d->store,
                     .query = {.profiles = s->query_profiles,
                               .bytes = s->query_bytes,
                               .cpu_ns = s->query_cpu_ns},
                 }),
                 &(struct page_options){.config = &d->report,
                                        .arg = d,
                                        .overview = overview,
                                        .overview_bytes = s->page_overview,
                                        .assets = &fleet_assets,
                                        .web_dir = getenv("PPROF_WEB_DIR"),
                                        .request_bytes = s->query_memory});
}

static void set_log_level(const struct settings *s)
{
    enum log_level level = LOG_LEVEL_INFO;

    log_level_parse(s->log_level, &level);
    log_set_level(level);
}

static bool start(struct daemon *d, struct error *err)
{
    set_log_level(&d->settings);
    if (d->settings.ignored_flags.n > 0)
        log_warn("profefe flags that pprofd does not use are ignored",
                 log_str("flags", d->settings.ignored_flags));
    if (!make_guard(d, err))
        return false;
    /* Before the store: an error in the file leaves nothing behind. */
    d->scraper =
        make_scraper(&d->settings, d->arena, d->config_file, &d->sink, err);
    if (!d->scraper)
        return false;
    d->store = open_store(&d->settings, d->arena, err);
    if (!d->store)
        return false;
    d->engine = d->store;
    if (!start_archive(&d->settings, d->arena, &d->store, &d->archive, err))
        return false;
    d->sink.store = d->store;
    start_collector(d);
    start_page(d);
    if (!listen_on(d, err) || !scraper_start(d->scraper, err))
        return false;
    printf("pprofd: listening on %s%s%s\n",
           d->settings.tls_cert.n > 0 ? "https://" : "http://",
           http_server_address(d->server),
           d->settings.insecure ? ", without authentication" : "");
    printf("pprofd: profiles are stored in %" STR_FMT "\n",
           STR_ARG(d->settings.store.n ? d->settings.store : d->settings.data));
    fflush(stdout);
    return true;
}

/* --- settings that change ------------------------------------------------- */

static bool check_same_store(const struct daemon *d,
                             const struct settings *fresh, struct error *err)
{
    return str_eq(d->settings.store, fresh->store) ||
           error_set(err, "storage.store cannot be changed while pprofd runs");
}

static void reload(struct daemon *d)
{
    struct arena *a = arena_new();
    struct scrape_config *jobs = NULL;
    struct settings fresh;
    struct error err;
    int rest;

    if (!settings_read(&fresh, a, d->argv, d->argc, &rest, &err) ||
        !check_same_store(d, &fresh, &err) ||
        !(jobs = read_jobs(d->config_file, &err)) ||
        !scraper_configure(d->scraper, jobs, &err) ||
        !change_retention(d->engine, &fresh, &err)) {
        log_error("the new configuration is not used", log_failure(&err));
        arena_free(a);
        return;
    }
    arena_free(d->arena);
    d->arena = a;
    d->settings = fresh;
    set_log_level(&d->settings);
    log_info("configuration read again");
}

static bool file_has_changed(struct daemon *d)
{
    struct file_version now = file_version_of(d->config_file);

    if (!d->config_file || memcmp(&now, &d->config, sizeof(now)) == 0)
        return false;
    d->config = now;
    return true;
}

/* Until SIGINT or SIGTERM. */
static void wait_for_end(struct daemon *d, const sigset_t *signals)
{
    struct timespec pause = clock_timespec(LOOK_NS);
    struct store_watch watch = {.was_up = true};

    file_has_changed(d); /* how it is now */
    for (;;) {
        int sig = sigtimedwait(signals, NULL, &pause);

        if (sig == SIGINT || sig == SIGTERM)
            return;
        if (sig == SIGHUP || file_has_changed(d))
            reload(d);
        store_watch_look(&watch, d->store, clock_monotonic_ns());
    }
}

static void stop(struct daemon *d)
{
    scraper_stop(d->scraper);
    if (d->server) {
        log_info("exiting");
        if (!http_server_drain(d->server, d->settings.exit_timeout_ns))
            log_warn("some requests were cut off");
        http_server_free(d->server);
        collector_release(&d->collector);
    }
    scraper_free(d->scraper);
    page_free(d->page);
    store_close(d->store);
    guard_free(d->guard);
    arena_free(d->arena);
}

int serve_command(int argc, char **argv)
{
    struct daemon d = {.arena = arena_new(),
                       .argc = argc,
                       .argv = argv,
                       .config_file = settings_file_name(argv, argc)};
    struct error err = {.text = ""};
    sigset_t signals;
    int rest;
    bool ok;

    /* Blocked in every thread: they are waited for. */
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    thread_admit_profiler();
    ok = settings_read(&d.settings, d.arena, argv, argc, &rest, &err);
    if (ok && rest < argc)
        ok = error_set(&err, "unexpected argument \"%s\"; see pprofd serve -h",
                       argv[rest]);
    ok = ok && start(&d, &err);
    if (ok)
        wait_for_end(&d, &signals);
    else
        fprintf(stderr, "pprofd: %s\n", err.text);
    stop(&d);
    return ok ? 0 : 1;
}

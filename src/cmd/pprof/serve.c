/*
 * Each request of the page works on a copy of the profile, so few are handled
 * at a time.  Signals are blocked in all threads and taken by the main thread
 * with sigwait(3), which keeps their handling out of signal handlers.  On
 * addresses other than loopback the page asks for a token, which is part of
 * the printed URL, or for a client certificate.
 */
#include "cmd/pprof/serve.h"

#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/goparse.h"
#include "cmd/pprof/load_profile.h"
#include "cmd/pprof/ui.h"
#include "cmd/pprof/viewer.h"
#include "fetch/source_url.h"
#include "page/file_source.h"
#include "page/page.h"
#include "symbol/objects.h"

#define BROWSER_DELAY_NS 500000000 /* until a browser is started */
#define REQUESTS         4 /* handled at a time: each has its own profile */
#define CONNECTIONS      64

/* The largest profile that may be dropped onto the page.  The server takes a
 * body before anybody looks at who sends it, so beyond this machine less. */
#define UPLOAD_LOCAL   ((size_t)256 << 20)
#define UPLOAD_FOREIGN ((size_t)16 << 20)

struct address {
    struct str host;
    int port; /* 0: any free one */
};

/* "host:port" in two, in the words of Go's net.SplitHostPort. */
static bool split_address(struct str text, struct str *host, struct str *port,
                          struct error *err)
{
    ptrdiff_t colon = str_rfind_char(text, ':');
    const char *wrong = NULL;

    *host = str_first(text, colon < 0 ? text.n : (size_t)colon);
    *port = colon < 0 ? STR("") : str_skip(text, (size_t)colon + 1);
    if (colon < 0)
        wrong = "missing port in address";
    else if (str_has_prefix(*host, STR("[")) && str_has_suffix(*host, STR("]")))
        *host = str_first(str_skip(*host, 1), host->n - 2);
    else if (str_has_prefix(*host, STR("[")))
        wrong = str_find_char(text, ']') < 0 ? "missing ']' in address"
                                             : "missing port in address";
    else if (str_find_char(*host, ':') >= 0)
        wrong = "too many colons in address";
    if (wrong)
        return error_set(
            err, "could not split http address: address %" STR_FMT ": %s",
            STR_ARG(text), wrong);
    return true;
}

static bool parse_address(struct str text, struct address *out,
                          struct error *err)
{
    struct str port;
    int64_t number = 0;
    const char *wrong = NULL;

    if (!split_address(text, &out->host, &port, err))
        return false;
    if (out->host.n == 0)
        out->host = STR("localhost");
    if (port.n > 0)
        switch (goparse_int(port, 10, 64, &number)) {
        case GOPARSE_OK:
            break;
        case GOPARSE_RANGE:
            wrong = "value out of range";
            break;
        default:
            wrong = "invalid syntax";
            break;
        }
    if (wrong)
        return error_set(err,
                         "invalid port number: strconv.Atoi: parsing "
                         "\"%" STR_FMT "\": %s",
                         STR_ARG(port), wrong);
    if (number < 0 || number > USHRT_MAX)
        return error_set(err, "listen tcp: address %lld: invalid port",
                         (long long)number);
    out->port = (int)number;
    return true;
}

static bool is_local(struct str host)
{
    return str_eq(host, STR("localhost")) || str_eq(host, STR("127.0.0.1")) ||
           str_eq(host, STR("::1")) || str_eq(host, STR("[::1]"));
}

/* ---- what the page asks for ---- */

struct service {
    const struct options *options;
    struct arena *arena;
    bool is_local;
    atomic_bool is_fetching;
    bool asks_certificate;
    bool has_key; /* beyond this machine, without certificates */
    struct access_key key;
};

static const struct objects *objects_of(void *arg, struct arena *a)
{
    const struct service *s = arg;
    struct objects *objects = arena_alloc(a, sizeof(*objects));

    *objects = objects_local(a, s->options->tools);
    return objects;
}

static bool fetch(void *arg, struct profile_pair *out, struct error *err)
{
    struct service *s = arg;
    bool ok;

    atomic_store(&s->is_fetching, true);
    ok = source_load_apart(s->options, out, err);
    atomic_store(&s->is_fetching, false);
    return ok;
}

static bool finish(void *arg, struct profile *p, struct error *err)
{
    const struct service *s = arg;

    return load_profile_finish(s->options, p, err);
}

/* One of several files alone. */
static struct profile *load(void *arg, size_t source, struct error *err)
{
    const struct service *s = arg;
    struct options one = *s->options;

    one.sources += source;
    one.n_sources = 1;
    one.base = STR("");
    one.mark_base = one.base_is_diff = false;
    return load_profile_load(&one, err);
}

static bool adopt(void *arg, struct profile *p, struct error *err)
{
    const struct service *s = arg;

    return source_adopt(s->options, p, s->is_local, err);
}

static void tell(void *arg, const char *words)
{
    (void)arg;
    ui_complain("%s", words);
}

static bool is_file(const char *source)
{
    struct stat st;

    return stat(source, &st) == 0 && S_ISREG(st.st_mode);
}

/* Several files can be looked at one by one, too.  What is not a file would
 * give other bytes now. */
static void offer_sources(struct file_source_options *files, struct service *s)
{
    const struct options *o = s->options;
    struct str *names = arena_new_array(s->arena, struct str, o->n_sources);

    for (size_t i = 0; i < o->n_sources; i++) {
        names[i] = str_from(o->sources[i]);
        if (!is_file(o->sources[i]))
            return;
    }
    if (o->n_sources < 2)
        return;
    files->names = names;
    files->n_names = o->n_sources;
    files->load = load;
    files->name =
        str_from(arena_printf(s->arena, "%zu profiles", o->n_sources));
}

/* Returns true if all sources can be fetched again. stdin cannot; a file would
 * be the same. */
static bool can_fetch(const struct options *o)
{
    bool any = false;

    for (size_t i = 0; i < o->n_sources; i++) {
        if (strcmp(o->sources[i], "-") == 0)
            return false;
        any |= !is_file(o->sources[i]);
    }
    return any;
}

/* ---- the server ---- */

static bool settings_path(struct arena *a, const char **out, struct error *err)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

    if (config && *config)
        *out = arena_printf(a, "%s/pprof/settings.json", config);
    else if (home && *home)
        *out = arena_printf(a, "%s/.config/pprof/settings.json", home);
    else
        return error_set(err, "neither $XDG_CONFIG_HOME nor $HOME are defined");
    return true;
}

static void open_browser(const char *url)
{
    struct timespec delay = {.tv_nsec = BROWSER_DELAY_NS};
    struct error err;

    nanosleep(&delay, NULL);
    if (!viewer_show("", url, false, &err))
        ui_say("%s", url);
}

/* The options of the command line are in the URL, where they can be seen. */
static const char *with_options(const struct service *s, const char *url)
{
    struct str query = page_query(s->arena, &s->options->config);

    if (query.n < 2)
        return url;
    return arena_printf(s->arena, "%s%c%" STR_FMT, url, s->has_key ? '&' : '?',
                        STR_ARG(str_skip(query, 1)));
}

/* Until somebody ends us. */
static void wait_for_end(const sigset_t *ends)
{
    int got;

    while (sigwait(ends, &got) != 0)
        ;
}

static void run(const struct service *s, const struct address *where,
                const struct http_server *server, const sigset_t *ends)
{
    const struct options *o = s->options;
    const char *port = strrchr(http_server_address(server), ':');
    bool v6 = str_find_char(where->host, ':') >= 0;
    const char *url = arena_printf(
        s->arena, "%s://%s%" STR_FMT "%s%s%s%s",
        o->http_cert.n ? "https" : "http", v6 ? "[" : "", STR_ARG(where->host),
        v6 ? "]" : "", port, s->has_key ? "/ui/?token=" : "",
        s->has_key ? s->key.text : "");

    ui_say("Serving web UI on %s", url);
    if (!o->no_browser && isatty(STDOUT_FILENO))
        open_browser(with_options(s, url));
    wait_for_end(ends);
    if (atomic_load(&s->is_fetching))
        _exit(EXIT_SUCCESS); /* it may take minutes, and nothing waits for it */
}

/* A request whose client has gone while it waited is not handled. */
static void handle(struct http_exchange *x, void *page)
{
    if (http_exchange_wait(x, 0))
        page_handle(x, page);
}

static bool serve(const struct service *s, const struct address *where,
                  struct page *page, struct error *err)
{
    bool v6 = str_find_char(where->host, ':') >= 0;
    const struct options *o = s->options;
    struct http_limits limits = http_default_limits;
    struct tls_files tls = {
        .cert = arena_cstr(s->arena, o->http_cert),
        .key = arena_cstr(s->arena, o->http_key),
        .client_ca = s->asks_certificate
                         ? arena_cstr(s->arena, o->http_client_ca)
                         : NULL,
    };
    struct http_server_options options = {
        .tls = o->http_cert.n ? &tls : NULL,
        .address =
            arena_printf(s->arena, "%s%" STR_FMT "%s:%d", v6 ? "[" : "",
                         STR_ARG(where->host), v6 ? "]" : "", where->port),
        .limits = &limits,
        .handler = handle,
        .admit = page_admit,
        .arg = page,
    };
    struct http_server *server;
    sigset_t ends, before;

    limits.connections = CONNECTIONS;
    limits.workers = REQUESTS;
    limits.body_bytes = s->is_local ? UPLOAD_LOCAL : UPLOAD_FOREIGN;
    limits.request_memory_bytes = 2 * limits.body_bytes;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, &before);
    server = http_server_new(&options, err);
    if (server)
        run(s, where, server, &ends);
    /* A second Ctrl-C waits for no report that is being made. */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    http_server_free(server);
    return server != NULL;
}

/* What the page gets from here. */
static bool prepare(struct service *s, const struct address *where,
                    struct page_options *page,
                    struct file_source_options *files, struct error *err)
{
    const struct options *o = s->options;

    s->is_local = is_local(where->host);
    s->asks_certificate = o->http_client_ca.n > 0;
    s->has_key = !s->is_local && !s->asks_certificate;
    *files = (struct file_source_options){
        .name = source_shown(s->arena, str_from(o->sources[0])),
        .base_name = source_shown(s->arena, o->base),
        .arg = s,
        .fetch = can_fetch(o) ? fetch : NULL,
        .finish = finish,
        .adopt = adopt,
        .marks_base = o->mark_base,
        .normalizes = o->config.normalize,
        .is_local = s->is_local,
    };
    *page = (struct page_options){
        .config = &o->config,
        .arg = s,
        .objects = objects_of,
        .tell = tell,
        .web_dir = getenv("PPROF_WEB_DIR"),
        .local_only = s->is_local,
        .certificates_only = s->asks_certificate,
        .key = s->has_key ? &s->key : NULL,
    };
    offer_sources(files, s);
    return settings_path(s->arena, &page->settings, err) &&
           (!s->has_key || access_key_init(&s->key, err));
}

bool serve_page(const struct options *o, struct profile_pair profiles,
                struct error *err)
{
    struct service s = {.options = o, .arena = arena_new()};
    struct page_options options;
    struct file_source_options files;
    struct address where = {0};
    bool ok = parse_address(o->http, &where, err) &&
              prepare(&s, &where, &options, &files, err);

    if (ok) {
        struct page *page = page_new(file_source(profiles, &files), &options);

        page_warm(page, str_skip(page_query(s.arena, &o->config), 1));
        ok = serve(&s, &where, page, err);
        page_free(page);
    } else {
        profile_pair_free(profiles);
    }
    arena_free(s.arena);
    return ok;
}

#include "cmd/pprof/serve.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/goparse.h"
#include "cmd/pprof/ui.h"
#include "cmd/pprof/viewer.h"
#include "page/page.h"
#include "symbol/objects.h"

#define BROWSER_DELAY_NS 500000000 /* until a browser is started */
#define REQUESTS         4 /* handled at a time: each has its own profile */

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

static const struct objects *objects_of(void *arg, struct arena *a)
{
    const struct options *o = arg;
    struct objects *objects = arena_alloc(a, sizeof(*objects));

    *objects = objects_local(a, o->tools);
    return objects;
}

static void tell(void *arg, const char *words)
{
    (void)arg;
    ui_complain("%s", words);
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

/* Until somebody ends us. */
static void wait_for_end(const sigset_t *ends)
{
    int got;

    while (sigwait(ends, &got) != 0)
        ;
}

static void run(const struct options *o, const struct address *where,
                struct http_server *server, struct arena *a,
                const sigset_t *ends)
{
    const char *bound = http_server_address(server);
    const char *port = strrchr(bound, ':');
    bool v6 = str_find_char(where->host, ':') >= 0;
    const char *url =
        arena_printf(a, "http://%s%" STR_FMT "%s%s", v6 ? "[" : "",
                     STR_ARG(where->host), v6 ? "]" : "", port);

    ui_say("Serving web UI on %s", url);
    if (!o->no_browser && isatty(STDOUT_FILENO))
        open_browser(url);
    wait_for_end(ends);
}

static bool serve(const struct options *o, const struct address *where,
                  struct page *page, struct arena *a, struct error *err)
{
    bool v6 = str_find_char(where->host, ':') >= 0;
    struct http_limits limits = http_default_limits;
    struct http_server_options options = {
        .address =
            arena_printf(a, "%s%" STR_FMT "%s:%d", v6 ? "[" : "",
                         STR_ARG(where->host), v6 ? "]" : "", where->port),
        .limits = &limits,
        .handler = page_handle,
        .arg = page,
    };
    struct http_server *server;
    sigset_t ends, before;

    limits.workers = REQUESTS;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, &before);
    server = http_server_new(&options, err);
    if (server)
        run(o, where, server, a, &ends);
    http_server_free(server);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return server != NULL;
}

bool serve_page(const struct options *o, struct profile *p, struct error *err)
{
    struct arena *a = arena_new();
    struct page_options options = {
        .config = &o->config,
        .name = str_from(o->sources[0]),
        .objects = objects_of,
        .tell = tell,
        .arg = (void *)o,
        .web_dir = getenv("PPROF_WEB_DIR"),
    };
    struct address where = {0};
    bool ok = parse_address(o->http, &where, err) &&
              settings_path(a, &options.settings, err);

    if (ok) {
        struct page *page;

        options.local_only = is_local(where.host);
        page = page_new(p, &options);
        ok = serve(o, &where, page, a, err);
        page_free(page);
    } else {
        profile_free(p);
    }
    arena_free(a);
    return ok;
}

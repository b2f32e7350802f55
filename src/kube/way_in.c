/*
 * A refused port ends kubectl's port-forward (since 1.28), so every port gets
 * a forward of its own.  Over a port-forward the server's name is 127.0.0.1,
 * which no certificate has; the tunnel itself proves which pod it is.  So
 * certificates are verified only if the user says for which name.
 */
#include "kube/way_in.h"

#include <stdio.h>
#include <string.h>

#include "fetch/http_fetch.h"

#define PROBE_SECONDS 15
#define PAGE_MAX      ((size_t)4 << 20)

const char *way_name(enum way_kind kind)
{
    static const char *const names[] = {
        "any",  "port-forward",    "proxy",
        "exec", "debug container", "API server"};

    return names[kind];
}

static bool is_stopped(void *arg)
{
    const struct kubectl *k = arg;

    return !(k->stop && *k->stop);
}

static void refuse(const struct way *w, const struct http_reply *reply,
                   struct kubectl_failure *why)
{
    struct error err;

    if ((reply->status == 401 || reply->status == 403) &&
        w->options->cert.n == 0 && w->options->token_file.n == 0) {
        kubectl_failure_set(why, KUBECTL_OTHER,
                            "the server answers %d %s: give a client "
                            "certificate with --cert-secret NAMESPACE/NAME, or "
                            "a token with --token-file",
                            reply->status, reply->reason);
        return;
    }
    http_error_words(reply, &err);
    kubectl_failure_set(
        why, reply->status == 404 ? KUBECTL_NOT_FOUND : KUBECTL_OTHER, "%.400s",
        err.text);
}

/* Of `Get "http://127.0.0.1:41849/…": EOF`: nothing useful listens on the port.
 */
static const char *without_url(const char *words)
{
    const char *end = strstr(words, "\": ");

    if (strncmp(words, "Get \"", 5) == 0 && end)
        words = end + 3;
    return strcmp(words, "EOF") == 0
               ? "the connection ended early; the program may have ended"
               : words;
}

/*
 * Why there was no answer.  A server that wants a certificate hangs up; what
 * we see of that is a matter of luck, and kubectl calls it a lost connection.
 */
static void explain_loss(struct way *w, const struct error *err,
                         struct kubectl_failure *why)
{
    const struct kubectl *k = w->options->kubectl;
    bool hung_up = strstr(err->text, "client certificate");

    if (k->stop && *k->stop) {
        kubectl_failure_set(why, KUBECTL_STOPPED, "interrupted");
        return;
    }
    if (kubectl_forward_complaint(&w->forward, why)) {
        if (why->trouble != KUBECTL_OTHER)
            return;
        hung_up = hung_up || w->https;
    } else {
        kubectl_failure_set(why, KUBECTL_OTHER, "%.400s",
                            without_url(err->text));
    }
    if (hung_up && w->options->cert.n == 0)
        kubectl_failure_set(
            why, KUBECTL_OTHER,
            "the server closes the connection; if it requires a client "
            "certificate, give --cert-secret NAMESPACE/NAME");
}

static bool get_forwarded(struct way *w, const char *path, int seconds,
                          struct buf *out, struct kubectl_failure *why)
{
    const struct way_options *o = w->options;
    bool verify = o->server_name.n > 0;
    struct http_options http = {.tls_cert = o->cert,
                                .tls_key = o->key,
                                .tls_ca = verify ? o->ca : STR(""),
                                .tls_server_name = o->server_name,
                                .token_file = o->token_file,
                                .timeout_ns = (int64_t)seconds * 1000000000,
                                .max_reply = out->max - out->len,
                                .tick = is_stopped,
                                .tick_arg = (void *)o->kubectl};
    struct http_reply reply = {0};
    struct error err;
    char url[1200];

    snprintf(url, sizeof(url), "http%s://127.0.0.1:%u%s",
             !w->https ? ""
             : verify  ? "s"
                       : "s+insecure",
             w->forward.local_port, path);
    if (!http_fetch(str_from(url), false, STR(""), &http, &reply, &err)) {
        explain_loss(w, &err, why);
        buf_release(&reply.body);
        return false;
    }
    if (reply.status == 200)
        buf_add(out, buf_str(&reply.body));
    else
        refuse(w, &reply, why);
    buf_release(&reply.body);
    return reply.status == 200;
}

/* Where a network policy drops packets, only the limit ends a request. */
static bool get_raw(struct way *w, const char *path, int seconds,
                    struct buf *out, struct kubectl_failure *why)
{
    char limit[48];
    const char *const args[] = {"get", "--raw", path, limit, NULL};
    bool ok;

    snprintf(limit, sizeof(limit), "--request-timeout=%ds", seconds);
    ok = kubectl_run(w->options->kubectl, args, STR(""), out, why);
    if (!ok && str_contains(str_from(why->words), STR("deadline exceeded")))
        kubectl_failure_set(why, KUBECTL_OTHER, "no answer within %d s",
                            seconds);
    return ok;
}

/* "/a//b" is another path than "/a/b" for most servers. */
static void join(char *out, size_t size, struct str prefix, const char *name)
{
    while (prefix.n && prefix.s[prefix.n - 1] == '/')
        prefix = str_first(prefix, prefix.n - 1);
    snprintf(out, size, "%" STR_FMT "/%s", STR_ARG(prefix), name);
}

bool way_get(struct way *w, const char *name, int seconds, struct buf *out,
             struct kubectl_failure *why)
{
    char path[1024], full[1400];

    join(path, sizeof(path), w->kind == WAY_RAW ? w->raw : w->prefix, name);
    switch (w->kind) {
    case WAY_FORWARD:
        return get_forwarded(w, path, seconds, out, why);
    case WAY_PROXY:
        snprintf(
            full, sizeof(full), "/api/v1/namespaces/%s/pods/%s%s:%u/proxy%s",
            w->namespace_name, w->https ? "https:" : "", w->pod, w->port, path);
        return get_raw(w, full, seconds, out, why);
    case WAY_EXEC:
    case WAY_DEBUG:
        return kubectl_exec_get(
            &w->exec, w->options->kubectl,
            &(struct kubectl_request){w->https, w->port, path, seconds}, out,
            why);
    default:
        return get_raw(w, path, seconds, out, why);
    }
}

static void note_right(struct way *w, const struct kubectl_failure *why)
{
    if (why->trouble == KUBECTL_FORBIDDEN && w->n_rights < WAY_MAX_RIGHTS)
        w->rights[w->n_rights++] = why->right;
}

/* Returns true if an endpoint answers here: with an index, or at least with the
 * command line. */
static bool probe(struct way *w, struct arena *a, struct kubectl_failure *why)
{
    struct buf page = BUF_INIT(PAGE_MAX);
    bool ok = way_get(w, "", PROBE_SECONDS, &page, why);

    if (ok && !index_parse(a, arena_str(a, buf_str(&page)), &w->index)) {
        kubectl_failure_set(why, KUBECTL_NOT_FOUND,
                            "%" STR_FMT "/ is not an index of profiles",
                            STR_ARG(w->prefix));
        ok = false;
    }
    if (!ok && why->trouble == KUBECTL_NOT_FOUND) {
        struct kubectl_failure ignored;

        buf_clear(&page);
        ok = way_get(w, "cmdline", PROBE_SECONDS, &page, &ignored) &&
             page.len > 0 && page.data[0] != '<';
    }
    buf_release(&page);
    return ok;
}

static bool ends_search(const struct kubectl_failure *why)
{
    return why->trouble == KUBECTL_UNAUTHORIZED ||
           why->trouble == KUBECTL_UNREACHABLE ||
           why->trouble == KUBECTL_NO_POD || why->trouble == KUBECTL_STOPPED;
}

/* Another scheme or port will not help. */
static bool ends_way(const struct kubectl_failure *why)
{
    return ends_search(why) || why->trouble == KUBECTL_FORBIDDEN ||
           why->trouble == KUBECTL_NO_COMMAND ||
           why->trouble == KUBECTL_NO_UPGRADE;
}

static bool is_usually_https(unsigned port)
{
    return port == 443 || port == 2379 || port == 6443 || port == 8443 ||
           port == 9443 || port == 10250 || port == 10257 || port == 10259;
}

static bool try_schemes(struct way *w, struct arena *a,
                        const struct way_place *place,
                        struct kubectl_failure *why)
{
    bool known = place->scheme.n > 0;
    struct kubectl_failure first;

    w->https = known ? str_eq(place->scheme, STR("https"))
                     : is_usually_https(place->port);
    if (probe(w, a, why))
        return true;
    if (known || ends_way(why) || why->trouble == KUBECTL_REFUSED)
        return false;
    first = *why;
    w->https = !w->https;
    if (probe(w, a, why))
        return true;
    if (!ends_way(why)) /* what the likelier scheme said is the better hint */
        *why = first;
    return false;
}

static bool try_place(struct way *w, struct arena *a,
                      const struct way_place *place,
                      struct kubectl_failure *why)
{
    w->port = place->port;
    w->prefix = place->prefix;
    if (w->kind == WAY_FORWARD &&
        !kubectl_forward_open(&w->forward, w->options->kubectl,
                              w->namespace_name, w->pod, place->port, why))
        return false;
    if (try_schemes(w, a, place, why))
        return true;
    if (w->kind == WAY_FORWARD)
        kubectl_forward_close(&w->forward);
    return false;
}

/* How much a failure tells: refused on a guessed port says little. */
static int weight(enum kubectl_trouble trouble)
{
    return trouble == KUBECTL_REFUSED     ? 0
           : trouble == KUBECTL_NOT_FOUND ? 1
                                          : 2;
}

static bool try_way(struct way *w, struct arena *a,
                    const struct way_places *places,
                    struct kubectl_failure *why)
{
    struct kubectl_failure best = {.trouble = KUBECTL_OTHER};
    struct buf asked = arena_buf(a);

    for (size_t i = 0; i < places->list.n; i++) {
        if (try_place(w, a, &places->list.v[i], why))
            return true;
        if (ends_way(why))
            return false;
        buf_addf(&asked, "%s%u", i ? ", " : "", places->list.v[i].port);
        if (i == 0 || weight(why->trouble) > weight(best.trouble))
            best = *why;
    }
    kubectl_failure_set(
        why, best.trouble, "no /debug/pprof/ on port%s %s (%.300s)",
        places->list.n > 1 ? "s" : "", buf_cstr(&asked), best.words);
    return false;
}

static bool is_last(const struct way *w, const struct kubectl_failure *why)
{
    if (w->kind == WAY_EXEC)
        return why->trouble != KUBECTL_NO_COMMAND || !w->options->debug_image;
    if (ends_search(why) || w->options->kind != WAY_ANY || w->kind == WAY_DEBUG)
        return true;
    /* A forward reaches whatever listens in the pod; the proxy does not. */
    return w->kind == WAY_FORWARD && why->trouble != KUBECTL_FORBIDDEN &&
           why->trouble != KUBECTL_NO_UPGRADE;
}

static bool add_debug_container(struct way *w, struct arena *a,
                                struct kubectl_failure *why)
{
    const struct way_options *o = w->options;

    w->debug = (struct kubectl_debug){.image = o->debug_image,
                                      .seconds = o->debug_seconds};
    if (!kubectl_debug_open(&w->debug, a, o->kubectl, w->namespace_name, w->pod,
                            why))
        return false;
    w->exec.container = w->debug.name;
    w->exec.tool = TOOL_UNKNOWN;
    return true;
}

/* Chooses the message among several failures: the permission that would be
 * sufficient, and what else can be tried. */
static void choose_words(const struct way *w,
                         const struct kubectl_failure *first,
                         struct kubectl_failure *why)
{
    bool bare = why->trouble == KUBECTL_NO_COMMAND && w->kind == WAY_EXEC;
    bool barred = first->trouble == KUBECTL_FORBIDDEN ||
                  first->trouble == KUBECTL_NO_UPGRADE;
    struct kubectl_failure last = *why;

    if (why->trouble == KUBECTL_NO_COMMAND && w->kind == WAY_DEBUG)
        kubectl_failure_set(why, KUBECTL_NO_COMMAND,
                            "the image %.100s has neither curl nor wget nor "
                            "bash; choose another with --image",
                            w->debug.image);
    if (why->trouble == KUBECTL_STOPPED || w->kind == WAY_DEBUG)
        return;
    if (barred)
        *why = *first;
    if (bare)
        snprintf(why->words, sizeof(why->words),
                 "%.330s%s%.80s; --debug adds a container that has one",
                 barred ? first->words : "", barred ? "; " : "", last.words);
}

bool way_open(struct way *w, struct arena *a, const struct way_options *o,
              const struct kubectl_pod *pod, const struct way_places *places,
              struct kubectl_failure *why)
{
    struct kubectl_failure first = {.trouble = KUBECTL_STOPPED};

    *w = (struct way){.options = o,
                      .namespace_name = arena_cstr(a, pod->namespace_name),
                      .pod = arena_cstr(a, pod->name),
                      .kind = o->kind == WAY_ANY ? WAY_FORWARD : o->kind};
    w->exec = (struct kubectl_exec){w->namespace_name, w->pod, o->container,
                                    TOOL_UNKNOWN};
    for (;; w->kind++) {
        if ((w->kind != WAY_DEBUG || add_debug_container(w, a, why)) &&
            try_way(w, a, places, why))
            return true;
        note_right(w, why);
        if (first.trouble == KUBECTL_STOPPED)
            first = *why;
        if (is_last(w, why))
            break;
    }
    choose_words(w, &first, why);
    return false;
}

void way_open_raw(struct way *w, const struct way_options *options,
                  struct str path)
{
    *w = (struct way){.options = options, .kind = WAY_RAW, .raw = path};
}

void way_close(struct way *w)
{
    if (w->kind == WAY_FORWARD)
        kubectl_forward_close(&w->forward);
}

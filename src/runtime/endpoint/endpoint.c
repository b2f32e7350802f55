/*
 * The URLs below /debug/pprof/.  What takes its time (profile, wall, trace,
 * deltas) starts a measurement and waits in the handler, which ends early when
 * the client has gone; everything else is a snapshot of the moment.  Answers
 * are those of Go's net/http/pprof to the byte where tools look at them.
 */
#include "runtime/endpoint/endpoint.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/html.h"
#include "base/percent.h"
#include "http/server/route.h"
#include "runtime/cpu/cpu.h"
#include "runtime/endpoint/endpoint_index.h"
#include "runtime/endpoint/query.h"
#include "runtime/heap/leak.h"
#include "runtime/thread/wall.h"
#include "runtime/profiles.h"

#define DEFAULT_SECONDS 30
#define MAX_SECONDS     ((int64_t)86400)
#define MAX_PATH_BYTES  512
#define MAX_TOKEN_BYTES 4096

static const struct str prefix = STR_INIT("/debug/pprof/");

/* The parameter that asks for names and ids of threads. */
static const struct str thread_labels = STR_INIT("thread_labels");

struct exchange {
    const struct endpoint_request *request;
    struct endpoint_reply *reply;
    struct str name; /* below the prefix, decoded */
};

static void header(struct exchange *x, const char *line)
{
    buf_addf(&x->reply->headers, "%s\r\n", line);
}

static void text_reply(struct exchange *x, int status)
{
    x->reply->status = status;
    header(x, "Content-Type: text/plain; charset=utf-8");
}

/* A refusal by a handler: its words reach the user of pprof only with this
 * header and this type. */
static void refuse(struct exchange *x, int status, const char *words)
{
    buf_clear(&x->reply->body);
    text_reply(x, status);
    header(x, "X-Go-Pprof: 1");
    buf_addf(&x->reply->body, "%s\n", words);
}

static void attachment(struct exchange *x, const char *type, struct str name,
                       const char *suffix)
{
    buf_addf(&x->reply->headers,
             "Content-Type: %s\r\nContent-Disposition: attachment; "
             "filename=\"%" STR_FMT "%s\"\r\n",
             type, STR_ARG(name), suffix);
}

static bool wait_for(struct exchange *x, int64_t ns)
{
    return x->request->wait(x->request->arg, ns);
}

/* --- profile and trace: these take their time --------------------------- */

static int64_t longest(const struct exchange *x)
{
    return x->request->max_seconds ? x->request->max_seconds : MAX_SECONDS;
}

/* True: the client wants longer than it may, and was told so. */
static bool is_too_long(struct exchange *x, double seconds)
{
    char words[128];

    if (seconds <= (double)longest(x))
        return false;
    snprintf(words, sizeof(words),
             "\"seconds\" may be %lld at most in this program",
             (long long)longest(x));
    refuse(x, 400, words);
    return true;
}

static int64_t cpu_seconds(const struct exchange *x)
{
    char text[32];
    struct str value;
    uint64_t seconds;

    if (!query_get(x->request->query, STR("seconds"), text, sizeof(text),
                   &value) ||
        !str_to_u64(value, 10, &seconds) || seconds == 0 || seconds > INT64_MAX)
        return longest(x) < DEFAULT_SECONDS ? longest(x) : DEFAULT_SECONDS;
    return (int64_t)seconds;
}

/* HEAD requests return immediately. */
static bool wants_head(const struct exchange *x)
{
    return str_eq(x->request->method, STR("HEAD"));
}

static void serve_profile(void *request)
{
    struct exchange *x = request;
    int64_t seconds = cpu_seconds(x);
    struct error err;
    bool is_here;

    if (is_too_long(x, (double)seconds))
        return;
    if (wants_head(x)) {
        attachment(x, "application/octet-stream", STR("profile"), "");
        return;
    }
    if (!cpu_start(&(struct cpu_options){.tag_threads = query_flag(
                                             x->request->query, thread_labels)},
                   &err)) {
        error_wrap(&err, "Could not enable CPU profiling");
        refuse(x, 500, err.text);
        return;
    }
    /* A client that has gone frees the profiler for the next one at once, and
     * nothing is written for it. */
    is_here = wait_for(x, seconds * SECOND);
    if (!cpu_stop(CPU_ASKED, is_here ? &x->reply->body : NULL, &err)) {
        refuse(x, 500, err.text);
        return;
    }
    attachment(x, "application/octet-stream", STR("profile"), "");
}

static void serve_wall(void *request)
{
    struct exchange *x = request;
    struct wall_options options = {
        .hz = (int)query_number(x->request->query, STR("hz"), WALL_HZ_MAX),
        .tag_threads = query_flag(x->request->query, thread_labels)};
    int64_t seconds = cpu_seconds(x);
    struct error err;
    bool is_here;

    if (is_too_long(x, (double)seconds))
        return;
    if (wants_head(x)) {
        attachment(x, "application/octet-stream", STR("wall"), "");
        return;
    }
    if (!wall_start(&options, &err)) {
        error_wrap(&err, "Could not enable wall profiling");
        refuse(x, 500, err.text);
        return;
    }
    is_here = wait_for(x, seconds * SECOND);
    if (!wall_stop(WALL_ASKED, is_here ? &x->reply->body : NULL, &err)) {
        refuse(x, 500, err.text);
        return;
    }
    attachment(x, "application/octet-stream", STR("wall"), "");
}

static double trace_seconds(struct str query)
{
    double seconds;

    return query_seconds(query, &seconds) && seconds > 0 ? seconds : 1;
}

/* Not Go's format: a timeline for Chrome's and Perfetto's viewers. */
static void serve_trace(void *request)
{
    struct exchange *x = request;
    double seconds = trace_seconds(x->request->query);
    struct error err;

    if (is_too_long(x, seconds))
        return;
    if (wants_head(x)) {
        attachment(x, "application/json", STR("trace"), ".json");
        return;
    }
    if (!cpu_start(&(struct cpu_options){.timeline = true}, &err)) {
        error_wrap(&err, "Could not enable tracing");
        refuse(x, 500, err.text);
        return;
    }
    wait_for(x, (int64_t)(seconds * (double)SECOND));
    if (!cpu_stop_trace(&x->reply->body, &err)) {
        refuse(x, 500, err.text);
        return;
    }
    attachment(x, "application/json", STR("trace"), ".json");
}

/* --- snapshots ---------------------------------------------------------- */

static bool delta_seconds(struct str query, bool *wanted, int64_t *seconds)
{
    char text[32];
    struct str value;
    uint64_t v;

    *wanted = query_get(query, STR("seconds"), text, sizeof(text), &value);
    if (!*wanted)
        return true;
    if (!str_to_u64(value, 10, &v) || v == 0 || v > INT64_MAX)
        return false;
    *seconds = (int64_t)v;
    return true;
}

/* What changed meanwhile. */
static void serve_delta(struct exchange *x, const struct profile_kind *kind,
                        int64_t seconds)
{
    struct snapshot before = {0}, after = {0};
    struct error err;

    if (wants_head(x)) {
        attachment(x, "application/octet-stream", str_from(kind->name),
                   "-delta");
        return;
    }
    if (!snapshot_take(kind, &before, &err)) {
        refuse(x, 500, "failed to collect profile");
        return;
    }
    if (!wait_for(x, seconds * SECOND))
        refuse(x, 500, "context canceled");
    else if (!snapshot_take(kind, &after, &err))
        refuse(x, 500, "failed to collect profile");
    else if (!snapshot_subtract(&after, &before, &err) ||
             !snapshot_write(&after, &x->reply->body, &err))
        refuse(x, 500, "failed to compute delta");
    else
        attachment(x, "application/octet-stream", str_from(kind->name),
                   "-delta");
    snapshot_release(&before);
    snapshot_release(&after);
}

/* age=90s, 5m, 1h; a number alone is seconds. */
static bool leak_age(struct str query, int64_t *age_ns)
{
    char text[32];
    struct str value;
    int64_t unit = SECOND, n;

    *age_ns = LEAK_AGE_NS;
    if (!query_get(query, STR("age"), text, sizeof(text), &value))
        return true;
    if (str_has_suffix(value, STR("m")))
        unit = 60 * SECOND;
    else if (str_has_suffix(value, STR("h")))
        unit = 3600 * SECOND;
    if (unit != SECOND || str_has_suffix(value, STR("s")))
        value = str_first(value, value.n - 1);
    if (!str_to_i64(value, 10, &n) || n < 0 || n > 1000000)
        return false;
    *age_ns = n * unit;
    return true;
}

static void serve_leak(void *request)
{
    struct exchange *x = request;
    struct snapshot s;
    struct error err;
    int64_t age_ns;
    bool text = query_debug(x->request->query) > 0, ok;

    if (!leak_age(x->request->query, &age_ns)) {
        refuse(x, 400, "invalid value for \"age\" - 90s, 5m or 1h");
        return;
    }
    ok = leak_take_older(&s, age_ns, &err) &&
         (text ? leak_write_text(&s, &x->reply->body, &err)
               : snapshot_write(&s, &x->reply->body, &err));
    snapshot_release(&s);
    if (!ok)
        refuse(x, 500, err.text);
    else if (text)
        text_reply(x, 200);
    else
        attachment(x, "application/octet-stream", STR("leak"), "");
}

static bool write_snapshot(struct exchange *x, const struct profile_kind *kind,
                           int debug, struct error *err)
{
    struct snapshot s;
    bool ok;

    if (debug || !query_flag(x->request->query, thread_labels))
        return profiles_write(kind, debug, &x->reply->body, err);
    if (!snapshot_take(kind, &s, err))
        return false;
    ok = snapshot_label_threads(&s, err) &&
         snapshot_write(&s, &x->reply->body, err);
    snapshot_release(&s);
    return ok;
}

static void serve_snapshot(void *request)
{
    struct exchange *x = request;
    struct str name = x->name;
    const struct profile_kind *kind = profiles_find(name);
    int64_t debug = query_debug(x->request->query), seconds;
    struct error err;
    bool delta;

    if (!kind) {
        refuse(x, 404, "Unknown profile");
        return;
    }
    if (!delta_seconds(x->request->query, &delta, &seconds)) {
        refuse(x, 400,
               "invalid value for \"seconds\" - must be a positive integer");
        return;
    }
    if (delta && !kind->can_delta) {
        refuse(x, 400,
               "\"seconds\" parameter is not supported for this profile type");
        return;
    }
    if (delta && debug != 0) {
        refuse(x, 400, "seconds and debug params are incompatible");
        return;
    }
    if (delta) {
        if (!is_too_long(x, (double)seconds))
            serve_delta(x, kind, seconds);
        return;
    }
    debug = debug < 0 ? 0 : debug > 2 ? 2 : debug;
    if (!write_snapshot(x, kind, (int)debug, &err))
        refuse(x, 500, err.text);
    else if (debug)
        text_reply(x, 200);
    else
        attachment(x, "application/octet-stream", name, "");
}

/* --- small ones --------------------------------------------------------- */

static void serve_cmdline(void *request)
{
    struct exchange *x = request;
    struct buf *body = &x->reply->body;
    struct error err;

    if (!file_read("/proc/self/cmdline", body, &err)) {
        refuse(x, 500, err.text);
        return;
    }
    while (body->len && body->data[body->len - 1] == '\0')
        body->len--;
    text_reply(x, 200);
}

/* Integers as Go writes them: 0x…, 0o…, 0b…, 0…, decimal. */
static bool parse_address(struct str token, uint64_t *out)
{
    int base = 10;

    if (token.n > 1 && token.s[0] == '0') {
        char kind = (char)(token.s[1] | 0x20);

        base = kind == 'x' ? 16 : kind == 'b' ? 2 : 8;
        token =
            str_skip(token, kind == 'x' || kind == 'b' || kind == 'o' ? 2 : 1);
    }
    return str_to_u64(token, base, out) && *out != 0;
}

static void serve_symbol(void *request)
{
    struct exchange *x = request;
    bool posted = str_eq(x->request->method, STR("POST"));
    struct str rest = posted ? x->request->body : x->request->query, token;
    struct buf *body = &x->reply->body;
    struct symbol_request *symbols;

    text_reply(x, 200);
    buf_add(body, STR("num_symbols: 1\n"));
    if (!profiles_symbol_begin(&symbols))
        return;
    while (str_split(&rest, '+', &token)) {
        size_t start = body->len;
        uint64_t address;

        if (token.n > MAX_TOKEN_BYTES) {
            buf_add(body, STR("reading request: bufio: buffer full\n"));
            break;
        }
        if (!parse_address(token, &address))
            continue;
        buf_addf(body, "%#llx ", (unsigned long long)address);
        if (profiles_symbol(symbols, address, body))
            buf_add_char(body, '\n');
        else
            body->len = start;
    }
    profiles_symbol_end(symbols);
}

static void serve_index(void *request)
{
    struct exchange *x = request;

    header(x, "Content-Type: text/html; charset=utf-8");
    endpoint_write_index(&x->reply->body);
}

/* --- the way to them ---------------------------------------------------- */

/* The path was decoded and may hold anything, also the end of a line. */
static void add_target(struct buf *out, struct str path, struct str query)
{
    percent_encode(out, path, "/!$&'()*+,;=:@");
    if (query.n)
        buf_addf(out, "?%" STR_FMT, STR_ARG(query));
}

static void redirect(struct exchange *x, struct str path)
{
    struct buf *headers = &x->reply->headers, *body = &x->reply->body;
    struct buf target = BUF_INIT(64u << 10);

    add_target(&target, path, x->request->query);
    x->reply->status = 307;
    header(x, "Content-Type: text/html; charset=utf-8");
    buf_addf(headers, "Location: %" STR_FMT "\r\n", STR_ARG(buf_str(&target)));
    buf_add(body, STR("<a href=\""));
    buf_add_html(body, buf_str(&target));
    buf_add(body, STR("\">Temporary Redirect</a>.\n\n"));
    buf_release(&target);
}

/* Returns true if the path has an empty or dotted element; its clean form is
 * then in out. */
static bool clean_path(struct str path, char *out, struct str *clean)
{
    struct str rest = str_skip(path, 1), part;
    bool changed = false;
    size_t n = 0;

    while (str_split(&rest, '/', &part)) {
        if (part.n == 0 || str_eq(part, STR("."))) {
            changed = true;
        } else if (str_eq(part, STR(".."))) {
            changed = true;
            while (n > 0 && out[--n] != '/')
                ;
        } else {
            out[n++] = '/';
            memcpy(out + n, part.s, part.n);
            n += part.n;
        }
    }
    if (n == 0 || path.s[path.n - 1] == '/')
        out[n++] = '/';
    *clean = str_of(out, n);
    return changed;
}

/* Names below the prefix; any other is that of a snapshot. */
static const struct http_route routes[] = {
    {"GET", "", serve_index},          {"GET", "profile", serve_profile},
    {"GET", "trace", serve_trace},     {"GET", "wall", serve_wall},
    {"GET", "cmdline", serve_cmdline}, {"GET, POST", "symbol", serve_symbol},
    {"GET", "leak", serve_leak},       {"GET", "*", serve_snapshot},
};

static void serve_name(struct exchange *x, struct str name)
{
    struct http_match match;

    if (http_routes_find(HTTP_ROUTES(routes), x->request->method, name,
                         &match) == HTTP_ROUTE_FOUND) {
        x->name = name;
        match.route->handle(x);
        return;
    }
    text_reply(x, 405);
    buf_add(&x->reply->headers, STR("Allow: "));
    http_routes_allow(HTTP_ROUTES(routes), name, &x->reply->headers);
    buf_add(&x->reply->headers, STR("\r\n"));
    buf_add(&x->reply->body, STR("Method Not Allowed\n"));
}

static void not_found(struct exchange *x)
{
    text_reply(x, 404);
    buf_add(&x->reply->body, STR("404 page not found\n"));
}

void endpoint_handle(const struct endpoint_request *request,
                     struct endpoint_reply *reply)
{
    struct exchange x = {.request = request, .reply = reply};
    char decoded[MAX_PATH_BYTES], cleaned[MAX_PATH_BYTES + 1];
    struct str path = request->path, clean;
    ptrdiff_t n =
        path.n <= sizeof(decoded) ? percent_decode(path, false, decoded) : -1;

    reply->status = 200;
    header(&x, "X-Content-Type-Options: nosniff");
    if (n <= 0 || decoded[0] != '/') {
        not_found(&x);
        return;
    }
    path = str_of(decoded, (size_t)n);
    if (clean_path(path, cleaned, &clean))
        redirect(&x, clean);
    else if (str_eq(path, str_first(prefix, prefix.n - 1)))
        redirect(&x, prefix);
    else if (str_has_prefix(path, prefix))
        serve_name(&x, str_skip(path, prefix.n));
    else
        not_found(&x);
}

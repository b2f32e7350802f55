#include "runtime/serve.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "http/client.h"
#include "http/guard.h"
#include "http/openssl.h"
#include "http/server.h"
#include "runtime/audit.h"
#include "runtime/endpoint.h"
#include "runtime/locks.h"
#include "runtime/say.h"
#include "runtime/state.h"

#define FORK_PATIENCE_NS 20000000

static struct {
    pthread_mutex_t lock;
    struct http_server *server;
    struct guard *guard;          /* the server's */
    struct serve_options options; /* as it was asked for */
    bool in_children;
} serving = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool wait_for_client(void *arg, int64_t ns)
{
    return http_exchange_wait(arg, ns);
}

static void answer(struct http_exchange *x)
{
    struct endpoint_reply reply = {.headers = x->headers, .body = x->body};
    struct endpoint_request request = {
        .method = x->request->method,
        .path = x->request->path,
        .query = x->request->query,
        .body = x->request->body,
        .max_seconds = (int64_t)serving.options.max_seconds,
        .wait = wait_for_client,
        .arg = x,
    };

    endpoint_handle(&request, &reply);
    x->status = reply.status;
    x->headers = reply.headers;
    x->body = reply.body;
}

static void handle(struct http_exchange *x, void *arg)
{
    int64_t start = clock_monotonic_ns();
    char who[GUARD_WHO_MAX];

    (void)arg;
    if (!guard_check(serving.guard, x, who))
        return;
    answer(x);
    if (x->status == 200)
        audit_write(&serving.options, x, who, clock_monotonic_ns() - start);
}

static bool answer_probe(struct http_exchange *x, void *arg)
{
    struct str path = x->request->path;

    (void)arg;
    if (!str_eq(path, STR("/healthz")) && !str_eq(path, STR("/readyz")))
        return false;
    buf_add(&x->headers, STR("Content-Type: text/plain; charset=utf-8\r\n"
                             "X-Content-Type-Options: nosniff\r\n"));
    buf_add(&x->body, STR("ok"));
    return true;
}

static void say_words(void *arg, const char *words)
{
    char line[1024];

    (void)arg;
    snprintf(line, sizeof(line), "pprof: %.1000s\n", words);
    say_line(str_from(line));
}

static void announce(const char *address, bool tls)
{
    char line[256];
    bool is_unix = strncmp(address, "unix:", 5) == 0;

    snprintf(line, sizeof(line),
             "Starting profiling endpoint at %s%s/debug/pprof/\n",
             is_unix ? "unix://"
             : tls   ? "https://"
                     : "http://",
             is_unix ? address + 5 : address);
    say_line(str_from(line));
}

static struct guard *new_guard(const struct serve_options *o, struct error *err)
{
    return guard_new(
        &(struct guard_options){
            .certificates = o->client_ca != NULL,
            .client_allow = o->client_allow,
            .token_file = o->token_file,
            .kubernetes = o->kubernetes,
            /* Where strangers may read anyway no name can be wrong. */
            .hosts = http_address_is_local(o->address) ? o->hosts : "*",
            .say = say_words,
        },
        err);
}

static struct http_server *new_server(const struct serve_options *o,
                                      struct error *err)
{
    struct http_limits limits = http_default_limits;
    struct tls_files tls = {o->tls_cert, o->tls_key, o->client_ca};
    struct http_server_options options = {
        .address = o->address,
        .unix_mode = o->unix_mode,
        .tls = o->tls_cert ? &tls : NULL,
        .limits = &limits,
        .handler = handle,
        .at_once = answer_probe,
        .thread_begins = runtime_own_thread_enter,
        .thread_ends = runtime_own_thread_leave,
        .say = say_words,
    };

    limits.connections = o->max_connections;
    limits.workers = 8;
    limits.reply_bytes = o->max_reply_bytes;
    limits.requests = o->max_requests;
    limits.cpu_percent = o->max_cpu_percent;
    return http_server_new(&options, err);
}

/* With the lock. */
static bool start(const struct serve_options *options, struct error *err)
{
    struct serve_options copy;
    bool ok = serve_options_copy(options, &copy);

    if (serving.server) {
        serve_options_release(&copy);
        return error_set(err, "the endpoint is up already, at %s",
                         http_server_address(serving.server));
    }
    say_begin();
    serve_options_release(&serving.options);
    guard_free(serving.guard);
    serving.options = copy;
    serving.guard = ok ? new_guard(&copy, err) : NULL;
    if (!ok)
        error_set(err, "out of memory");
    if (!serving.guard)
        return false;
    serving.server = new_server(&serving.options, err);
    if (!serving.server)
        return false;
    announce(http_server_address(serving.server), copy.tls_cert != NULL);
    locks_serve();
    return true;
}

bool serve_start(const struct serve_options *options, struct error *err)
{
    bool ok;

    if (!runtime_ready(err))
        return false;
    pthread_mutex_lock(&serving.lock);
    ok = start(options, err);
    pthread_mutex_unlock(&serving.lock);
    return ok;
}

/* With the lock to the end: the next one to start frees what the handlers of
 * this one use. */
void serve_stop(void)
{
    struct http_server *server;

    pthread_mutex_lock(&serving.lock);
    server = serving.server;
    serving.server = NULL;
    http_server_free(server);
    pthread_mutex_unlock(&serving.lock);
}

const char *serve_address(void)
{
    return serving.server ? http_server_address(serving.server) : "";
}

void serve_in_children(void)
{
    serving.in_children = true;
}

void serve_own_address(const char *address, char *out, size_t size)
{
    const char *colon = strrchr(address, ':');

    if (strncmp(address, "unix:", 5) == 0)
        snprintf(out, size, "%s.%d", address, (int)getpid());
    else
        snprintf(out, size, "%.*s:0", colon ? (int)(colon - address) : 0,
                 address);
}

/* The lock is waited for, but not long, as in state.c: who starts an endpoint
 * may be waiting for the loader, whose lock the forking thread may have. */
bool serve_before_fork(void)
{
    struct timespec until =
        clock_timespec(clock_realtime_ns() + FORK_PATIENCE_NS);
    bool locked = pthread_mutex_timedlock(&serving.lock, &until) == 0;

    if (locked && serving.server)
        http_server_before_fork(serving.server);
    openssl_before_fork();
    return locked;
}

void serve_after_fork_in_parent(bool locked)
{
    openssl_after_fork(false);
    if (!locked)
        return;
    if (serving.server)
        http_server_after_fork(serving.server);
    pthread_mutex_unlock(&serving.lock);
}

void serve_after_fork(void)
{
    bool was_up = serving.server != NULL;
    struct serve_options options = serving.options;
    struct error err;
    char own[512];

    openssl_after_fork(true);
    https_post_after_fork();
    pthread_mutex_init(&serving.lock, NULL);
    if (was_up)
        http_server_abandon(serving.server);
    serving.server = NULL;
    if (!was_up || !serving.in_children)
        return;
    /* The parent's copies are left where they are: its threads may have been
     * reading them. */
    serving.options = (struct serve_options){0};
    serving.guard = NULL;
    serve_own_address(options.address, own, sizeof(own));
    options.address = own;
    start(&options, &err); /* without it the child is as well off as ever */
}

/*
 * One listener per process, and what happens to it around fork and daemon(3).
 * The options are copied, because the environment they come from is changed
 * after the start.
 */
#include "runtime/endpoint/serve.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "http/access/guard.h"
#include "http/client/http_client.h"
#include "http/server/server.h"
#include "http/tls/openssl.h"
#include "runtime/endpoint/audit.h"
#include "runtime/endpoint/endpoint.h"
#include "runtime/say.h"
#include "runtime/lock/locks.h"
#include "runtime/own_thread.h"
#include "runtime/state.h"

#define FORK_PATIENCE_NS 20000000
#define WORKERS          8

static struct {
    pthread_mutex_t lock;
    struct http_server *server;
    struct guard *guard;          /* the server's */
    struct serve_options options; /* as it was asked for */
    bool in_children;
    pid_t pid; /* of the process that listens */
    char paused_at[HTTP_ADDRESS_MAX];
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

    (void)arg;
    answer(x);
    if (x->status == 200)
        audit_write(&serving.options, x, clock_monotonic_ns() - start);
}

static enum http_admission admit(struct http_exchange *x, bool may_wait,
                                 void *arg)
{
    enum http_admission admission = guard_admit(serving.guard, x, may_wait);

    (void)arg;
    if (admission == HTTP_ADMITTED && !guard_require(x, HTTP_MAY_READ, STR("")))
        return HTTP_REFUSED;
    return admission;
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
    (void)arg;
    say_note("%s", words);
}

/* The directory of a relative socket path, with the slash, so that the URL
 * works from anywhere; "" for any other address. */
static void socket_directory(const char *address, char *out, size_t size)
{
    bool relative = strncmp(address, "unix:", 5) == 0 && address[5] != '/';

    if (!relative || !getcwd(out, size - 1))
        out[0] = '\0';
    else
        memcpy(out + strlen(out), "/", 2);
}

static void announce(const char *address, bool tls)
{
    char line[512], directory[256];
    bool is_unix = strncmp(address, "unix:", 5) == 0;

    socket_directory(address, directory, sizeof(directory));
    snprintf(line, sizeof(line),
             "Starting profiling endpoint at %s%s%s/debug/pprof/ for %s (pid "
             "%d)\n",
             is_unix ? "unix://"
             : tls   ? "https://"
                     : "http://",
             directory, is_unix ? address + 5 : address, say_program(),
             (int)getpid());
    say_line(str_from(line));
}

/* "%p" in the path of a unix socket is the process id. */
static void expand_address(const char *pattern, char *out, size_t size)
{
    const char *p = strstr(pattern, "%p");

    if (p && strncmp(pattern, "unix:", 5) == 0)
        snprintf(out, size, "%.*s%d%s", (int)(p - pattern), pattern,
                 (int)getpid(), p + 2);
    else
        snprintf(out, size, "%s", pattern);
}

static struct http_server *new_server(const struct serve_options *o,
                                      struct error *err)
{
    char address[512];
    struct http_limits limits = serve_options_limits(o, WORKERS);
    struct tls_files tls = {o->tls_cert, o->tls_key, o->client_ca};
    struct http_server_options options = {
        .address = address,
        .unix_mode = o->unix_mode,
        .tls = o->tls_cert ? &tls : NULL,
        .limits = &limits,
        .handler = handle,
        .admit = admit,
        .at_once = answer_probe,
        .thread_begins = own_thread_enter,
        .thread_ends = own_thread_leave,
        .say = say_words,
    };

    expand_address(o->address, address, sizeof(address));
    return http_server_new(&options, err);
}

/* With the lock. */
static bool start(const struct serve_options *options, struct error *err)
{
    struct serve_options copy;
    bool ok = serve_options_copy(options, &copy);
    bool switched_on;

    if (serving.server) {
        serve_options_release(&copy);
        return error_set_code(err, EALREADY,
                              "the endpoint is already running at %s",
                              http_server_address(serving.server));
    }
    say_begin();
    serve_options_release(&serving.options);
    guard_free(serving.guard);
    serving.options = copy;
    serving.guard = ok ? serve_options_new_guard(&copy, say_words, err) : NULL;
    if (!ok)
        error_set(err, "out of memory");
    if (!serving.guard)
        return false;
    if (!serve_options_check_files(&serving.options, err))
        return false;
    /* First: the first request must find them on. */
    switched_on = locks_serve();
    serving.server = new_server(&serving.options, err);
    if (!serving.server) {
        if (switched_on)
            locks_unserve();
        return false;
    }
    serving.pid = getpid();
    if (!copy.quiet)
        announce(http_server_address(serving.server), copy.tls_cert != NULL);
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

bool serve_pause(void)
{
    const char *address = serve_address();

    if (!*address)
        return false;
    snprintf(serving.paused_at, sizeof(serving.paused_at), "%s", address);
    serve_stop();
    return true;
}

void serve_resume(void)
{
    struct serve_options options = serving.options;
    struct error err;

    options.address = serving.paused_at;
    if (!serve_start(&options, &err))
        say_note("no profiling endpoint: %s", err.text);
}

/* Only by the process that made it, and if it is still the same file. */
void serve_remove_socket(void)
{
    const char *address = serve_address();

    if (strncmp(address, "unix:", 5) == 0 && serving.pid == getpid())
        unlink(address + 5);
}

__attribute__((destructor)) static void remove_socket_at_exit(void)
{
    serve_remove_socket();
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

    if (strncmp(address, "unix:", 5) == 0 && strstr(address, "%p"))
        snprintf(out, size, "%s", address);
    else if (strncmp(address, "unix:", 5) == 0)
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
    http_client_after_fork();
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

#include "runtime/serve.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "http/server.h"
#include "runtime/endpoint.h"
#include "runtime/locks.h"
#include "runtime/state.h"

static struct {
    pthread_mutex_t lock;
    struct http_server *server;
    bool in_children;
    char address[256]; /* as it was asked for */
} serving = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool wait_for_client(void *arg, int64_t ns)
{
    return http_exchange_wait(arg, ns);
}

static void handle(struct http_exchange *x, void *arg)
{
    struct endpoint_reply reply = {.headers = x->headers, .body = x->body};
    struct endpoint_request request = {
        .method = x->request->method,
        .path = x->request->path,
        .query = x->request->query,
        .body = x->request->body,
        .wait = wait_for_client,
        .arg = x,
    };

    (void)arg;
    endpoint_handle(&request, &reply);
    x->status = reply.status;
    x->headers = reply.headers;
    x->body = reply.body;
}

static void announce(const char *address)
{
    char line[256];
    bool is_unix = strncmp(address, "unix:", 5) == 0;
    int n = snprintf(line, sizeof(line),
                     "Starting profiling endpoint at %s%s/debug/pprof/\n",
                     is_unix ? "unix://" : "http://",
                     is_unix ? address + 5 : address);

    if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0)
        return; /* nobody listens: fine */
}

static bool start(const char *address, struct error *err)
{
    struct http_limits limits = http_default_limits;
    struct http_server_options options = {
        .address = address,
        .limits = &limits,
        .handler = handle,
        .thread_begins = runtime_own_thread_enter,
        .thread_ends = runtime_own_thread_leave,
    };

    limits.connections = 64;
    limits.workers = 8;
    limits.reply_bytes = (size_t)256 << 20;
    if (serving.server)
        return error_set(err, "the endpoint is up already, at %s",
                         http_server_address(serving.server));
    serving.server = http_server_new(&options, err);
    if (!serving.server)
        return false;
    snprintf(serving.address, sizeof(serving.address), "%s", address);
    announce(http_server_address(serving.server));
    locks_serve();
    return true;
}

bool serve_start(const char *address, bool insecure, struct error *err)
{
    bool ok;

    if (!insecure && !http_address_is_local(address))
        return error_set(err,
                         "%s can be reached from other machines, and whoever "
                         "reaches it may read the program's profiles: use "
                         "127.0.0.1, or say insecure (PPROF_INSECURE=1)",
                         address);
    if (!runtime_ready(err))
        return false;
    pthread_mutex_lock(&serving.lock);
    ok = start(address, err);
    pthread_mutex_unlock(&serving.lock);
    return ok;
}

void serve_stop(void)
{
    struct http_server *server;

    pthread_mutex_lock(&serving.lock);
    server = serving.server;
    serving.server = NULL;
    pthread_mutex_unlock(&serving.lock);
    http_server_free(server);
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

void serve_after_fork(void)
{
    bool was_up = serving.server != NULL;
    char own[sizeof(serving.address) + 16];
    struct error err;

    pthread_mutex_init(&serving.lock, NULL);
    if (was_up)
        http_server_abandon(serving.server);
    serving.server = NULL;
    if (was_up && serving.in_children) {
        serve_own_address(serving.address, own, sizeof(own));
        start(own, &err); /* without it the child is as well off as ever */
    }
}

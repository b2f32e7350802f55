/*
 * /debug/pprof/ on a server that the program has already: plain libevent.
 *
 * evhttp has one thread, which must not wait for a profile.  Each request of
 * ours so gets a thread of its own, which passes the reply back to the loop.
 */
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <event2/thread.h>
#include <netinet/in.h>
#include <pprof/pprof.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct exchange {
    struct event_base *loop;
    struct evhttp_request *request;
    const char *method;
    char *path, *query, *posted;
    size_t posted_bytes;
    int status;
    struct evkeyvalq headers;
    struct evbuffer *body;
};

static void set_status(void *arg, int status)
{
    ((struct exchange *)arg)->status = status;
}

static void add_header(void *arg, const char *name, const char *value)
{
    evhttp_add_header(&((struct exchange *)arg)->headers, name, value);
}

static void set_body(void *arg, const void *data, size_t bytes)
{
    evbuffer_add(((struct exchange *)arg)->body, data, bytes);
}

/* In the loop again. */
static void send_reply(evutil_socket_t fd, short what, void *arg)
{
    struct exchange *x = arg;
    struct evkeyvalq *out = evhttp_request_get_output_headers(x->request);
    struct evkeyval *h;

    (void)fd, (void)what;
    for (h = x->headers.tqh_first; h; h = h->next.tqe_next)
        evhttp_add_header(out, h->key, h->value);
    evhttp_send_reply(x->request, x->status, NULL, x->body);
    evhttp_clear_headers(&x->headers);
    evbuffer_free(x->body);
    free(x->path);
    free(x->query);
    free(x->posted);
    free(x);
}

static void *make_reply(void *arg)
{
    struct exchange *x = arg;
    struct pprof_request request = {.size = sizeof(request),
                                    .method = x->method,
                                    .path = x->path,
                                    .query = x->query,
                                    .body = x->posted,
                                    .body_bytes = x->posted_bytes};
    struct pprof_response response = {.size = sizeof(response),
                                      .arg = x,
                                      .status = set_status,
                                      .header = add_header,
                                      .body = set_body};

    if (pprof_handle(&request, &response) != 0)
        x->status = 500;
    event_base_once(x->loop, -1, EV_TIMEOUT, send_reply, x, NULL);
    return NULL;
}

/* The handler decides which methods it takes, so it must see each one. */
static const char *method_of(struct evhttp_request *request)
{
    switch (evhttp_request_get_command(request)) {
    case EVHTTP_REQ_GET:
        return "GET";
    case EVHTTP_REQ_HEAD:
        return "HEAD";
    case EVHTTP_REQ_POST:
        return "POST";
    default:
        return "OTHER";
    }
}

static void on_request(struct evhttp_request *request, void *arg)
{
    const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
    struct evbuffer *posted = evhttp_request_get_input_buffer(request);
    const char *query = evhttp_uri_get_query(uri);
    struct exchange *x = calloc(1, sizeof(*x));
    pthread_t thread;

    x->loop = arg;
    x->request = request;
    x->method = method_of(request);
    x->path = strdup(evhttp_uri_get_path(uri));
    x->query = strdup(query ? query : "");
    x->posted_bytes = evbuffer_get_length(posted);
    x->posted = malloc(x->posted_bytes + 1);
    evbuffer_copyout(posted, x->posted, x->posted_bytes);
    x->body = evbuffer_new();
    x->headers.tqh_last = &x->headers.tqh_first;
    if (pthread_create(&thread, NULL, make_reply, x) == 0)
        pthread_detach(thread);
    else
        make_reply(x);
}

int main(void)
{
    struct event_base *loop;
    struct evhttp *http;
    struct evhttp_bound_socket *bound;
    struct sockaddr_in addr = {0};
    socklen_t len = sizeof(addr);

    evthread_use_pthreads();
    loop = event_base_new();
    http = evhttp_new(loop);
    bound = evhttp_bind_socket_with_handle(http, "127.0.0.1", 0);
    if (!bound)
        return 1;
    evhttp_set_gencb(http, on_request, loop);
    if (getsockname(evhttp_bound_socket_get_fd(bound), (struct sockaddr *)&addr,
                    &len) != 0)
        return 1;
    printf("127.0.0.1:%u\n", (unsigned)ntohs(addr.sin_port));
    fflush(stdout);
    return event_base_dispatch(loop);
}

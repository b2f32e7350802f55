/*
 * /debug/pprof/ on a server that the program has already: libmicrohttpd.
 * Prints its port and serves until it is ended.
 */
#include <microhttpd.h>
#include <pprof/pprof.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One request: what the client sends, and the reply that pprof_handle makes. */
struct exchange {
    char query[512];
    char *body;
    size_t body_bytes;
    int status;
    struct MHD_Response *response;
    char headers[8][2][128];
    int n_headers;
};

static void set_status(void *arg, int status)
{
    struct exchange *x = arg;

    x->status = status;
}

/* libmicrohttpd wants the body first, so headers are kept until then. */
static void add_header(void *arg, const char *name, const char *value)
{
    struct exchange *x = arg;

    if (x->n_headers == 8)
        return;
    snprintf(x->headers[x->n_headers][0], 128, "%s", name);
    snprintf(x->headers[x->n_headers++][1], 128, "%s", value);
}

static void set_body(void *arg, const void *data, size_t bytes)
{
    struct exchange *x = arg;

    x->response = MHD_create_response_from_buffer(bytes, (void *)data,
                                                  MHD_RESPMEM_MUST_COPY);
    for (int i = 0; i < x->n_headers; i++)
        MHD_add_response_header(x->response, x->headers[i][0],
                                x->headers[i][1]);
}

static enum MHD_Result add_to_query(void *arg, enum MHD_ValueKind kind,
                                    const char *key, const char *value)
{
    struct exchange *x = arg;
    size_t n = strlen(x->query);

    (void)kind;
    snprintf(x->query + n, sizeof(x->query) - n, "%s%s%s%s", n ? "&" : "", key,
             value ? "=" : "", value ? value : "");
    return MHD_YES;
}

static enum MHD_Result answer(void *arg, struct MHD_Connection *connection,
                              const char *path, const char *method,
                              const char *version, const char *upload,
                              size_t *upload_bytes, void **state)
{
    struct exchange *x = *state;
    struct pprof_request request = {.size = sizeof(request)};
    struct pprof_response response = {.size = sizeof(response),
                                      .status = set_status,
                                      .header = add_header,
                                      .body = set_body};
    enum MHD_Result result;

    (void)arg, (void)version;
    if (!x) {
        *state = calloc(1, sizeof(*x));
        return *state ? MHD_YES : MHD_NO;
    }
    if (*upload_bytes) { /* a part of the body */
        x->body = realloc(x->body, x->body_bytes + *upload_bytes);
        memcpy(x->body + x->body_bytes, upload, *upload_bytes);
        x->body_bytes += *upload_bytes;
        *upload_bytes = 0;
        return MHD_YES;
    }
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, add_to_query,
                              x);
    request.method = method;
    request.path = path;
    request.query = x->query;
    request.body = x->body;
    request.body_bytes = x->body_bytes;
    response.arg = x;
    if (pprof_handle(&request, &response) != 0 || !x->response)
        return MHD_NO;
    result = MHD_queue_response(connection, (unsigned)x->status, x->response);
    MHD_destroy_response(x->response);
    return result;
}

static void forget(void *arg, struct MHD_Connection *connection, void **state,
                   enum MHD_RequestTerminationCode why)
{
    struct exchange *x = *state;

    (void)arg, (void)connection, (void)why;
    if (x)
        free(x->body);
    free(x);
}

int main(void)
{
    /* A thread for each connection: a CPU profile takes its time. */
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD, 0,
        NULL, NULL, answer, NULL, MHD_OPTION_NOTIFY_COMPLETED, forget, NULL,
        MHD_OPTION_END);
    const union MHD_DaemonInfo *info;

    if (!daemon)
        return 1;
    info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    printf("127.0.0.1:%u\n", info->port);
    fflush(stdout);
    for (;;)
        pause();
}

/*
 * The life of a job.  Everything that happens to it in between is in
 * connection.c (bytes) and pool.c (threads).
 */
#include "http/server/job.h"

#include <stdlib.h>

#define MAX_HEADER_BYTES ((size_t)16 << 10) /* of a reply */

struct job *job_new(struct connection *c, const struct http_client *client,
                    const struct http_request *request,
                    const struct http_limits *limits)
{
    struct job *job = calloc(1, sizeof(*job));
    pthread_condattr_t attr;

    if (!job)
        return NULL;
    job->request = *request;
    job->connection = c;
    job->received = BUF_INIT(limits->body_bytes);
    job->unsent = BUF_INIT(limits->reply_bytes);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&job->changed, &attr);
    pthread_condattr_destroy(&attr);
    job->x = (struct http_exchange){
        .request = &job->request,
        .client = client,
        .identity = {.name = "-", .scopes = HTTP_MAY_READ | HTTP_MAY_WRITE},
        .max_body = limits->body_bytes,
        .status = 200,
        .headers = BUF_INIT(MAX_HEADER_BYTES),
        .body = BUF_INIT(limits->reply_bytes),
    };
    return job;
}

void job_free(struct job *job)
{
    if (!job)
        return;
    if (job->deferral.release)
        job->deferral.release(job->deferral.data);
    buf_release(&job->x.headers);
    buf_release(&job->x.body);
    buf_release(&job->received);
    buf_release(&job->unsent);
    pthread_cond_destroy(&job->changed);
    free(job);
}

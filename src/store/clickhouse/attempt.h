#ifndef STORE_CLICKHOUSE_ATTEMPT_H
#define STORE_CLICKHOUSE_ATTEMPT_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "fetch/curl.h"
#include "store/clickhouse/address.h"
#include "store/clickhouse/request.h"

/*
 * One request at one host.  The inner side of client.h: client.c chooses the
 * hosts, attempt.c talks to them, and nobody else includes this.
 */

#define CHECK_NS (5 * SECOND) /* for the answer to a health check */

struct host {
    char base[300];         /* "http://host:port/" */
    atomic_bool is_suspect; /* the checker is to look at it */
    atomic_bool is_down;    /* requests leave it alone */
    char words[256];        /* why; under the checker's lock */
};

/* Its thread is started when a host becomes suspect for the first time. */
struct checker {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    atomic_bool stop;
    bool has_thread;
    pthread_t thread;
};

struct ch_client {
    const struct curl_api *api;
    char *text; /* of the URL */
    struct clickhouse_address address;
    struct host hosts[CLICKHOUSE_HOSTS];
    struct checker checker;
    atomic_uint *failovers;         /* or NULL */
    char *user_header, *key_header; /* "X-ClickHouse-User: …" */
    char *ca_file, *cert_file, *key_file;
    uint64_t query_memory;
    pthread_mutex_t lock;
    struct handle *idle;
    size_t n_idle;
    uint64_t id_seed;
    atomic_ullong next_id;
};

/* What an attempt says about the host. */
enum verdict {
    ANSWERED,
    CUT_OFF,   /* while it worked on the request */
    TIMED_OUT, /* the same, and it took its time */
    UNREACHABLE,
};

/* A health check ends when the client is freed.  Other requests have the host
 * checked when they take long, and end when it is down. */
enum store_status ch_attempt(struct ch_client *c, struct ch_request *r,
                             struct host *host, bool is_check,
                             enum verdict *verdict, struct error *err);

/* Has the host checked. */
void ch_suspect(struct ch_client *c, struct host *host);

void ch_handles_free(struct ch_client *c);

#endif

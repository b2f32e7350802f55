#ifndef KUBE_REQUEST_H
#define KUBE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "fetch/curl.h"
#include "kube/access.h"

/*
 * One GET to the API server, among others on the same thread.
 *
 * Its owner gets the status once, then the body piece by piece, and finally the
 * end, exactly once for every request that was sent.
 */
struct kube_request_owner {
    void (*answer)(void *arg, int status, int64_t retry_after_ns);
    bool (*body)(void *arg, struct str bytes); /* false: hang up */
    /* `words` say why a reply is not whole. */
    void (*end)(void *arg, bool is_whole, const char *words, int64_t now_ns);
    void *arg;
};

struct kube_request {
    struct kube_request_owner owner;
    CURL *curl; /* NULL: none under way */
    struct curl_slist *headers;
    bool has_answered;
    char curl_words[CURL_ERROR_SIZE];
};

/* What all requests of a thread share. */
struct kube_client {
    const struct curl_api *api;
    CURLM *multi;
    struct kube_access *access;
};

bool kube_client_init(struct kube_client *c, struct kube_access *access,
                      struct error *err);
void kube_client_release(struct kube_client *c); /* not the access */

/*
 * Sends a request.  seconds: how long the reply may take, 0 for no limit as
 * long as bytes keep coming.  If it cannot be sent, the owner gets the end at
 * once.
 */
void kube_request_send(struct kube_client *c, struct kube_request *r,
                       const char *path, int seconds, int64_t now_ns);

/* Cancels a request without calling its owner. */
void kube_request_cancel(struct kube_client *c, struct kube_request *r);

/* Lets all requests go on for at most until_ns, or until something happened
 * or kube_client_wake() was called. */
void kube_client_run(struct kube_client *c, int64_t until_ns);
void kube_client_wake(struct kube_client *c); /* from any thread */

#endif

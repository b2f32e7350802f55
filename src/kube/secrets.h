#ifndef KUBE_SECRETS_H
#define KUBE_SECRETS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "kube/request.h"

/*
 * Certificates and keys from Secrets of type kubernetes.io/tls.
 *
 * They are read with `get` alone, so that a role can name the Secrets it
 * allows, and again every SECRETS_AGAIN_NS while they are in use.  They are
 * kept in memory only, and overwritten when they are replaced or freed.
 *
 * One thread sends the requests; any thread may ask.
 */
#define SECRETS_MAX      1024
#define SECRETS_AGAIN_NS (60 * SECOND)
#define SECRETS_KEPT_NS  (600 * SECOND) /* after the last time it was asked */

struct kube_tls {
    struct str cert, key; /* PEM; "" if the Secret has none */
    struct str ca;        /* ca.crt: whom to trust */
};

struct secrets {
    pthread_mutex_t lock; /* for the list and what is in it */
    struct secret *list;
    size_t n;
    struct kube_client *client;
    int64_t again_ns;
};

void secrets_init(struct secrets *s, struct kube_client *client,
                  int64_t again_ns);
void secrets_release(struct secrets *s);

/*
 * A copy of what is known, from `a`.  False: the Secret is not there (yet),
 * the error says why; its code is EAGAIN if it was never asked for before,
 * in which case it is being read now.
 */
bool secrets_get(struct secrets *s, struct arena *a, struct str full_name,
                 struct kube_tls *out, struct error *err);

/* Sends the requests that are due; when the next one is, INT64_MAX for none.
 * True in *changed: what secrets_get() gives is different now. */
int64_t secrets_run(struct secrets *s, int64_t now_ns, bool *changed);

#endif

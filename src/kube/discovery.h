#ifndef KUBE_DISCOVERY_H
#define KUBE_DISCOVERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/label_set.h"
#include "base/str.h"
#include "kube/access.h"
#include "kube/secrets.h"
#include "kube/targets.h"

/*
 * The pods of a Kubernetes cluster as targets of a scraper.
 *
 *     struct kube_discovery *d = kube_discovery_new(&options, &err);
 *
 *     if (kube_discovery_version(d) != seen) {
 *         seen = kube_discovery_version(d);
 *         kube_discovery_snapshot(d, arena, &targets, &n, &err);
 *     }
 *     kube_discovery_free(d);
 *
 * A thread of its own lists and watches the pods and keeps what a target
 * needs of them.  No function waits for the API server, except those that
 * say so; all may be called by any thread.  While the server cannot be
 * reached, the last known targets stay.
 */
struct kube_discovery_options {
    struct kube_access_options access;
    struct kube_target_options targets;

    const struct str *namespaces; /* none: all */
    size_t n_namespaces;
    struct str label_selector, field_selector;

    /* 0: the default that is named. */
    int page;                /* 500 pods in one page of a list */
    int watch_seconds;       /* 300: a watch lasts up to twice as long */
    int64_t min_pause_ns;    /* 0.5 s before the first retry */
    int64_t max_pause_ns;    /* 30 s, the longest pause */
    size_t max_object_bytes; /* 8 MB for the JSON of one pod */
    size_t max_bytes;        /* 256 MB for all that is kept of pods */
    int64_t secret_again_ns; /* 60 s until a Secret is read again */
};

struct kube_discovery;

/* NULL: the options contradict each other, or there is no libcurl.  That the
 * API server cannot be reached is no failure here. */
struct kube_discovery *
kube_discovery_new(const struct kube_discovery_options *options,
                   struct error *err);
void kube_discovery_free(struct kube_discovery *d); /* at once */

/* Changes whenever targets or Secrets in use may have changed; 0 until the pods
 * have been listed once. */
uint64_t kube_discovery_version(struct kube_discovery *d);

/* All targets, in no particular order, from `a`. */
bool kube_discovery_snapshot(struct kube_discovery *d, struct arena *a,
                             struct label_set **out, size_t *n,
                             struct error *err);

/* A Secret by NAMESPACE/NAME; see kube/secrets.h. */
bool kube_discovery_secret(struct kube_discovery *d, struct arena *a,
                           struct str namespace_and_name, struct kube_tls *out,
                           struct error *err);

/* Waits until the pods have been listed once; false with the reason if that
 * takes longer than patience_ns. */
bool kube_discovery_wait(struct kube_discovery *d, int64_t patience_ns,
                         struct error *err);

/* Returns true if there is a problem at the moment; the error describes it. */
bool kube_discovery_failure(struct kube_discovery *d, struct error *out);

/* A status line for people: what is watched since when, or what is wrong. */
void kube_discovery_status(struct kube_discovery *d, struct buf *out);

#endif

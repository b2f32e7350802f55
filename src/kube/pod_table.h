#ifndef KUBE_POD_TABLE_H
#define KUBE_POD_TABLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "kube/targets.h"

/*
 * The pods that are known, by namespace and name.
 *
 * One thread writes what lists and watches bring; any thread may read.  The
 * version changes exactly when a pod that could have targets appeared,
 * changed in something we keep, or went.  Pods that could never have targets
 * are not kept at all.
 *
 * A list replaces what its source (one of several list-and-watches) knew
 * before: it takes a new mark, puts every pod with it, and at its end sweeps
 * those of the source that have another one.  Until then the old pods stay.
 */
struct pod_table {
    pthread_mutex_t lock; /* for everything below */
    struct kube_target_options options;
    size_t max_bytes; /* of all records together */

    struct pod_entry **buckets;
    size_t n_buckets, n, bytes;
    uint64_t seed;
    uint64_t version;
};

/* The options' arrays must live as long as the table. */
bool pod_table_init(struct pod_table *t,
                    const struct kube_target_options *options, size_t max_bytes,
                    struct error *err);
void pod_table_release(struct pod_table *t);

/* False: the limit is reached; the pod is not in the table then. */
bool pod_table_put(struct pod_table *t, const struct kube_pod *pod,
                   unsigned source, uint64_t mark, struct error *err);
void pod_table_remove(struct pod_table *t, struct str namespace_name,
                      struct str name);
void pod_table_sweep(struct pod_table *t, unsigned source, uint64_t mark);

uint64_t pod_table_version(struct pod_table *t);
void pod_table_touch(struct pod_table *t); /* a new version all the same */
size_t pod_table_count(struct pod_table *t);

/*
 * All targets, from `a`.  What is wrong with annotations is no failure: the
 * pods are counted in *n_bad, and the words about the first are in *bad.
 * False: not enough memory.
 */
bool pod_table_targets(struct pod_table *t, struct arena *a,
                       struct kube_targets *out, size_t *n_bad,
                       struct error *bad, struct error *err);

#endif

#ifndef RUNTIME_PUSH_PUSH_LABELS_H
#define RUNTIME_PUSH_PUSH_LABELS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * The service and labels under which a collector stores the profiles of this
 * process.
 *
 * The service is, in this order: what the program says, PPROF_SERVICE,
 * OTEL_SERVICE_NAME, service.name of OTEL_RESOURCE_ATTRIBUTES, the name of the
 * program.
 *
 * Labels are, the first one of each key:
 *   - what the program says, and PPROF_LABELS: "region=eu,version=1.3"
 *   - OTEL_RESOURCE_ATTRIBUTES; k8s.pod.name and its like become `pod`,
 *     `namespace`, `node`, `container`, `host`, the names that scraping uses
 *   - the usual variables of Kubernetes' downward API: POD_NAME,
 *     POD_NAMESPACE, NODE_NAME, CONTAINER_NAME, also with K8S_ or MY_ in front
 *   - `host`: HOSTNAME, else the name of the machine
 *   - `pid`
 *
 * In both lists, bytes may be written as %2C.  A label without a value is left
 * out, also one that would be added by itself: "pid=,host=".
 */
#define PUSH_LABELS_MAX      32
#define PUSH_LABEL_KEY_MAX   64  /* bytes; what is longer is cut off */
#define PUSH_LABEL_VALUE_MAX 256 /* the same */

struct push_labels {
    size_t n;
    struct {
        char key[PUSH_LABEL_KEY_MAX], value[PUSH_LABEL_VALUE_MAX];
    } v[PUSH_LABELS_MAX];
    unsigned lost; /* labels beyond the limit */
};

/* A variable of the environment, or NULL; secure_getenv() but in tests. */
typedef char *push_getenv_fn(const char *name);

/* `labels` is what the program says, or NULL.  All but `pid`, which is
 * another one in a forked child: *has_pid says whether it is wanted. */
void push_labels_read(const char *labels, push_getenv_fn *get,
                      struct push_labels *out, bool *has_pid);

void push_service_read(const char *service, push_getenv_fn *get, char *out,
                       size_t size);

/* Appends "k=v,k2=v2", escaped as the collector's parameter `labels` wants
 * it: each part once, and all of it once more. */
void push_labels_write(const struct push_labels *labels, struct buf *out);

/* Appends one label more to such a text. */
void push_label_append(struct buf *out, struct str key, struct str value);

#endif

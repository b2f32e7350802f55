#ifndef KUBE_KUBECTL_PROXY_H
#define KUBE_KUBECTL_PROXY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/*
 * A `kubectl proxy` of our own: it listens on a Unix socket in a directory that
 * nobody else can enter, forwards only requests to read pods and Secrets, and
 * ends when this process ends, however that happens.  If the proxy ends, it is
 * started again after a pause.
 */
struct kubectl_proxy;

/* NULL stands for "kubectl", the usual kubeconfig and the current context. */
struct kubectl_proxy *kubectl_proxy_new(const char *program,
                                        const char *kubeconfig,
                                        const char *context, struct error *err);
void kubectl_proxy_free(struct kubectl_proxy *p); /* and its process */

/* Starts it if necessary.  False: not ready yet, or it failed, see access.h. */
bool kubectl_proxy_is_ready(struct kubectl_proxy *p, int64_t now_ns,
                            int64_t *again_ns, struct error *err);

const char *kubectl_proxy_socket(const struct kubectl_proxy *p);

#endif

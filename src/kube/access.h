#ifndef KUBE_ACCESS_H
#define KUBE_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "fetch/curl.h"

/*
 * How to reach the API server, and as whom.
 *
 * In a pod: the address from the environment, token and CA from the service
 * account's directory.  Outside of a cluster: `kubectl proxy` on a Unix socket
 * in a directory that only we can enter.  kubectl knows every way to log in
 * (exec plugins, OIDC, client certificates, tokens that it renews, proxies,
 * impersonation) and keeps the connection's credentials to itself; reading them
 * out of `kubectl config view --raw` would work for a few of these, and
 * `kubectl get --raw` costs a process for each request and hides HTTP's status.
 * The third way is an address and files that the configuration names.
 *
 * Files are read again for every request, since kubelet replaces tokens about
 * once an hour and CAs now and then.
 */
struct kube_access_options {
    const char *api_server; /* https://host:port; NULL: find it */
    const char *token_file, *ca_file;
    const char *cert_file, *key_file; /* of a client certificate */
    bool is_insecure;                 /* do not verify the server */

    /* Outside of a cluster; naming one of these is enough to ask kubectl. */
    const char *kubectl; /* the program; NULL: "kubectl" */
    const char *kubeconfig, *context;
};

struct kube_access;

/* Where a pod has its token, the CA and the name of its namespace. */
const char *kube_account_dir(void);

/* Owned by the caller, who frees it. */
struct kube_access *kube_access_new(const struct kube_access_options *options,
                                    struct error *err);
void kube_access_free(struct kube_access *access);

/*
 * Returns true if requests can be sent now.  If not, *again_ns is the time to
 * ask again, and the error the reason: "" while kubectl is starting.
 */
bool kube_access_is_ready(struct kube_access *access, int64_t now_ns,
                          int64_t *again_ns, struct error *err);

/* The URL without path, for requests and for people. */
const char *kube_access_url(const struct kube_access *access);
const char *kube_access_words(const struct kube_access *access);

/* Sets what a request needs beside its URL; appends to *headers, which the
 * caller frees. */
bool kube_access_apply(const struct kube_access *access,
                       const struct curl_api *api, CURL *curl,
                       struct curl_slist **headers, struct error *err);

#endif

#ifndef CMD_KUBECTL_PPROF_TLS_SECRET_H
#define CMD_KUBECTL_PPROF_TLS_SECRET_H

#include "cmd/kubectl-pprof/session.h"

/*
 * The Secret that `enable --mtls` makes: a certificate, its key and the CA, in
 * tls.crt, tls.key and ca.crt.  The key goes from our memory to kubectl's
 * standard input and nowhere else.  A label says that it is ours.
 */
struct tls_secret {
    struct session *session;
    const char *name, *namespace_name;
    const char *owner; /* name of the workload, for the certificate */
    bool is_there;     /* it exists: somebody else's, or ours from an earlier
                          run */
    bool is_ours;
    struct buf manifest;
};

/* Finds out whether the Secret exists and is ours.  False: unknown. */
bool tls_secret_look(struct tls_secret *t, struct kubectl_failure *why);

/* Looks for the Secret, and prepares one if there is none. */
bool tls_secret_prepare(struct tls_secret *t, struct kubectl_failure *why);

/* Creates the Secret, or with a dry run checks that the API server would accept
 * it.  Does nothing if it exists. */
bool tls_secret_create(struct tls_secret *t, bool dry_run,
                       struct kubectl_failure *why);

/* Removes it if it is ours, as tls_secret_look() or _create() found. */
bool tls_secret_remove(struct tls_secret *t, struct kubectl_failure *why);

void tls_secret_release(struct tls_secret *t); /* overwrites the key */

#endif

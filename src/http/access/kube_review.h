#ifndef HTTP_ACCESS_KUBE_REVIEW_H
#define HTTP_ACCESS_KUBE_REVIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

/*
 * Asks a Kubernetes cluster, as kube-rbac-proxy does: whose token is it
 * (TokenReview), and may that user read the URL (SubjectAccessReview, for
 * nonResourceURLs, with the HTTP method in lower case as verb)?
 *
 * The cluster is the one that the process runs in: KUBERNETES_SERVICE_HOST and
 * _PORT, and the token and CA of the service account (read anew each time: they
 * rotate), which must have the role system:auth-delegator.
 * PPROF_KUBERNETES_DIR names another directory for these two files.
 *
 * Answers are kept for a minute, failures for a few seconds.  Anything but a
 * clear yes is a no.  Any thread may call this; it waits for five seconds at
 * most.
 */
struct kube_review;

struct kube_review *kube_review_new(struct error *err);
void kube_review_free(struct kube_review *r);

enum review_verdict {
    REVIEW_ALLOWED,
    REVIEW_FORBIDDEN, /* a known user without the right */
    REVIEW_UNKNOWN,   /* nobody's token */
    REVIEW_FAILED,    /* the cluster did not answer; see err */
};

/* The path is decoded, without query; `who` gets the user's name. */
enum review_verdict kube_review_ask(struct kube_review *r, struct str token,
                                    struct str method, struct str path,
                                    char *who, size_t size, struct error *err);

/* The cached answer, without a request.  False: there is none. */
bool kube_review_remembers(struct kube_review *r, struct str token,
                           struct str method, struct str path, char *who,
                           size_t size, enum review_verdict *out);

/*
 * Parses the two replies strictly; false for anything but a clear answer.
 * *user gets the user for the spec of the SubjectAccessReview, as members
 * "user", "uid", "groups" and "extra" of a JSON object.
 */
bool review_read_token(struct str reply, bool *authenticated, char *who,
                       size_t size, struct buf *user);
bool review_read_access(struct str reply, bool *allowed);

#endif

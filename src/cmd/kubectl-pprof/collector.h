#ifndef CMD_KUBECTL_PPROF_COLLECTOR_H
#define CMD_KUBECTL_PPROF_COLLECTOR_H

#include "cmd/kubectl-pprof/session.h"

/*
 * A collector: pprofd, or profefe itself.
 */
struct collector_profile {
    struct str service, type;
    struct str namespace_name, pod; /* become labels; or "" */
    struct str bytes;
};

/* Stores a profile.  Any thread may call it; memory from `a`. */
bool collector_send(const struct session *s, struct arena *a,
                    const struct collector_profile *p, struct error *err);

/* The service of the pod's profiles: from its annotations, else its owner's
 * name. */
struct str collector_service(const struct kubectl_pod *pod);

/* GET of a path below the collector's URL; the reply's body is appended.  The
 * error's code is the HTTP status, 404 for a query that found nothing. */
bool collector_get(const struct session *s, const char *path, struct buf *out,
                   struct error *err);

#endif

#ifndef KUBE_KUBECTL_EXEC_H
#define KUBE_KUBECTL_EXEC_H

#include "kube/kubectl_run.h"

/*
 * An HTTP GET from inside a container, with a program of the container: curl,
 * wget, or bash with its /dev/tcp.  The reply's body comes through stdout; no
 * file is written.
 */
enum kubectl_tool { TOOL_UNKNOWN, TOOL_CURL, TOOL_WGET, TOOL_BASH };

struct kubectl_exec {
    const char *namespace_name, *pod;
    const char *container;  /* NULL: kubectl's choice */
    enum kubectl_tool tool; /* found out by the first request */
};

struct kubectl_request {
    bool https; /* certificates are not verified: it is the pod's loopback */
    unsigned port;
    const char *path;
    int seconds; /* for the whole exchange */
};

bool kubectl_exec_get(struct kubectl_exec *e, const struct kubectl *k,
                      const struct kubectl_request *request, struct buf *out,
                      struct kubectl_failure *why);

#endif

#ifndef KUBE_WAY_IN_H
#define KUBE_WAY_IN_H

#include "base/arena.h"
#include "base/error.h"
#include "fetch/index.h"
#include "kube/kubectl_debug.h"
#include "kube/kubectl_exec.h"
#include "kube/kubectl_forward.h"
#include "kube/kubectl_pods.h"

/*
 * A way from here to the /debug/pprof/ of a pod.
 *
 *     port-forward --forbidden, no upgrade--> pods/proxy
 *         --forbidden, refused--> exec
 *         --no curl, wget, bash--> a debug container, if the user wants one
 *
 * On each way the ports are asked in order, with http and https, until one
 * answers like a profile endpoint.
 */
enum way_kind {
    WAY_ANY,
    WAY_FORWARD, /* kubectl port-forward */
    WAY_PROXY,   /* kubectl get --raw …/pods/NAME:PORT/proxy/… */
    WAY_EXEC,    /* kubectl exec … curl */
    WAY_DEBUG,   /* kubectl debug, then exec in its container */
    WAY_RAW,     /* kubectl get --raw: the API server itself, or a node */
};

const char *way_name(enum way_kind kind);

/* Where an endpoint may be.  Scheme "": not known. */
struct way_place {
    unsigned port;
    struct str scheme, prefix;
};

struct way_places {
    VEC(struct way_place) list;
};

#define WAY_MAX_RIGHTS 8

struct way_options {
    const struct kubectl *kubectl;
    enum way_kind kind;       /* WAY_ANY, or the only one that may be tried */
    const char *container;    /* NULL: the first, or kubectl's choice */
    struct str cert, key, ca; /* PEM files, or "" */
    struct str server_name; /* that the certificate is for; "": not verified */
    struct str token_file;  /* of a bearer token, or "" */
    /* The image of a debug container; NULL: no pod gets one. */
    const char *debug_image;
    int debug_seconds; /* how long it has to live */
};

struct way {
    const struct way_options *options;
    enum way_kind kind;
    const char *namespace_name, *pod;
    unsigned port;
    bool https;
    struct str prefix;
    struct str raw; /* WAY_RAW: the path before the name of the profile */
    struct kubectl_forward forward;
    struct kubectl_exec exec;
    struct kubectl_debug debug; /* with a name if the pod has got one */
    struct index_entries index; /* what the server offers; may be empty */

    /* Rights that were missing on the way, whether or not one was found. */
    struct kube_right rights[WAY_MAX_RIGHTS];
    size_t n_rights;
};

/*
 * The places to try: those of the annotations, else ports whose name contains
 * "pprof" or "debug", the other declared ones, and the usual ports of profile
 * endpoints.  With `port` above 0 only that one.
 */
bool way_places_find(struct arena *a, const struct kube_pod *pod, unsigned port,
                     struct str scheme, struct str prefix,
                     struct way_places *out, struct error *err);

/*
 * Finds a way to one of the places.  The way must be closed, also after a
 * failure: it holds the rights that were missing.
 */
bool way_open(struct way *w, struct arena *a, const struct way_options *options,
              const struct kubectl_pod *pod, const struct way_places *places,
              struct kubectl_failure *why);

/* A way to a path that the API server serves itself. */
void way_open_raw(struct way *w, const struct way_options *options,
                  struct str path);

/* Appends the reply to `name` ("heap", "profile?seconds=30"), which may take
 * that many seconds. */
bool way_get(struct way *w, const char *name, int seconds, struct buf *out,
             struct kubectl_failure *why);

void way_close(struct way *w);

#endif

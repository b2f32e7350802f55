#ifndef CMD_KUBECTL_PPROF_ARGUMENTS_H
#define CMD_KUBECTL_PPROF_ARGUMENTS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "kube/way_in.h"

/*
 * The command line in kubectl's syntax: flags and words in any order, -n NS,
 * -nNS, --namespace NS, --namespace=NS; "--" ends them.
 */
struct words {
    VEC(const char *) list;
};

struct arguments {
    const char *command;
    struct words names;         /* the words after the command */
    struct words others;        /* what comes after "--": arguments for pprof */
    struct words kubectl_flags; /* for every kubectl call, except --namespace */

    const char *namespace_name, *selector;
    bool all_namespaces;
    bool annotated; /* only pods whose annotations enable scraping */

    const char *profile;  /* cpu unless given */
    const char *profiles; /* of capture: a comma-separated list */
    int seconds;

    unsigned port; /* 0: find it */
    const char *scheme, *path, *container;
    const char *via; /* port-forward, proxy, exec; NULL: any */
    const char *cert_secret, *server_name, *token_file;
    const char *preset;

    const char *output; /* file or directory */
    const char *collector, *collector_token_file;
    const char *service, *from, *to, *type;
    const char *base;        /* of diff: a file or URL */
    const char *ago;         /* of diff: 24h before, from the collector */
    bool mtls, native, push; /* of enable */
    const char *image; /* with the preload library; of the debug container */
    bool debug;        /* an ephemeral container, if need be */
    bool verbose, yes, help;
};

/* Reads argv[1..argc); the first word is the command. */
bool arguments_parse(struct arguments *out, struct arena *a, int argc,
                     char *const *argv, struct error *err);

enum way_kind arguments_way(const struct arguments *args, struct error *err);

#endif

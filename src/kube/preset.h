#ifndef KUBE_PRESET_H
#define KUBE_PRESET_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

/*
 * Where the profiles of a well-known system are.  A preset is a short YAML
 * file:
 *
 *     about: etcd of a kubeadm cluster, with client certificates
 *     namespace: kube-system
 *     selector: component=etcd
 *     port: 2379
 *     scheme: https
 *     path: /debug/pprof
 *     secret: kube-system/etcd-client
 *     note: etcd must run with --enable-pprof.
 *
 * Only `about` is required.  `raw` is a path of the API server instead of a
 * pod, in which {node} stands for the node's name.  Files of the user's, in
 * $XDG_CONFIG_HOME/pprof/presets/NAME.yaml (~/.config/…), come first; others
 * are built in (src/kube/presets).
 */
struct preset {
    struct str about, namespace_name, selector, scheme, path, secret, raw, note;
    unsigned port; /* 0: to be found */
};

bool preset_load(struct arena *a, const char *name, struct preset *out,
                 struct error *err);

/* The text of a file; `source` is its name for errors. */
bool preset_parse(struct arena *a, const char *source, struct str text,
                  struct preset *out, struct error *err);

/* The names of all, sorted; a user's file of the same name comes once. */
struct preset_names {
    VEC(const char *) list;
};
void preset_list(struct arena *a, struct preset_names *out);

/* Built in: generated from src/kube/presets. */
struct preset_text {
    const char *name, *text;
};
extern const struct preset_text preset_texts[];
extern const size_t n_preset_texts;

#endif

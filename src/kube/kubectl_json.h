#ifndef KUBE_KUBECTL_JSON_H
#define KUBE_KUBECTL_JSON_H

#include "config/node.h"
#include "kube/kubectl_run.h"

/*
 * What `kubectl get … -o json` prints, as a tree.
 */

/* Runs kubectl with these arguments; NULL, and `why`, if that fails. */
const struct node *kubectl_json(struct arena *a, const struct kubectl *k,
                                const char *const *arguments,
                                struct kubectl_failure *why);

/* The member of a map; NULL if the node is not a map or has no such member. */
const struct node *kubectl_json_at(const struct node *map, const char *key);

/* The member's text; "" if there is none. */
struct str kubectl_json_text(const struct node *map, const char *key);

#endif

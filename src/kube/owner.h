#ifndef KUBE_OWNER_H
#define KUBE_OWNER_H

#include "kube/pod.h"

/*
 * What a pod belongs to, as people call it: the Deployment and not its
 * ReplicaSet, the CronJob and not one of its Jobs.
 *
 * Both are known from the names, so that no right to read ReplicaSets or Jobs
 * is needed:
 *
 * - A Deployment names its ReplicaSets NAME-HASH, and its pods have HASH as
 *   the label pod-template-hash.
 * - A CronJob names its Jobs NAME-TIME, where TIME is the scheduled time in
 *   minutes since 1970 (in seconds before Kubernetes 1.21).  It has to be
 *   near the time at which the pod was made: `import-20260131` is a Job that
 *   somebody named so.
 *
 * A static pod belongs to its Node and is named NAME-NODE; its owner's name
 * is NAME.  Owners of other kinds (StatefulSet, DaemonSet, Job, those of
 * custom resources) are as ownerReferences has them.
 *
 * "" and "" for a pod that has no controller.
 */
struct kube_owner {
    struct str kind, name;
};

struct kube_owner kube_pod_owner(const struct kube_pod *pod);

#endif

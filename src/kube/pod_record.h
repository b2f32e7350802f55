#ifndef KUBE_POD_RECORD_H
#define KUBE_POD_RECORD_H

#include "base/arena.h"
#include "base/buf.h"
#include "kube/pod.h"

/*
 * A pod as one string of bytes, as the table keeps it: a tenth of the JSON,
 * one allocation, and two pods are equal if their bytes are.  So an event
 * that changes nothing we keep (most of a pod's status) is recognised as
 * such.
 */
void pod_record_write(struct buf *out, const struct kube_pod *pod);

/* The pod again; its texts are views of the record.  False: not a record. */
bool pod_record_read(struct arena *a, struct str record, struct kube_pod *out);

#endif

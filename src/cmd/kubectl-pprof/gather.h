#ifndef CMD_KUBECTL_PPROF_GATHER_H
#define CMD_KUBECTL_PPROF_GATHER_H

#include "cmd/kubectl-pprof/session.h"
#include "profile/profile.h"

/*
 * The same work for many pods at a time.
 */
struct job {
    struct session *session;
    const struct kubectl_pod *pod; /* NULL: the API server or a node */
    struct str raw;                /* then its path */
    const char *name;              /* to show: "web-1", "node-1" */
    struct arena *arena;           /* of its thread */
    struct way way;
    bool ok;
    struct kubectl_failure why;
    void *data; /* of the work */
    struct profile *profile;
};

struct jobs {
    struct job *v;
    size_t n;
};

/* One job for each pod, or for what the preset names instead of pods. */
bool gather_prepare(struct session *s, const struct words *names,
                    struct jobs *out, int *code);

/*
 * Finds a way to each pod, does the work, and closes the way: up to 16 at a
 * time.  A job that fails has ok == false and the reason in `why`.  Missing
 * rights are added to the session.
 */
void gather_run(struct session *s, struct jobs *jobs,
                bool (*work)(struct job *job));

void gather_release(struct jobs *jobs);

/* Returns false for index entries that are not profiles: the command line,
 * stacks. */
bool gather_is_profile(struct str name);

/* "profile?seconds=30" for cpu; the seconds that it may take. */
const char *gather_path(struct arena *a, const struct arguments *args,
                        struct str profile, int *seconds);

/*
 * One profile from every pod, merged; with more than one pod each sample has a
 * label `pod`.  Pods that fail are reported; NULL if all fail.
 */
struct profile *gather_profile(struct session *s, const struct words *names,
                               int *code);

#endif

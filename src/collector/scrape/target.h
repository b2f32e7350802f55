#ifndef COLLECTOR_SCRAPE_TARGET_H
#define COLLECTOR_SCRAPE_TARGET_H

#include "base/label_set.h"
#include "collector/scrape/scrape_config.h"

/* A target's discovery after a reload, until it is found again. */
#define DISCOVERY_UNKNOWN SIZE_MAX

/*
 * A target after discovery and relabelling: where it is, what to fetch there
 * and under which labels to store it.
 */
struct target {
    const struct scrape_job *job;
    uint64_t hash;                /* of all that follows but `discovery` */
    struct str url;               /* http://host:port, no slash at the end */
    struct str address, host;     /* with and without the port */
    struct str path_prefix;       /* of the index page */
    struct str query;             /* "a=b&c=d" of the parameters; or "" */
    struct str service, instance; /* two of the labels */
    struct str tls_secret;        /* or "" */
    size_t discovery; /* that found it: of the job's, from 1 on; 0: none */
    int64_t interval_ns;
    struct label_set labels; /* to store, without `service` */
    struct scrape_profile *profiles;
    size_t n_profiles; /* 0: by the index page */
};

enum target_verdict { TARGET_KEPT, TARGET_DROPPED, TARGET_WRONG };

/*
 * Relabels what a discovery found for a job and makes a target of it.
 * Everything is from `a`, except texts of the job.  TARGET_WRONG: *err
 * describes what is wrong with the labels.
 */
enum target_verdict target_make(struct target *out, struct arena *a,
                                const struct scrape_job *job,
                                const struct label_set *found,
                                struct error *err);

/* A copy with all its texts in one block; free() ends it.  NULL: no memory. */
struct target *target_copy(const struct target *t);

#endif

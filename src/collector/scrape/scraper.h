#ifndef COLLECTOR_SCRAPE_SCRAPER_H
#define COLLECTOR_SCRAPE_SCRAPER_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "collector/scrape/discovery.h"
#include "collector/scrape/reason.h"
#include "collector/scrape/scrape_config.h"
#include "collector/scrape/target.h"

/*
 * Fetches profiles from targets, each at its own time, on one thread.
 *
 * The scraper polls the discoveries of its jobs, relabels what they find, and
 * keeps a list of targets.  Each profile of a target is a task with a place
 * in the schedule.  What it fetches goes to `deliver`.
 *
 * Limits: transfers at a time, profiles that measure (cpu, wall) at a time in
 * all and per host, and the memory of all replies.  What is over a limit
 * waits, at most until its next turn is due; then it is counted as missed.
 */
struct scraper;

struct scraped {
    const struct target *target;
    const struct scrape_profile *profile;
    struct str bytes; /* only during the call */
    bool is_delta;
};

struct scraper_options {
    /* Takes a profile; otherwise the reason and words.  On the scraper's
     * thread. */
    enum scrape_reason (*deliver)(void *arg, const struct scraped *s,
                                  struct error *err);
    void *arg;

    size_t max_transfers, max_measuring, max_measuring_per_host;
    size_t memory_bytes;
    size_t max_targets; /* further ones are dropped and counted */

    /* Makes the discovery of a job's kubernetes_sd_config; NULL: this program
     * has none, and a configuration that wants it is refused. */
    bool (*make_kube)(const struct scrape_job *job,
                      const struct scrape_kube *config, struct discovery *out,
                      struct error *err);

    /* Profiles of this process: appends the reply for a path below
     * /debug/pprof/ with a query, and returns the status.  Called on a thread
     * of its own; is_gone() says that the scraper ends.  NULL: none. */
    int (*self)(const char *path, const char *query, struct buf *body,
                int (*is_gone)(void *arg), void *arg);
    const char *self_address; /* its `instance` */

    /* Every task once, as soon as possible; scraper_run_once() returns. */
    bool once;
};

extern const struct scraper_options scraper_default_options;

/* Takes the config over.  NULL: the configuration cannot be used. */
struct scraper *scraper_new(const struct scraper_options *options,
                            struct scrape_config *config, struct error *err);

/* Starts the thread. */
bool scraper_start(struct scraper *s, struct error *err);

/* Ends the thread and what is under way.  `deliver` is not called any more. */
void scraper_stop(struct scraper *s);
void scraper_free(struct scraper *s);

/* Replaces the jobs; targets that stay the same keep their place and their
 * history.  Takes the config over.  From any thread. */
bool scraper_configure(struct scraper *s, struct scrape_config *config,
                       struct error *err);

/*
 * Instead of scraper_start(): waits for the discoveries, at most wait_ns,
 * fetches every profile of every target once on the caller's thread, and
 * calls `failed` for each that could not be fetched or delivered.  The number
 * of profiles delivered.
 */
typedef void scraper_failed(void *arg, struct str target, struct str profile,
                            const char *words);
size_t scraper_run_once(struct scraper *s, int64_t wait_ns,
                        scraper_failed *failed, void *arg);

#endif

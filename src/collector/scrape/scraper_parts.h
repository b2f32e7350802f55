#ifndef COLLECTOR_SCRAPE_SCRAPER_PARTS_H
#define COLLECTOR_SCRAPE_SCRAPER_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "collector/scrape/choose.h"
#include "collector/scrape/hosts.h"
#include "collector/scrape/schedule.h"
#include "collector/scrape/scraper.h"
#include "collector/scrape/transfer.h"

/*
 * Internals of the scraper, shared by its files: scraper_thread.c (life and
 * thread), jobs.c (discoveries to targets), tasks.c (running them), self.c, and
 * those that show targets.
 *
 * Everything is guarded by scraper.lock, unless a comment says otherwise.
 */
struct entry;

/* What is known of the last scrapes. */
struct outcome {
    enum scrape_reason reason;
    int64_t at_ns;       /* wall clock; 0: never */
    int64_t duration_ns; /* of the last one */
    uint64_t bytes;
    uint64_t good, bad; /* since start */
    char *words;        /* of the error, or NULL */
};

enum task_state {
    TASK_SCHEDULED, /* in the schedule */
    TASK_WAITING,   /* due, and over a limit */
    TASK_RUNNING,
};

/* One profile of a target, or its index page. */
struct task {
    struct schedule_item item; /* must be first; monotonic clock */
    struct entry *entry;
    struct task *next; /* of the entry */
    struct task *next_waiting;
    struct scrape_profile profile; /* kind.name "": the index page */
    enum task_state state;
    struct transfer *transfer;
    unsigned failures;     /* in a row */
    unsigned secret_waits; /* in a row, for a Secret that is being read */
    bool measures;         /* counts for the limits of those */
    bool no_delta;         /* the target cannot send differences */
    struct outcome outcome;
};

/* A target with its state. */
struct entry {
    struct scraper *scraper;
    struct target *target;
    struct job *job;
    struct host *host;
    struct task *tasks;
    enum flavour flavour;
    bool is_self, is_seen;
};

struct job {
    const struct scrape_job *config;
    struct discovery *discoveries;
    uint64_t *versions; /* that the targets are from */
    size_t n;
    bool is_begun;         /* the targets known so far are in the list */
    bool is_synced;        /* all are, and no others */
    size_t dropped, wrong; /* targets */
    struct error failure;  /* the first wrong one; or "" */
};

struct scraper_counts {
    uint64_t scrapes[SCRAPE_REASONS];
    uint64_t missed; /* turns that were not taken */
    uint64_t bytes;
    int64_t late_ns_max; /* how long after its time a scrape began */
    size_t running, measuring, waiting;
};

struct self_worker {
    pthread_t thread;
    bool is_started;
    pthread_cond_t wake;
    struct task *task; /* to run or running; NULL: idle */
    bool is_done;
    char url[256]; /* path?query */
    struct buf body;
    int status;
    int64_t began_ns;
};

struct scraper {
    struct scraper_options options;
    pthread_mutex_t lock;
    pthread_t thread;
    bool is_started;
    atomic_bool stops;

    struct scrape_config *config;
    struct job *jobs;
    size_t n_jobs;
    struct job self_job; /* the target that this process is */
    struct scrape_job self_config;
    struct scrape_profile self_profiles[4];

    struct entry **entries;
    size_t n_entries, cap_entries;
    struct schedule schedule;
    struct hosts hosts;
    struct task *waiting, **waiting_end;
    bool has_freed; /* something ended since waiting tasks were checked */
    struct transfers *transfers; /* the scraper's thread only */
    struct self_worker self;
    struct scraper_counts counts;
    size_t delivered; /* for scraper_run_once() */
    int64_t synced_ns;
};

/* jobs.c */
bool jobs_make(struct scraper *s, const struct scrape_config *config,
               struct job **out, struct error *err);
void jobs_free(struct job *jobs, size_t n);
void jobs_replace(struct scraper *s, struct scrape_config *config,
                  struct job *jobs);
void jobs_sync(struct scraper *s); /* takes over what discoveries found */
bool jobs_are_ready(const struct scraper *s);
void jobs_add_self(struct scraper *s);
void target_entry_free(struct scraper *s, struct entry *e);

/* tasks.c */
void tasks_make(struct scraper *s, struct entry *e);
void tasks_run_due(struct scraper *s, int64_t now_ns);
void task_finish(struct scraper *s, struct task *t,
                 const struct transfer_result *r);
void task_free(struct scraper *s, struct task *t);
bool task_is_index(const struct task *t);

/* self.c */
void self_start(struct scraper *s, struct task *t, const char *path);
void self_collect(struct scraper *s); /* the result, if there is one */
bool self_open(struct scraper *s, struct error *err);
void self_close(struct scraper *s);

#endif

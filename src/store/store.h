#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "profile/profile.h"
#include "store/id.h"

/*
 * Where a collector keeps its profiles.
 *
 * This header is the whole interface, whichever engine is below it: the
 * embedded one on SQLite (store/sqlite/sqlite.h) or a database server.  An
 * engine fills in `struct store_ops`; callers use the functions at the end.
 *
 * A stored profile has an id, a service, a type ("cpu", "heap", any name), a
 * set of labels and a time.  Profiles that agree in service, type and labels
 * form a series; a series is taken to be one process.
 *
 * - store_put() is asynchronous.  It reads and checks the profile on the
 *   caller's thread and queues it; `done` is called from another thread once
 *   the profile is on disk, or could not be written.  The queue is bounded.
 * - Reads run on the caller's thread and see every profile whose `done` has
 *   been called with STORE_OK.  They may run beside each other and beside
 *   writes.  Each takes a budget and stops when it is used up.
 * - All functions may be called from any thread, except store_close().
 */
struct store;

enum store_status {
    STORE_OK,
    STORE_INVALID,   /* the input is wrong and always will be: HTTP 400 */
    STORE_TOO_LARGE, /* the input is over a limit: 413 */
    STORE_BUSY,      /* the queue is full, try again: 503 */
    STORE_NOT_FOUND, /* no such profile: 404 */
    STORE_LIMITED,   /* the budget ran out; store_progress has the point: 422 */
    STORE_CANCELLED, /* budget->cancelled() returned true */
    STORE_FAILED,    /* disk full, corrupt page, out of memory: 500 */
};

struct store_label {
    struct str key, value;
};

/*
 * Writing.
 */
struct store_put {
    struct str service;               /* not empty */
    struct str type;                  /* not empty */
    const struct store_label *labels; /* any order; stored sorted by key */
    size_t n_labels;
    struct str bytes; /* gzip or plain; needed only during the call */

    /* Keep the bytes as they are, unread: execution traces. */
    bool is_opaque;
    /* The values of cumulative types (see STORE_CHANGES) are differences
     * already. */
    bool is_delta;
    /* Accept a profile without samples. */
    bool allow_empty;

    /* When the profile was made, in ns since 1970.  A time in the profile
     * itself takes precedence unless created_at_wins.  0: now. */
    int64_t created_at_ns;
    bool created_at_wins;

    /* The id to store it under (import), or NULL for a new one.  An id that
     * exists already makes the put a success that stores nothing. */
    const struct store_id *id;
};

/* What became of a put. */
struct store_receipt {
    struct store_id id;
    int64_t created_at_ns;
    bool was_there;          /* the id given was stored already */
    uint32_t dropped_labels; /* sample labels dropped for a bound */
};

/* The error is NULL unless the status says that something went wrong.  Must
 * not call back into the store and should return quickly: the next commit
 * waits for it. */
typedef void store_done(void *arg, enum store_status status,
                        const struct store_receipt *receipt,
                        const struct error *err);

/*
 * Selecting.
 */
enum store_field { STORE_SERVICE, STORE_TYPE, STORE_LABEL };
enum store_op { STORE_EQUAL, STORE_NOT_EQUAL, STORE_MATCH, STORE_NO_MATCH };

/*
 * One condition.  A label that a profile does not have counts as "".  For
 * STORE_MATCH and STORE_NO_MATCH `value` is the text of the expression, for
 * engines that evaluate it themselves, and `matches` evaluates it here (both
 * must be given; the expression covers the whole value).
 */
struct store_matcher {
    enum store_field field;
    enum store_op op;
    struct str key; /* of a label */
    struct str value;
    bool (*matches)(void *arg, struct str value);
    void *arg;
};

/* All conditions hold, and from <= created_at <= to. */
struct store_query {
    const struct store_matcher *matchers;
    size_t n_matchers;
    int64_t from_ns, to_ns;
};

/* How much a read may cost; 0 means no limit.  NULL for the struct: none. */
struct store_budget {
    uint64_t profiles;            /* that are read */
    uint64_t bytes;               /* of stored data, decompressed */
    int64_t cpu_ns;               /* of the calling thread */
    bool (*cancelled)(void *arg); /* asked every few ms; may be NULL */
    void *arg;
};

/* How far a read got; filled in whatever the status.  May be NULL. */
struct store_progress {
    uint64_t profiles;
    uint64_t bytes;
    int64_t cpu_ns;
    const char *limit; /* "profiles", "bytes" or "CPU time", or NULL */
};

/*
 * How values of cumulative types count.  Cumulative are alloc_objects,
 * alloc_space, contentions and delay, which a process counts from its start.
 */
enum store_values {
    /* Every profile counts with the values that were sent. */
    STORE_AS_SENT,
    /* Cumulative types count with the difference to the previous profile of
     * the series; after a restart (the total went down) with the whole
     * value.  The first profile of a series is the baseline and counts 0.
     * Other types count as sent. */
    STORE_CHANGES,
};

/*
 * What a listing says about a profile.  All pointers are valid only during
 * the callback.
 */
struct store_total {
    struct str type, unit;
    int64_t sum;    /* over the samples, as sent */
    int64_t change; /* as STORE_CHANGES counts it */
};

struct store_profile {
    struct store_id id;
    struct str service, type;
    const struct store_label *labels; /* sorted by key */
    size_t n_labels;
    int64_t created_at_ns, duration_ns;
    uint64_t posted_bytes; /* as they came in */
    uint64_t samples;
    const struct store_total *totals; /* one per sample type */
    size_t n_totals;
    bool is_opaque;
    bool is_delta; /* sent as one, and with types that count from the start */
};

/* Returns false to end the listing. */
typedef bool store_each_profile(void *arg, const struct store_profile *p);

/* Sorted by (created_at, id). */
struct store_page {
    size_t limit;      /* 0: all */
    bool newest_first; /* the order of the callbacks */
    /* Profiles strictly behind this one, in the order asked for; all if
     * after_ns is 0. */
    int64_t after_ns;
    struct store_id after_id;
};

/*
 * Totals over time.  A point is the time [t, t + step) of one group; points
 * without profiles are left out.  Groups come one after another, each in the
 * order of time.
 */
struct store_series {
    struct store_query query;
    int64_t step_ns;       /* 0: one point for everything */
    bool by_service;       /* a group for each service */
    bool by_type;          /* … for each profile type */
    struct str group_by;   /* … for each value of the label; "": none */
    struct str value_type; /* "cpu", "inuse_space"; "": the default type */
    enum store_values values;
};

struct store_point {
    struct str service;      /* "" unless by_service */
    struct str profile_type; /* "" unless by_type */
    struct str group;        /* value of the label; "" without one */
    struct str type, unit;
    int64_t t_ns;
    int64_t sum;
    uint64_t profiles;
    int64_t duration_ns; /* of the profiles, added up */
    int64_t newest_ns;   /* created_at of the newest; of sums their start */
};

typedef bool store_each_point(void *arg, const struct store_point *p);

/* One function over time: what samples with it at the leaf (flat) and
 * anywhere (cum) add up to. */
struct store_function {
    struct store_query query;
    int64_t step_ns;
    struct str name; /* exactly as in the profile */
    struct str value_type;
    enum store_values values;
};

struct store_function_point {
    int64_t t_ns;
    int64_t flat, cum, total;
    uint64_t profiles;
};

typedef bool store_each_function_point(void *arg,
                                       const struct store_function_point *p);

/*
 * What a selection holds at this moment.  Equal versions of two selections
 * stand for equal merges; two that differ may still have the same.
 */
struct store_version {
    uint64_t hash;     /* of what is counted in each series */
    uint64_t profiles; /* how many there are */
    int64_t
        newest_ns; /* created_at of the newest; INT64_MIN if there is none */
};

/* A service and type, a label name, or a label value, with how many profiles
 * have it.  Sorted by service and type, or by text. */
struct store_count {
    struct str text; /* the service for store_services() */
    struct str type; /* for store_services() */
    uint64_t profiles;
    int64_t first_ns, last_ns; /* created_at of the oldest and newest */
};

typedef bool store_each_count(void *arg, const struct store_count *c);

/*
 * The store's figures, for metrics and `stats`.
 */
struct store_stats {
    uint64_t disk_bytes;   /* all files */
    uint64_t memory_bytes; /* dictionaries and rows not yet sealed */
    uint64_t open_services, open_profiles, open_stacks, segments;
    uint64_t queued, queue_limit;
    /* In a write-ahead log, for engines that have one. */
    uint64_t wal_bytes, wal_profiles, wal_limit;

    /* Since start. */
    uint64_t puts, posted_bytes, rejected, busy, failed;
    uint64_t commits, commit_ns_total, commit_ns_max;
    uint64_t seals, compactions, downsamplings, expired_profiles;
    uint64_t dropped_labels;
    /* Files of the write-ahead log that were damaged or deleted. */
    uint64_t wal_lost_files;
    uint64_t background_errors;
    char last_background_error[256];

    /* Why profiles cannot be written at the moment; "" if they can.  The store
     * may still accept them into its log. */
    char trouble[256];
    bool is_unreachable; /* neither written nor read, nor logged */
};

/* Space by service and type.  Dictionaries are shared by the types of a
 * service; they appear as type "". */
struct store_usage {
    struct str service, type;
    uint64_t profiles, posted_bytes;
    uint64_t stored_bytes;
    uint64_t stacks, names; /* of dictionaries: tree nodes, strings */
};

typedef bool store_each_usage(void *arg, const struct store_usage *u);

/*
 * A stored profile with its bytes, for export: profile.proto, gzipped, or
 * the opaque bytes as they were sent.
 */
typedef bool store_each_export(void *arg, const struct store_profile *p,
                               struct str bytes);

/*
 * What an engine implements.  Meanings are those of the functions below.
 */
struct store_ops {
    enum store_status (*put)(struct store *s, const struct store_put *put,
                             store_done *done, void *arg, struct error *err);
    enum store_status (*get)(struct store *s, const struct store_id *id,
                             struct profile **out, struct error *err);
    enum store_status (*get_bytes)(struct store *s, const struct store_id *id,
                                   struct buf *out, struct error *err);
    enum store_status (*describe)(struct store *s, const struct store_id *id,
                                  store_each_profile *each, void *arg,
                                  struct error *err);
    enum store_status (*list)(struct store *s, const struct store_query *q,
                              const struct store_page *page,
                              const struct store_budget *budget,
                              store_each_profile *each, void *arg,
                              struct store_progress *progress,
                              struct error *err);
    enum store_status (*merge)(struct store *s, const struct store_query *q,
                               enum store_values values,
                               const struct store_budget *budget,
                               struct profile **out,
                               struct store_progress *progress,
                               struct error *err);
    enum store_status (*series)(struct store *s, const struct store_series *q,
                                const struct store_budget *budget,
                                store_each_point *each, void *arg,
                                struct store_progress *progress,
                                struct error *err);
    enum store_status (*function)(struct store *s,
                                  const struct store_function *q,
                                  const struct store_budget *budget,
                                  store_each_function_point *each, void *arg,
                                  struct store_progress *progress,
                                  struct error *err);
    enum store_status (*services)(struct store *s, const struct store_query *q,
                                  const struct store_budget *budget,
                                  store_each_count *each, void *arg,
                                  struct error *err);
    enum store_status (*label_names)(struct store *s,
                                     const struct store_query *q,
                                     const struct store_budget *budget,
                                     store_each_count *each, void *arg,
                                     struct error *err);
    enum store_status (*label_values)(struct store *s,
                                      const struct store_query *q,
                                      struct str key,
                                      const struct store_budget *budget,
                                      store_each_count *each, void *arg,
                                      struct error *err);
    enum store_status (*version)(struct store *s, const struct store_query *q,
                                 const struct store_budget *budget,
                                 struct store_version *out, struct error *err);
    uint64_t (*changes)(struct store *s, int64_t from_ns, int64_t to_ns);
    enum store_status (*export_all)(struct store *s,
                                    const struct store_query *q,
                                    const struct store_budget *budget,
                                    store_each_export *each, void *arg,
                                    struct store_progress *progress,
                                    struct error *err);
    void (*stats)(struct store *s, struct store_stats *out);
    enum store_status (*usage)(struct store *s, store_each_usage *each,
                               void *arg, struct error *err);
    void (*close)(struct store *s);
};

/* The beginning of every engine's own struct. */
struct store {
    const struct store_ops *ops;
    const struct scan_ops *scans; /* of engines that use store/read/ */
};

/*
 * Queues a profile.  STORE_OK: queued, and `done` will be called exactly once.
 * Otherwise nothing is stored, `done` is not called, and err has the reason; a
 * profile that profile_read_memory() rejects is STORE_INVALID with the same
 * error.
 */
static inline enum store_status store_put(struct store *s,
                                          const struct store_put *put,
                                          store_done *done, void *arg,
                                          struct error *err)
{
    return s->ops->put(s, put, done, arg, err);
}

/*
 * The profile with this id, equal in every field to the one that was sent;
 * ids of mappings, locations and functions may differ.  The caller owns it.
 * STORE_INVALID for an opaque one.
 */
static inline enum store_status store_get(struct store *s,
                                          const struct store_id *id,
                                          struct profile **out,
                                          struct error *err)
{
    return s->ops->get(s, id, out, err);
}

/* The same as gzipped profile.proto, or the bytes of an opaque one as they
 * were sent, appended to `out`. */
static inline enum store_status store_get_bytes(struct store *s,
                                                const struct store_id *id,
                                                struct buf *out,
                                                struct error *err)
{
    return s->ops->get_bytes(s, id, out, err);
}

/* Calls `each` once with what a listing would say about it. */
static inline enum store_status store_describe(struct store *s,
                                               const struct store_id *id,
                                               store_each_profile *each,
                                               void *arg, struct error *err)
{
    return s->ops->describe(s, id, each, arg, err);
}

static inline enum store_status
store_list(struct store *s, const struct store_query *q,
           const struct store_page *page, const struct store_budget *budget,
           store_each_profile *each, void *arg, struct store_progress *progress,
           struct error *err)
{
    return s->ops->list(s, q, page, budget, each, arg, progress, err);
}

/*
 * The sum of a selection, by stack and sample labels: what profile_merge()
 * of the profiles gives, but for the order of the samples and for many
 * different comments (store/comments.h).  Memory is bounded by the number of
 * distinct stacks.  Profiles with different sample types are made compatible
 * as `pprof` does it.  Opaque ones are skipped.  STORE_NOT_FOUND when nothing
 * matches.  The caller owns the result.
 */
static inline enum store_status
store_merge(struct store *s, const struct store_query *q,
            enum store_values values, const struct store_budget *budget,
            struct profile **out, struct store_progress *progress,
            struct error *err)
{
    return s->ops->merge(s, q, values, budget, out, progress, err);
}

/* Reads no samples. */
static inline enum store_status
store_series(struct store *s, const struct store_series *q,
             const struct store_budget *budget, store_each_point *each,
             void *arg, struct store_progress *progress, struct error *err)
{
    return s->ops->series(s, q, budget, each, arg, progress, err);
}

static inline enum store_status
store_function(struct store *s, const struct store_function *q,
               const struct store_budget *budget,
               store_each_function_point *each, void *arg,
               struct store_progress *progress, struct error *err)
{
    return s->ops->function(s, q, budget, each, arg, progress, err);
}

/* Services and their types. */
static inline enum store_status
store_services(struct store *s, const struct store_query *q,
               const struct store_budget *budget, store_each_count *each,
               void *arg, struct error *err)
{
    return s->ops->services(s, q, budget, each, arg, err);
}

static inline enum store_status
store_label_names(struct store *s, const struct store_query *q,
                  const struct store_budget *budget, store_each_count *each,
                  void *arg, struct error *err)
{
    return s->ops->label_names(s, q, budget, each, arg, err);
}

static inline enum store_status
store_label_values(struct store *s, const struct store_query *q, struct str key,
                   const struct store_budget *budget, store_each_count *each,
                   void *arg, struct error *err)
{
    return s->ops->label_values(s, q, key, budget, each, arg, err);
}

/* Reads no samples, so that a cache of merges can be asked cheaply. */
static inline enum store_status
store_get_version(struct store *s, const struct store_query *q,
                  const struct store_budget *budget, struct store_version *out,
                  struct error *err)
{
    return s->ops->version(s, q, budget, out, err);
}

/*
 * A number that changes when profiles from `from_ns` to `to_ns` are added or
 * deleted; immediate, without reading any. 0: the engine does not know, because
 * others write to the same database.  Get it before reading the profiles: then
 * what was read matches the number, or the number has already changed.
 */
static inline uint64_t store_changes(struct store *s, int64_t from_ns,
                                     int64_t to_ns)
{
    return s->ops->changes ? s->ops->changes(s, from_ns, to_ns) : 0;
}

/* Every profile of the selection with its bytes, in no particular order;
 * store_put() with the same id, service, type, labels and time imports it. */
static inline enum store_status
store_export(struct store *s, const struct store_query *q,
             const struct store_budget *budget, store_each_export *each,
             void *arg, struct store_progress *progress, struct error *err)
{
    return s->ops->export_all(s, q, budget, each, arg, progress, err);
}

static inline void store_get_stats(struct store *s, struct store_stats *out)
{
    s->ops->stats(s, out);
}

static inline enum store_status store_get_usage(struct store *s,
                                                store_each_usage *each,
                                                void *arg, struct error *err)
{
    return s->ops->usage(s, each, arg, err);
}

/* Writes what is queued, calls its callbacks, and frees the store.  No other
 * call may be running.  NULL is allowed. */
static inline void store_close(struct store *s)
{
    if (s)
        s->ops->close(s);
}

#endif

#ifndef STORE_CLICKHOUSE_ENGINE_H
#define STORE_CLICKHOUSE_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/clickhouse/client.h"
#include "store/put_gate.h"
#include "store/read/scan.h"
#include "store/retention.h"

/*
 * What the files of the engine on ClickHouse share; nobody else includes this.
 *
 * Threads: callers of put and of reads; the writers, which insert and write to
 * the log; the sender, which alone sends the log; the keeper, which
 * drops what has expired.
 *
 * Locks, in the order in which they may be taken: service->lock, then
 * store->registry; store->gathering; store->log; each of them before
 * store->queue.
 */

/* Records are kinds of a dictionary, and stacks. */
enum { KIND_STACK = DICT_KINDS, KINDS = DICT_KINDS + 1 };

/*
 * What a collector knows of a service: the names, places and stacks that came
 * lately, their fingerprints, and the week for which each was sent last.  It
 * is thrown away when memory runs short; then records are sent once more.
 */
struct ch_service {
    struct ch_service *next; /* in its hash chain */
    pthread_mutex_t lock;
    struct dict d;
    struct label_guard guard;
    uint64_t *prints[KINDS];
    uint16_t *weeks[KINDS]; /* 0: never */
    size_t n[KINDS], prints_cap[KINDS], weeks_cap[KINDS];
    unsigned epoch, failovers; /* of the store, when it was last used */
    size_t memory;             /* as it counts in the store's */
    struct buf refs_scratch, record_scratch;
    size_t name_n;
    char name[];
};

/* A put on its way. */
struct ch_entry {
    struct ch_entry *next;
    struct buf records, row; /* in RowBinary */
    struct store_id id;
    size_t reserved; /* bytes that count against the queue */
    unsigned epoch;
    store_done *done;
    void *arg;
    struct store_receipt receipt;
};

struct ch_wal;

enum { CHAINS = 1024, WRITERS = 4 };

struct ch_store {
    struct store base;
    struct store_options opt;
    struct clickhouse_options ch;
    char *cluster, *wal_dir;
    struct ch_client *client;
    atomic_bool is_prepared; /* the tables are there */
    struct put_gate gate;

    pthread_mutex_t registry;
    struct ch_service *services[CHAINS];
    atomic_size_t memory;  /* of all services */
    atomic_uint epoch;     /* batches that were given up */
    atomic_uint failovers; /* hosts that went down */

    pthread_mutex_t queue;
    pthread_cond_t queue_grew;
    struct ch_entry *first, **last;
    size_t waiting, waiting_bytes; /* in the list */
    bool closing;
    uint64_t next_batch; /* that will be gathered */
    uint64_t turn;       /* batches before this one have settled records */
    pthread_cond_t turned;
    size_t inserting;          /* batches on their way */
    pthread_mutex_t gathering; /* held by the writer that waits for puts */
    pthread_t writers[WRITERS];
    size_t n_writers;
    pthread_mutex_t log; /* held by the writer that adds to it */
    struct ch_wal *wal;  /* or NULL */

    pthread_mutex_t keep_lock;
    pthread_cond_t keep_wake;
    bool keep_stop;
    struct retention retention;
    unsigned retention_changes;
    pthread_t keeper;
    bool has_keeper;

    pthread_mutex_t stats_lock;
    struct store_stats stats;
    char trouble[256];  /* of the last write that failed */
    int64_t trouble_ns; /* when that was; 0: one has succeeded since */
};

static inline struct ch_store *ch_of(struct store *s)
{
    return (struct ch_store *)s;
}

/* Where to begin to look for the profile before a time. */
static inline int64_t ch_look_back(const struct ch_store *s, int64_t from_ns)
{
    return from_ns < INT64_MIN + s->ch.lookback_ns
               ? INT64_MIN
               : from_ns - s->ch.lookback_ns;
}

/* Notes what went wrong where nobody can be told. */
void ch_background_error(struct ch_store *s, const struct error *err);

/* Notes how a write went. */
void ch_note_write(struct ch_store *s, enum store_status status,
                   const struct error *err);

/* Makes the tables unless that has been done. */
enum store_status ch_prepare(struct ch_store *s, struct error *err);

/*
 * put.c
 */
enum store_status ch_put(struct store *s, const struct store_put *put,
                         store_done *done, void *arg, struct error *err);
void ch_puts_init(struct ch_store *s);
void ch_entry_free(struct ch_entry *e);

/*
 * service.c
 */
struct ch_service *ch_service_get(struct ch_store *s, struct str name);
void ch_services_free(struct ch_store *s);

/* Under the service's lock: rows for all records that the interned profile
 * needs and that have not been sent for its week, and the row of the
 * profile. */
bool ch_service_write(struct ch_service *v, const struct interner *t,
                      const struct store_put *put,
                      const struct store_label *labels, struct ch_entry *e);

/* The row before it, for dictionaries that are full. */
void ch_service_forget(struct ch_service *v);
size_t ch_service_memory(const struct ch_service *v);

uint64_t ch_print(unsigned kind, const uint64_t *refs, size_t n,
                  struct str record);
uint16_t ch_week(int64_t created_ns); /* the day on which it begins */

/*
 * writer.c
 */
bool ch_writers_start(struct ch_store *s, struct error *err);
void ch_writers_stop(struct ch_store *s);
void ch_enqueue(struct ch_store *s, struct ch_entry *e);

/* Inserts a batch. */
enum store_status ch_insert(struct ch_store *s, struct str records,
                            struct str rows, struct error *err);

/*
 * wal.c
 */
bool ch_wal_open(struct ch_store *s, struct error *err);
void ch_wal_close(struct ch_store *s); /* what is not sent stays */
bool ch_wal_is_empty(struct ch_store *s);
enum store_status ch_wal_add(struct ch_store *s, struct str records,
                             struct str rows, size_t n, struct error *err);
void ch_wal_stats(struct ch_store *s, struct store_stats *out);

/*
 * scan.c, find.c: see struct scan_ops.
 */
enum store_status ch_scan(struct scan *c, struct error *err);
enum store_status ch_find(struct store *s, const struct store_id *id,
                          scan_each_row *row, void *arg, struct error *err);
enum store_status ch_blob(struct store *s, const struct store_id *id,
                          int64_t created_ns, struct buf *out,
                          struct error *err);

/*
 * keep.c, usage.c
 */
bool ch_keeper_start(struct ch_store *s, struct error *err);
void ch_keeper_stop(struct ch_store *s);
enum store_status ch_usage(struct store *s, store_each_usage *each, void *arg,
                           struct error *err);

#endif

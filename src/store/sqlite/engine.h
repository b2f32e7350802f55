#ifndef STORE_SQLITE_ENGINE_H
#define STORE_SQLITE_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/change_clock.h"
#include "store/put_gate.h"
#include "store/retention.h"
#include "store/sqlite/db.h"
#include "store/sqlite/sqlite.h"

/*
 * Shared by the files of the embedded engine; private to them.
 *
 * Locks, in the order in which they may be taken:
 *
 *     service->lock    open segments of one service
 *     store->registry  which services are open
 *     store->queue     what waits for the commit thread
 *     store->days_lock which day files there are
 *
 * Threads: callers of put and of reads; the commit thread, which alone
 * writes the log; the background thread, which alone writes day files.
 */

/*
 * A profile that has not been sealed.  `bytes` is its packed description,
 * then the samples of the row before it if they are not in the segment, then
 * its samples.
 */
enum row_state { ROW_PENDING, ROW_DONE, ROW_FAILED };

struct open_row {
    struct store_id id;
    uint32_t series;
    enum row_state state;
    int64_t created_ns;
    struct open_row *next; /* of the series */
    uint32_t meta_n, before_n, samples_n;
    unsigned char bytes[];
};

/* The last row of a series, to store the next one as changes. */
struct open_series {
    struct open_row *first, *last;
    unsigned char *whole; /* samples of the last row, packed alone */
    size_t whole_n, columns;
    int64_t whole_period;
    bool is_carried;  /* it is a row of an earlier segment */
    unsigned lost;    /* how often changes were longer than the whole */
    unsigned changes; /* rows stored as changes since a whole one */
};

struct open_segment {
    uint64_t generation; /* names it in the log and in day files */
    struct dict d;
    struct label_guard guard;
    struct open_row **rows;
    size_t n_rows, rows_cap;
    uint32_t *id_slots; /* row number + 1, by id */
    size_t id_mask;
    struct open_series *series; /* by number in the dictionary */
    size_t n_series, series_cap;
    size_t row_bytes;
    size_t pending;
    int64_t first_seq;       /* of the log; 0: nothing committed yet */
    int64_t opened_ns;       /* monotonic */
    struct dict_size logged; /* the log has the dictionary up to here */
    unsigned epoch;          /* failed commits */
};

struct service {
    struct str name;
    pthread_mutex_t lock;
    struct open_segment *open;    /* or NULL */
    struct open_segment *sealing; /* complete, being written to day files */
    unsigned users;               /* under the registry's lock */
    struct service *next;         /* in its hash chain */
};

/* A put on its way to the log. */
struct entry {
    struct entry *next;
    struct service *service;
    struct open_segment *segment;
    struct open_row *row;
    struct dict_size before; /* the dictionary's part of the bytes */
    unsigned epoch;
    struct buf bytes;
    struct buf blob; /* of an opaque one, compressed */
    bool is_opaque;
    size_t reserved; /* bytes that count against the queue */
    store_done *done;
    void *arg;
    struct store_receipt receipt;
};

/*
 * Day files.
 */
enum day_statement {
    DAY_SERVICE,
    DAY_SERIES,
    DAY_BLOCKS,
    DAY_ANY_BLOCK,
    DAY_BLOCK,
    DAY_DICT,
    DAY_ID,
    DAY_SERVICE_OF,
    DAY_BLOB,
    DAY_SEALED,
    DAY_SUMMED,
    DAY_STATEMENTS,
};

struct day_conn {
    sqlite3 *db;
    sqlite3_stmt *st[DAY_STATEMENTS];
    struct day_conn *next;
};

/*
 * The profiles of a day, or its sums of one level.  All of a day are in one
 * file: sums are blocks beside those of the profiles, in the segments that
 * they are sums of, and share their dictionaries.
 */
struct day {
    int32_t number; /* days since 1970 */
    enum store_level level;
    int64_t t0_ns, t1_ns; /* of the rows in it */
    unsigned users;
    bool dead; /* gone, and perhaps its file */
    /* The background thread's: nothing to join with this threshold, all sums
     * made. */
    uint32_t compacted;
    bool summed;
    struct day_conn *idle;
    unsigned n_idle;
    char path[];
};

enum {
    SERVICE_CHAINS = 1024,
    WAL_PAGES = 4000, /* of head.db, then it is checkpointed */
};

struct sqlite_store {
    struct store base;
    struct store_options opt;
    char *dir;
    int lock_fd;

    pthread_mutex_t registry;
    struct service *services[SERVICE_CHAINS];
    size_t n_services;
    struct put_gate gate;

    pthread_mutex_t queue;
    pthread_cond_t queue_grew;
    struct entry *first, **last;
    size_t waiting; /* in the list */
    bool closing;
    pthread_t committer;
    bool has_committer;
    struct entry **batch;
    pthread_mutex_t head_lock; /* the connection below */
    sqlite3 *head;
    sqlite3_stmt *insert_log, *insert_blob;
    int64_t next_seq;
    atomic_int wal_pages;
    atomic_llong settled_seq; /* all rows up to it are marked */
    atomic_llong log_bytes;

    pthread_mutex_t days_lock;
    struct day **days; /* sorted by number, then level */
    size_t n_days, days_cap;

    pthread_mutex_t work_lock; /* one step of background work at a time */
    pthread_cond_t work_wake;
    bool work_stop;
    pthread_t worker;
    bool has_worker;
    sqlite3 *checkpointer; /* the background thread's, to head.db */
    struct retention retention;
    uint64_t max_disk_bytes;
    int64_t last_retain_ns;
    atomic_size_t head_memory;

    pthread_mutex_t stats_lock;
    struct store_stats stats;

    struct change_clock changes; /* see store_changes() */
};

static inline struct sqlite_store *engine_of(struct store *s)
{
    return (struct sqlite_store *)s;
}

int64_t engine_now(const struct sqlite_store *s);
enum store_status engine_no_memory(struct error *err);

/* Records an error of background work. */
void engine_background_error(struct sqlite_store *s, const struct error *err);

/* Takes the lock file; the lock is released with the descriptor. */
bool engine_lock(const char *dir, int *out, struct error *err);
uint64_t engine_disk_bytes(struct sqlite_store *s);

/*
 * open.c: services and open segments.
 */

/* Finds or adds; the caller gives it back with service_put().  NULL: none
 * (`create` false), or no memory. */
struct service *service_get(struct sqlite_store *s, struct str name,
                            bool create);
void service_put(struct sqlite_store *s, struct service *v);

/* Calls each() for every open service, one after another, without a lock
 * held; false ends it. */
bool service_each(struct sqlite_store *s,
                  bool (*each)(struct service *v, void *arg), void *arg);

struct open_segment *open_segment_new(uint32_t max_label_values);
void open_segment_free(struct open_segment *g);
size_t open_segment_memory(const struct open_segment *g);

/* Under the service's lock.  The row is owned by the segment afterwards. */
bool open_segment_add(struct open_segment *g, struct open_row *row);
struct open_row *open_segment_find(const struct open_segment *g,
                                   const struct store_id *id);

/*
 * Packs samples for a series, as changes where that is shorter, and
 * remembers them as its last row; fills in meta's changes.
 */
bool open_series_pack(struct open_segment *g, struct row_meta *m,
                      const struct row_samples *s, struct row_samples *scratch,
                      struct open_row **out, struct buf *bytes);

/* Remembers the last row of a series from the rows themselves. */
struct open_reader;
bool open_series_recall(struct open_segment *g, uint32_t series,
                        struct open_reader *r, struct error *err);

/* Forgets the last rows of all series: they are not on disk. */
void open_segment_forget(struct open_segment *g);

/* Gives the series of `to` the last rows of `from`. */
bool open_segment_carry(const struct open_segment *from,
                        struct open_segment *to);

/* The rows of one series in the order of their coming. */
struct open_reader {
    const struct open_segment *g;
    const struct open_row *row;
    bool with_samples, has_before, at_first;
    struct row_meta meta;
    struct row_samples samples, before;
};

void open_reader_begin(struct open_reader *r, const struct open_segment *g,
                       uint32_t series, bool with_samples);
bool open_reader_next(struct open_reader *r, bool *more, struct error *err);
void open_reader_release(struct open_reader *r);

/*
 * commit.c, replay.c
 */
extern const char head_schema[];
bool commit_start(struct sqlite_store *s, struct error *err);
void commit_stop(struct sqlite_store *s); /* after the queue is empty */
void commit_enqueue(struct sqlite_store *s, struct entry *e);
void entry_free(struct entry *e);
uint64_t log_checksum(struct str bytes);
bool replay(struct sqlite_store *s, struct error *err);

/*
 * put.c
 */
enum store_status engine_put(struct store *s, const struct store_put *put,
                             store_done *done, void *arg, struct error *err);
void engine_puts_init(struct sqlite_store *s);

/*
 * days.c
 */
int32_t day_number(const struct sqlite_store *s, int64_t created_ns);
bool days_load(struct sqlite_store *s, struct error *err);
void days_free(struct sqlite_store *s);

/* The file of a day, created if necessary.  Release it with day_put(). */
struct day *day_get(struct sqlite_store *s, int32_t number,
                    enum store_level level, bool create, struct error *err);
void day_use(struct sqlite_store *s, struct day *d); /* once more */
void day_put(struct sqlite_store *s, struct day *d);

/* All files of a level that overlap a range, oldest first; an array to free;
 * release each with day_put().  False: out of memory. */
bool days_between(struct sqlite_store *s, enum store_level level,
                  int64_t from_ns, int64_t to_ns, struct day ***out, size_t *n);

/* All days with all levels, in the same way, levels behind each other. */
bool days_all(struct sqlite_store *s, struct day ***out, size_t *n);

struct day_conn *day_connect(struct sqlite_store *s, struct day *d,
                             struct error *err);
void day_disconnect(struct sqlite_store *s, struct day *d, struct day_conn *c);
sqlite3_stmt *day_statement(struct day_conn *c, enum day_statement which,
                            struct error *err);

/* Unused pages back to the file system, and the WAL into the file. */
void day_shrink(struct day_conn *c);

/* Widens the range of the rows in it. */
void day_note(struct sqlite_store *s, struct day *d, int64_t t0, int64_t t1);

/* Nothing of it is left, but other levels may be. */
void day_drop(struct sqlite_store *s, struct day *d);
bool day_is_last(struct sqlite_store *s, const struct day *d);

/* The file goes, with all levels of the day. */
void day_unlink(struct sqlite_store *s, struct day *d);

/* Service and series of a day file by their texts, added when new. */
bool day_add_service(sqlite3 *db, struct str name, int64_t *out,
                     struct error *err);
bool day_add_series(sqlite3 *db, int64_t service, struct str type,
                    struct str labels, int64_t *out, struct error *err);
int64_t id_key(const struct store_id *id);

/* A series record as type and packed labels. */
bool series_text(const struct dict *d, uint32_t series, struct str *type,
                 struct buf *labels);

/*
 * write.c: a builder's segment into a day file, within a transaction.
 */
struct builder;
struct segment_writer {
    struct sqlite_store *s;
    sqlite3 *db;
    int64_t service, segment;
    int64_t *series; /* by number in the dictionary */
    size_t n_series;
    int64_t t0_ns, t1_ns;
    uint64_t profiles;
    bool with_ids;
};

/* w->series can be used until segment_writer_release(). */
bool segment_write(struct segment_writer *w, struct builder *b,
                   struct str service, int level, struct error *err);
void segment_writer_release(struct segment_writer *w);

/* Further blocks of a segment that is there; w has its service and number,
 * and b has borrowed its dictionary. */
bool segment_write_more(struct segment_writer *w, struct builder *b, int level,
                        struct error *err);

/*
 * seal.c, compact.c, downsample.c, retain.c: each does one bounded step and
 * says whether there was anything to do.
 */
bool seal_service(struct sqlite_store *s, struct service *v, struct error *err);

/* Takes an open segment out of use that already has sealed rows: rows added to
 * it would count as sealed after a restart. */
bool seal_retire(struct sqlite_store *s, struct service *v, struct error *err);
bool seal_step(struct sqlite_store *s, bool *did, struct error *err);
bool compact_step(struct sqlite_store *s, bool *did, struct error *err);
bool downsample_step(struct sqlite_store *s, bool *did, struct error *err);
bool retain_step(struct sqlite_store *s, bool *did, struct error *err);

/*
 * log.c
 */
bool marks_open(struct sqlite_store *s, struct error *err);

/* Marks a segment as complete in the day files, even if the log still has rows
 * of it. */
bool mark_sealed(struct sqlite_store *s, struct str service,
                 uint64_t generation, struct error *err);

/* Deletes log rows that no open segment needs. */
bool trim_log(struct sqlite_store *s, struct error *err);

/* The bytes of an opaque profile in head.db, still compressed. */
bool head_blob(struct sqlite_store *s, const struct store_id *id,
               struct buf *out, struct error *err);
bool worker_start(struct sqlite_store *s, struct error *err);
void worker_stop(struct sqlite_store *s);

#endif

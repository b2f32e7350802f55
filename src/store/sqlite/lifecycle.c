/*
 * Opening and closing, options, figures.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "store/sqlite/engine.h"
#include "store/read/read.h"
#include "store/sqlite/scan.h"

const struct store_options store_default_options = {
    .body_bytes = (size_t)32 << 20,
    .inflated_bytes = (size_t)128 << 20,
    .large_puts = 2,
    .queue_profiles = 1024,
    .queue_bytes = (size_t)64 << 20,
    .commit_profiles = 100,
    .commit_wait_ns = 1000000,
    .max_samples = 1 << 20,
    .max_depth = 1 << 12,
    .max_nodes = 1 << 24,
    .max_labels = 64,
    .max_label_bytes = 16 << 10,
    .max_label_values = 10000,
    .seal_nodes = 64 << 10,
    .seal_profiles = 1000,
    .seal_age_ns = HOUR,
    .head_bytes = (size_t)96 << 20,
    .log_bytes = (size_t)64 << 20,
    .compact_segments = 8,
};

int64_t engine_now(const struct sqlite_store *s)
{
    return s->opt.now_ns ? s->opt.now_ns() : clock_realtime_ns();
}

enum store_status engine_no_memory(struct error *err)
{
    error_set(err, "out of memory");
    return STORE_FAILED;
}

void engine_background_error(struct sqlite_store *s, const struct error *err)
{
    pthread_mutex_lock(&s->stats_lock);
    s->stats.background_errors++;
    snprintf(s->stats.last_background_error,
             sizeof(s->stats.last_background_error), "%.255s", err->text);
    pthread_mutex_unlock(&s->stats_lock);
}

/*
 * Figures.
 */

struct totals {
    uint64_t services, profiles, stacks, memory;
};

static bool add_service(struct service *v, void *arg)
{
    struct totals *t = arg;
    const struct open_segment *list[2];

    pthread_mutex_lock(&v->lock);
    list[0] = v->open;
    list[1] = v->sealing;
    for (int i = 0; i < 2; i++)
        if (list[i]) {
            t->profiles += list[i]->n_rows - list[i]->pending;
            t->stacks += list[i]->d.n_nodes;
            t->memory += open_segment_memory(list[i]);
        }
    t->services += v->open != NULL;
    pthread_mutex_unlock(&v->lock);
    return true;
}

uint64_t engine_disk_bytes(struct sqlite_store *s)
{
    static const char *const suffixes[] = {"", "-wal"};
    char path[4096];
    uint64_t bytes = 0;
    struct stat st;
    int fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    for (int i = 0; fd >= 0 && i < 2; i++) {
        snprintf(path, sizeof(path), "head.db%s", suffixes[i]);
        if (fstatat(fd, path, &st, 0) == 0)
            bytes += (uint64_t)st.st_blocks * 512;
    }
    if (fd >= 0)
        close(fd);
    pthread_mutex_lock(&s->days_lock);
    for (size_t d = 0; d < s->n_days; d++)
        for (int i = 0; i < 2; i++) {
            if (d && s->days[d]->number == s->days[d - 1]->number)
                continue; /* another level of the same file */
            snprintf(path, sizeof(path), "%s%s", s->days[d]->path, suffixes[i]);
            if (stat(path, &st) == 0)
                bytes += (uint64_t)st.st_blocks * 512;
        }
    pthread_mutex_unlock(&s->days_lock);
    return bytes;
}

static uint64_t count_segments(struct sqlite_store *s)
{
    struct day **files;
    struct error ignored;
    uint64_t sum = 0;
    size_t n;

    if (!days_all(s, &files, &n))
        return 0;
    for (size_t i = 0; i < n; i++) {
        bool again = i && files[i]->number == files[i - 1]->number;
        struct day_conn *c = again ? NULL : day_connect(s, files[i], &ignored);
        sqlite3_stmt *st =
            c ? db_prepare(c->db, "SELECT count(*) FROM segment", &ignored)
              : NULL;
        bool more;

        if (st && db_step(c->db, st, &more, "read", &ignored) && more)
            sum += (uint64_t)sqlite3_column_int64(st, 0);
        sqlite3_finalize(st);
        if (c)
            day_disconnect(s, files[i], c);
        day_put(s, files[i]);
    }
    free(files);
    return sum;
}

static void engine_stats(struct store *store, struct store_stats *out)
{
    struct sqlite_store *s = engine_of(store);
    struct totals t = {0};

    service_each(s, add_service, &t);
    pthread_mutex_lock(&s->stats_lock);
    *out = s->stats;
    pthread_mutex_unlock(&s->stats_lock);
    out->queued = put_gate_queued(&s->gate);
    out->queue_limit = s->opt.queue_profiles;
    out->open_services = t.services;
    out->open_profiles = t.profiles;
    out->open_stacks = t.stacks;
    out->memory_bytes = t.memory;
    out->disk_bytes = engine_disk_bytes(s);
    out->segments = count_segments(s);
}

/*
 * Closing.
 */

static bool free_open(struct service *v, void *arg)
{
    (void)arg;
    open_segment_free(v->open);
    open_segment_free(v->sealing);
    v->open = v->sealing = NULL;
    return true;
}

static void engine_close(struct store *store)
{
    struct sqlite_store *s = engine_of(store);

    worker_stop(s);
    commit_stop(s);
    service_each(s, free_open, NULL);
    days_free(s);
    sqlite3_close(s->checkpointer);
    sqlite3_close(s->head);
    put_gate_release(&s->gate);
    if (s->lock_fd >= 0)
        close(s->lock_fd);
    pthread_mutex_destroy(&s->registry);
    pthread_mutex_destroy(&s->queue);
    pthread_cond_destroy(&s->queue_grew);
    pthread_mutex_destroy(&s->head_lock);
    pthread_mutex_destroy(&s->days_lock);
    pthread_mutex_destroy(&s->work_lock);
    pthread_cond_destroy(&s->work_wake);
    pthread_mutex_destroy(&s->stats_lock);
    retention_release(&s->retention);
    free(s->dir);
    free(s);
}

static uint64_t engine_changes(struct store *s, int64_t from_ns, int64_t to_ns)
{
    return change_clock_read(&engine_of(s)->changes, from_ns, to_ns);
}

static const struct store_ops ops = {
    .put = engine_put,
    STORE_READ_OPS,
    .changes = engine_changes,
    .stats = engine_stats,
    .usage = engine_usage,
    .close = engine_close,
};

static const struct scan_ops scans = {
    .run = engine_scan,
    .find = find_id,
    .blob = find_blob,
};

/*
 * Opening.
 */

static void init_locks(struct sqlite_store *s)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&s->registry, NULL);
    pthread_mutex_init(&s->queue, NULL);
    pthread_cond_init(&s->queue_grew, &monotonic);
    pthread_mutex_init(&s->head_lock, NULL);
    pthread_mutex_init(&s->days_lock, NULL);
    pthread_mutex_init(&s->work_lock, NULL);
    pthread_cond_init(&s->work_wake, &monotonic);
    pthread_mutex_init(&s->stats_lock, NULL);
    pthread_condattr_destroy(&monotonic);
}

bool engine_lock(const char *dir, int *out, struct error *err)
{
    char path[4096];
    int fd;

    snprintf(path, sizeof(path), "%s/lock", dir);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_set_os(err, "open", path, errno);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        close(fd);
        return error_set(err,
                         "open %s: another process has this store open; stop "
                         "it or use another directory",
                         dir);
    }
    *out = fd;
    return true;
}

static bool open_files(struct sqlite_store *s, struct error *err)
{
    char path[4096];

    if (!file_make_directory(s->dir, 0700, err))
        return false;
    if (!engine_lock(s->dir, &s->lock_fd, err))
        return false;
    snprintf(path, sizeof(path), "%s/head.db", s->dir);
    return db_open(path, true, head_schema, &s->head, err) &&
           db_open(path, false, head_schema, &s->checkpointer, err) &&
           marks_open(s, err) && days_load(s, err) && replay(s, err) &&
           commit_start(s, err) && worker_start(s, err);
}

struct store *sqlite_store_open(const struct store_options *options,
                                struct error *err)
{
    struct sqlite_store *s = calloc(1, sizeof(*s));

    if (!s) {
        engine_no_memory(err);
        return NULL;
    }
    s->base.ops = &ops;
    s->base.scans = &scans;
    s->opt = *options;
    s->lock_fd = -1;
    s->last = &s->first;
    init_locks(s);
    engine_puts_init(s);
    s->dir = strdup(options->dir);
    if (s->dir &&
        sqlite_store_set_retention(&s->base, options->retention,
                                   options->n_retention,
                                   options->max_disk_bytes, err) &&
        open_files(s, err))
        return &s->base;
    if (!s->dir)
        engine_no_memory(err);
    engine_close(&s->base);
    return NULL;
}

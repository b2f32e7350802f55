/*
 * The write-ahead log: batches that ClickHouse could not take, one a file.
 *
 *     NNNNNNNNNNNNNNNN.batch   in the order of their numbers
 *     lock                     held while a process uses the directory
 *
 * A file (wal_batch.h) gets its name when all of it is on disk, and goes when
 * ClickHouse has it.  Many files are sent in one insert: as long as there are
 * files, new batches come behind them, and the log must empty faster than it
 * grows.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "store/clickhouse/engine.h"
#include "store/clickhouse/wal_batch.h"
#include "store/pack.h"

#define PAUSE_NS SECOND

enum { MAX_FILES = 1024 }; /* in one insert */

struct wal_file {
    uint64_t number, bytes, profiles;
};

struct ch_wal {
    int dir_fd, lock_fd;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct wal_file *files; /* oldest first */
    size_t n, cap;
    uint64_t next, bytes, profiles;
    bool stop, has_sender;
    pthread_t sender;
};

static void file_name(uint64_t number, char out[32])
{
    snprintf(out, 32, "%016" PRIx64 ".batch", number);
}

/* --- reading and writing files -------------------------------------------- */

static bool write_file(struct ch_wal *w, const char *name,
                       const struct wal_batch *b, struct error *err)
{
    char temporary[40], head[WAL_HEADER_BYTES];
    bool ok;
    int fd;

    snprintf(temporary, sizeof(temporary), "%s.new", name);
    fd = openat(w->dir_fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                0600);
    if (fd < 0)
        return error_set_os(err, "create", name, errno);
    wal_batch_header(b, head);
    ok = file_write_fd(fd, name, str_of(head, sizeof(head)), err) &&
         file_write_fd(fd, name, b->records, err) &&
         file_write_fd(fd, name, b->rows, err);
    if (ok && fdatasync(fd) != 0)
        ok = error_set_os(err, "sync", name, errno);
    close(fd);
    if (ok && renameat(w->dir_fd, temporary, w->dir_fd, name) != 0)
        ok = error_set_os(err, "rename", name, errno);
    if (ok && fsync(w->dir_fd) != 0)
        ok = error_set_os(err, "sync", "the directory", errno);
    if (!ok)
        unlinkat(w->dir_fd, temporary, 0);
    return ok || error_wrap(err, "write-ahead log");
}

static bool read_file(struct ch_wal *w, const char *name, struct buf *out,
                      struct error *err)
{
    int fd = openat(w->dir_fd, name, O_RDONLY | O_CLOEXEC);
    bool ok;

    if (fd < 0)
        return error_set_os(err, "open", name, errno);
    ok = file_read_fd(fd, name, out, err);
    close(fd);
    return ok;
}

/* --- sending -------------------------------------------------------------- */

static void forget_first(struct ch_wal *w, size_t n)
{
    pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < n; i++) {
        w->bytes -= w->files[i].bytes;
        w->profiles -= w->files[i].profiles;
    }
    w->n -= n;
    memmove(w->files, w->files + n, w->n * sizeof(*w->files));
    pthread_mutex_unlock(&w->lock);
}

static void count_lost(struct ch_store *s)
{
    pthread_mutex_lock(&s->stats_lock);
    s->stats.wal_lost_files++;
    pthread_mutex_unlock(&s->stats_lock);
}

/* Kept under another name: somebody may want to look at it. */
static void put_aside(struct ch_store *s, const char *name)
{
    char aside[48];
    struct error err;

    snprintf(aside, sizeof(aside), "%s.damaged", name);
    renameat(s->wal->dir_fd, name, s->wal->dir_fd, aside);
    error_set(&err, "write-ahead log: %s is damaged and was not sent", name);
    ch_background_error(s, &err);
    count_lost(s);
}

/* Somebody has deleted it. */
static bool is_gone(struct ch_wal *w, const char *name)
{
    return faccessat(w->dir_fd, name, F_OK, 0) != 0 && errno == ENOENT;
}

/* Files that one insert takes. */
struct sending {
    uint64_t numbers[MAX_FILES];
    size_t n;
    struct buf records, rows;
};

/* The first ones, as many as a batch may have; at least one. */
static void choose_files(struct ch_store *s, struct sending *t)
{
    struct ch_wal *w = s->wal;
    uint64_t profiles = 0, bytes = 0;

    pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < w->n && i < MAX_FILES; i++) {
        profiles += w->files[i].profiles;
        bytes += w->files[i].bytes;
        if (i > 0 &&
            (profiles > s->ch.batch_profiles || bytes > s->ch.batch_bytes))
            break;
        t->numbers[t->n++] = w->files[i].number;
    }
    pthread_mutex_unlock(&w->lock);
}

enum file_state { FILE_ADDED, FILE_DAMAGED, FILE_UNREAD };

static enum file_state add_file(struct ch_wal *w, struct sending *t,
                                const char *name, struct error *err)
{
    struct buf bytes = BUF_INIT((size_t)3 << 30);
    enum file_state state = FILE_UNREAD;
    struct wal_batch b;

    if (read_file(w, name, &bytes, err)) {
        state =
            wal_batch_parse(buf_str(&bytes), &b) ? FILE_ADDED : FILE_DAMAGED;
        if (state == FILE_ADDED) {
            buf_add(&t->records, b.records);
            buf_add(&t->rows, b.rows);
        }
    }
    buf_release(&bytes);
    return state;
}

/* Returns true if the first file, which could not be added, is out of the
 * way. */
static bool pass_over(struct ch_store *s, const char *name,
                      enum file_state state, const struct error *err)
{
    if (state == FILE_DAMAGED) {
        put_aside(s, name);
    } else {
        ch_background_error(s, err);
        if (!is_gone(s->wal, name))
            return false;
        count_lost(s);
    }
    forget_first(s->wal, 1);
    return true;
}

/* A file that cannot be added ends the list, unless it is the first. */
static bool add_files(struct ch_store *s, struct sending *t)
{
    for (size_t i = 0; i < t->n; i++) {
        struct error err = {.text = ""};
        enum file_state state;
        char name[32];

        file_name(t->numbers[i], name);
        state = add_file(s->wal, t, name, &err);
        if (state == FILE_ADDED)
            continue;
        t->n = i;
        return i > 0 || pass_over(s, name, state, &err);
    }
    return true;
}

static bool insert_files(struct ch_store *s, struct sending *t)
{
    enum store_status status;
    struct error err;
    char name[32];

    if (buf_ok(&t->records) && buf_ok(&t->rows))
        status = ch_insert(s, buf_str(&t->records), buf_str(&t->rows), &err);
    else
        status = store_no_memory(&err);
    if (status != STORE_OK) {
        ch_background_error(s, &err);
        return false;
    }
    for (size_t i = 0; i < t->n; i++) {
        file_name(t->numbers[i], name);
        unlinkat(s->wal->dir_fd, name, 0);
    }
    forget_first(s->wal, t->n);
    return true;
}

static bool send_files(struct ch_store *s)
{
    struct sending t = {.n = 0,
                        .records = BUF_INIT(STORE_BUF_BYTES),
                        .rows = BUF_INIT(STORE_BUF_BYTES)};
    bool ok;

    choose_files(s, &t);
    ok = add_files(s, &t) && (t.n == 0 || insert_files(s, &t));
    buf_release(&t.records);
    buf_release(&t.rows);
    return ok;
}

static void *send_loop(void *arg)
{
    struct ch_store *s = arg;
    struct ch_wal *w = s->wal;

    pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        bool ok;

        if (!w->n) {
            pthread_cond_wait(&w->changed, &w->lock);
            continue;
        }
        pthread_mutex_unlock(&w->lock);
        ok = send_files(s);
        pthread_mutex_lock(&w->lock);
        if (!ok && !w->stop) {
            struct timespec until =
                clock_timespec(clock_monotonic_ns() + PAUSE_NS);

            pthread_cond_timedwait(&w->changed, &w->lock, &until);
        }
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* --- adding --------------------------------------------------------------- */

bool ch_wal_is_empty(struct ch_store *s)
{
    bool empty;

    pthread_mutex_lock(&s->wal->lock);
    empty = s->wal->n == 0;
    pthread_mutex_unlock(&s->wal->lock);
    return empty;
}

static bool note_file(struct ch_wal *w, struct wal_file file)
{
    if (w->n == w->cap) {
        size_t cap = w->cap ? 2 * w->cap : 64;
        struct wal_file *more = realloc(w->files, cap * sizeof(*more));

        if (!more)
            return false;
        w->files = more;
        w->cap = cap;
    }
    w->files[w->n++] = file;
    w->bytes += file.bytes;
    w->profiles += file.profiles;
    return true;
}

enum store_status ch_wal_add(struct ch_store *s, struct str records,
                             struct str rows, size_t n, struct error *err)
{
    struct ch_wal *w = s->wal;
    struct wal_batch b = {records, rows, n};
    struct wal_file file = {w->next, WAL_HEADER_BYTES + records.n + rows.n, n};
    char name[32];
    bool ok;

    pthread_mutex_lock(&w->lock);
    ok = w->bytes + file.bytes <= s->ch.wal_bytes;
    pthread_mutex_unlock(&w->lock);
    if (!ok) {
        error_set(err,
                  "ClickHouse cannot be written, and the write-ahead log is "
                  "full (%" PRIu64 " bytes)",
                  s->ch.wal_bytes);
        return STORE_BUSY;
    }
    file_name(w->next++, name);
    if (!write_file(w, name, &b, err))
        return STORE_BUSY; /* its disk is full, perhaps */
    pthread_mutex_lock(&w->lock);
    ok = note_file(w, file);
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    if (ok)
        return STORE_OK;
    unlinkat(w->dir_fd, name, 0);
    return store_no_memory(err);
}

void ch_wal_stats(struct ch_store *s, struct store_stats *out)
{
    pthread_mutex_lock(&s->wal->lock);
    out->wal_bytes = s->wal->bytes;
    out->wal_profiles = s->wal->profiles;
    pthread_mutex_unlock(&s->wal->lock);
    out->wal_limit = s->ch.wal_bytes;
}

/* --- opening -------------------------------------------------------------- */

static int by_number(const void *x, const void *y)
{
    const struct wal_file *a = x, *b = y;

    return (a->number > b->number) - (a->number < b->number);
}

/* How many profiles are in a file, from its header. */
static bool read_header(struct ch_wal *w, const char *name,
                        struct wal_file *out)
{
    int fd = openat(w->dir_fd, name, O_RDONLY | O_CLOEXEC);
    char head[WAL_HEADER_BYTES];
    struct stat st;
    bool ok = fd >= 0 && fstat(fd, &st) == 0;

    if (ok && read(fd, head, sizeof(head)) == (ssize_t)sizeof(head))
        wal_batch_count(str_of(head, sizeof(head)), &out->profiles);
    if (ok)
        out->bytes = (uint64_t)st.st_size;
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool add_found(struct ch_wal *w, const char *name)
{
    struct str text = str_from(name);
    struct wal_file file = {0};
    char own[32];

    if (!str_has_suffix(text, STR(".batch"))) {
        if (str_has_suffix(text, STR(".batch.new")))
            unlinkat(w->dir_fd, name, 0); /* it was never acknowledged */
        return true;
    }
    if (!str_to_u64(str_first(text, text.n - 6), 16, &file.number) ||
        file.number == UINT64_MAX)
        return true;
    file_name(file.number, own);
    if (!str_eq(text, str_from(own)) || !read_header(w, name, &file))
        return true;
    if (w->next <= file.number)
        w->next = file.number + 1;
    return note_file(w, file);
}

static bool find_files(struct ch_wal *w, const char *dir, struct error *err)
{
    DIR *d = opendir(dir);
    struct dirent *entry;
    bool ok = true;

    if (!d)
        return error_set_os(err, "open", dir, errno);
    while (ok && (entry = readdir(d)))
        ok = add_found(w, entry->d_name);
    closedir(d);
    if (w->n)
        qsort(w->files, w->n, sizeof(*w->files), by_number);
    return ok || error_set(err, "out of memory");
}

static bool lock_directory(struct ch_wal *w, const char *dir, struct error *err)
{
    w->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (w->dir_fd < 0)
        return error_set_os(err, "open", dir, errno);
    w->lock_fd = openat(w->dir_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (w->lock_fd < 0)
        return error_set_os(err, "open", dir, errno);
    if (flock(w->lock_fd, LOCK_EX | LOCK_NB) == 0)
        return true;
    return error_set(err,
                     "%s: another process uses this write-ahead log; each "
                     "pprofd needs a directory of its own",
                     dir);
}

bool ch_wal_open(struct ch_store *s, struct error *err)
{
    struct ch_wal *w = calloc(1, sizeof(*w));
    pthread_condattr_t monotonic;

    if (!w)
        return error_set(err, "out of memory");
    s->wal = w;
    w->dir_fd = w->lock_fd = -1;
    w->next = 1;
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (!file_make_directory(s->wal_dir, 0700, err) ||
        !lock_directory(w, s->wal_dir, err) || !find_files(w, s->wal_dir, err))
        return false;
    w->has_sender = pthread_create(&w->sender, NULL, send_loop, s) == 0;
    return w->has_sender || error_set(err, "no thread for sending");
}

void ch_wal_close(struct ch_store *s)
{
    struct ch_wal *w = s->wal;

    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    if (w->has_sender)
        pthread_join(w->sender, NULL);
    if (w->lock_fd >= 0)
        close(w->lock_fd);
    if (w->dir_fd >= 0)
        close(w->dir_fd);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->changed);
    free(w->files);
    free(w);
    s->wal = NULL;
}

/*
 * The list of files is short and guarded by one lock, which is held while a
 * record is appended (to the page cache) and never while one is read, so that
 * readers do not delay writers.  Readers read one after another.
 */
#include "store/archive/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

#define FILE_BYTES ((uint64_t)4 << 20) /* then the next file begins */
#define SUFFIX     ".spool"
#define ROOM_MAX   (SPOOL_KEY_MAX + SPOOL_BYTES_MAX)

/* One file. */
struct part {
    struct part *next; /* the next newer one */
    uint64_t number;
    uint64_t size; /* of what is written */
    uint64_t at;   /* where the first record starts that nobody has taken */
    uint64_t open, open_bytes; /* taken and not finished */
    uint64_t objects, bytes;   /* not finished */
    bool is_kept; /* a taken one was given back: it stays for the next time */
};

struct spool {
    char *dir;
    uint64_t max_bytes;
    pthread_mutex_t reading; /* taken first */
    pthread_mutex_t lock;    /* of all below */
    pthread_cond_t changed;
    struct part *oldest, *newest;
    int fd;              /* of the newest, for appending; -1: none */
    uint64_t next;       /* number of the next file */
    uint64_t file_bytes; /* of all files */
    bool stops;
    struct spool_stats stats;
};

/* --- files ---------------------------------------------------------------- */

static void path_of(const struct spool *s, uint64_t number, char out[4096])
{
    snprintf(out, 4096, "%s/%020" PRIu64 SUFFIX, s->dir, number);
}

static int open_part(const struct spool *s, uint64_t number, int flags)
{
    char path[4096];

    path_of(s, number, path);
    return open(path, flags | O_CLOEXEC, 0666);
}

static struct part *add_part(struct spool *s, uint64_t number, uint64_t size)
{
    struct part *p = calloc(1, sizeof(*p));
    struct part **at = &s->oldest;

    if (!p)
        return NULL;
    p->number = number;
    p->size = size;
    while (*at && (*at)->number < number)
        at = &(*at)->next;
    p->next = *at;
    *at = p;
    if (!p->next)
        s->newest = p;
    s->file_bytes += size;
    if (number >= s->next)
        s->next = number + 1;
    return p;
}

static void count(struct spool *s, struct part *p, int64_t objects,
                  int64_t bytes)
{
    p->objects += (uint64_t)objects;
    p->bytes += (uint64_t)bytes;
    s->stats.objects += (uint64_t)objects;
    s->stats.bytes += (uint64_t)bytes;
}

static void close_newest(struct spool *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

/* Deletes a file of which everything is finished. */
static void remove_if_done(struct spool *s, struct part *p)
{
    struct part **at = &s->oldest, *before = NULL;
    char path[4096];

    if (p->at < p->size || p->open > 0 || p->is_kept)
        return;
    for (; *at != p; at = &(*at)->next)
        before = *at;
    *at = p->next;
    if (s->newest == p) {
        close_newest(s);
        s->newest = before;
    }
    path_of(s, p->number, path);
    unlink(path);
    s->file_bytes -= p->size;
    free(p);
}

/* --- opening -------------------------------------------------------------- */

/* Counts the records, and forgets what follows the last whole one. */
static void count_records(struct spool *s, struct part *p)
{
    unsigned char header[SPOOL_HEADER];
    int fd = open_part(s, p->number, O_RDONLY);
    uint64_t key_n, bytes_n, at = 0;

    while (fd >= 0 && at + sizeof(header) <= p->size &&
           pread(fd, header, sizeof(header), (off_t)at) == sizeof(header) &&
           spool_header_read(header, &key_n, &bytes_n) &&
           at + sizeof(header) + key_n + bytes_n <= p->size) {
        at += sizeof(header) + key_n + bytes_n;
        count(s, p, 1, (int64_t)bytes_n);
    }
    if (at < p->size)
        s->stats.damaged++;
    s->file_bytes -= p->size - at;
    p->size = at;
    if (fd >= 0)
        close(fd);
}

static bool find_parts(struct spool *s, struct error *err)
{
    DIR *dir = opendir(s->dir);
    struct dirent *e;
    bool ok = true;

    if (!dir)
        return error_set_os(err, "open", s->dir, errno);
    while (ok && (e = readdir(dir))) {
        struct str name = str_from(e->d_name);
        struct stat st;
        uint64_t number;

        if (!str_has_suffix(name, STR(SUFFIX)))
            continue;
        name.n -= STR(SUFFIX).n;
        if (str_to_u64(name, 10, &number) &&
            fstatat(dirfd(dir), e->d_name, &st, 0) == 0)
            ok = add_part(s, number, (uint64_t)st.st_size) ||
                 error_set(err, "out of memory");
    }
    closedir(dir);
    return ok;
}

struct spool *spool_open(const char *dir, uint64_t max_bytes, struct error *err)
{
    struct spool *s = calloc(1, sizeof(*s));
    bool ok = s && (s->dir = strdup(dir));
    struct part *next;

    if (!s || !ok) {
        free(s);
        error_set(err, "out of memory");
        return NULL;
    }
    s->max_bytes = max_bytes;
    s->fd = -1;
    pthread_mutex_init(&s->reading, NULL);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    if (!file_make_directory(dir, 0777, err) || !find_parts(s, err)) {
        spool_free(s);
        return NULL;
    }
    for (struct part *p = s->oldest; p; p = next) {
        next = p->next;
        count_records(s, p);
        remove_if_done(s, p);
    }
    return s;
}

void spool_free(struct spool *s)
{
    struct part *next;

    if (!s)
        return;
    close_newest(s);
    for (struct part *p = s->oldest; p; p = next) {
        next = p->next;
        free(p);
    }
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->reading);
    free(s->dir);
    free(s);
}

/* --- adding --------------------------------------------------------------- */

static bool begin_part(struct spool *s, struct error *err)
{
    char path[4096];

    if (s->fd >= 0 && s->newest->size < FILE_BYTES)
        return true;
    close_newest(s);
    s->fd = open_part(s, s->next, O_WRONLY | O_CREAT | O_EXCL);
    if (s->fd < 0) {
        path_of(s, s->next, path);
        return error_set_os(err, "create", path, errno);
    }
    if (add_part(s, s->next, 0))
        return true;
    close_newest(s);
    return error_set(err, "out of memory");
}

/* All or nothing. */
static bool append(struct spool *s, struct str key, struct str bytes,
                   struct error *err)
{
    unsigned char header[SPOOL_HEADER];
    struct iovec v[] = {{header, sizeof(header)},
                        {(void *)(uintptr_t)key.s, key.n},
                        {(void *)(uintptr_t)bytes.s, bytes.n}};
    struct part *p = s->newest;
    size_t n = sizeof(header) + key.n + bytes.n;
    ssize_t written;

    spool_header_write(header, key, bytes);
    written = pwritev(s->fd, v, 3, (off_t)p->size);
    if (written == (ssize_t)n) {
        p->size += n;
        s->file_bytes += n;
        count(s, p, 1, (int64_t)bytes.n);
        pthread_cond_signal(&s->changed);
        return true;
    }
    error_set_os(err, "write", s->dir, written < 0 ? errno : ENOSPC);
    if (ftruncate(s->fd, (off_t)p->size) != 0)
        close_newest(s); /* nothing more goes into that file */
    return false;
}

bool spool_add(struct spool *s, struct str key, struct str bytes,
               struct error *err)
{
    bool ok = key.n <= SPOOL_KEY_MAX && bytes.n <= SPOOL_BYTES_MAX;

    if (!ok)
        return error_set(err, "an object is too large");
    pthread_mutex_lock(&s->lock);
    if (s->file_bytes + SPOOL_HEADER + key.n + bytes.n > s->max_bytes)
        ok = error_set_code(err, ENOSPC, "the spool is full");
    ok = ok && begin_part(s, err) && append(s, key, bytes, err);
    pthread_mutex_unlock(&s->lock);
    return ok;
}

/* --- taking --------------------------------------------------------------- */

static bool read_at(int fd, void *out, size_t n, uint64_t at)
{
    char *to = out;

    while (n > 0) {
        ssize_t got = pread(fd, to, n, (off_t)at);

        if (got <= 0)
            return false;
        to += got;
        at += (uint64_t)got;
        n -= (size_t)got;
    }
    return true;
}

/* The record at `at`. */
struct found {
    enum { FOUND, DAMAGED, UNREADABLE } what;
    uint64_t used;    /* its length, 0 if that is damaged, too */
    uint64_t bytes_n; /* of the object */
};

static struct found read_record(int fd, uint64_t at, uint64_t size,
                                struct spool_item *out)
{
    unsigned char header[SPOOL_HEADER];
    struct found f = {.what = DAMAGED};
    uint64_t key_n;
    char *to;

    if (!read_at(fd, header, sizeof(header), at))
        return (struct found){.what = UNREADABLE};
    if (!spool_header_read(header, &key_n, &f.bytes_n) ||
        at + sizeof(header) + key_n + f.bytes_n > size)
        return f;
    f.used = sizeof(header) + key_n + f.bytes_n;
    out->room = BUF_INIT(ROOM_MAX);
    to = buf_reserve(&out->room, (size_t)(key_n + f.bytes_n));
    f.what = UNREADABLE;
    if (!to ||
        !read_at(fd, to, (size_t)(key_n + f.bytes_n), at + sizeof(header)))
        return f;
    out->room.len = (size_t)(key_n + f.bytes_n);
    out->key = str_first(buf_str(&out->room), (size_t)key_n);
    out->bytes = str_skip(buf_str(&out->room), (size_t)key_n);
    f.what = spool_header_fits(header, out->key, out->bytes) ? FOUND : DAMAGED;
    return f;
}

static struct part *first_waiting(struct spool *s)
{
    for (struct part *p = s->oldest; p; p = p->next)
        if (p->at < p->size)
            return p;
    return NULL;
}

/* A record that is damaged is left out, and all that follow if its length is
 * damaged, too. */
static void skip(struct spool *s, struct part *p, const struct found *f)
{
    s->stats.damaged++;
    if (f->used) {
        p->at += f->used;
        count(s, p, -1, -(int64_t)f->bytes_n);
    } else {
        p->at = p->size;
        count(s, p, (int64_t)(p->open - p->objects),
              (int64_t)(p->open_bytes - p->bytes));
    }
    remove_if_done(s, p);
}

/* With both locks held; lets go of `lock` while it reads.  False: look
 * again. */
static bool take_from(struct spool *s, struct part *p, struct spool_item *out)
{
    struct timespec later;
    struct found f = {.what = UNREADABLE};
    uint64_t at = p->at, size = p->size;
    int fd;

    pthread_mutex_unlock(&s->lock);
    fd = open_part(s, p->number, O_RDONLY);
    if (fd >= 0) {
        f = read_record(fd, at, size, out);
        close(fd);
    }
    pthread_mutex_lock(&s->lock);
    if (f.what == FOUND) {
        p->at += f.used;
        p->open++;
        p->open_bytes += f.bytes_n;
        out->file = p;
        return true;
    }
    buf_release(&out->room);
    if (f.what == DAMAGED) {
        skip(s, p, &f);
    } else { /* no memory, no file descriptor, a bad disk */
        later = clock_timespec(clock_realtime_ns() + SECOND);
        pthread_cond_timedwait(&s->changed, &s->lock, &later);
    }
    return false;
}

bool spool_take(struct spool *s, struct spool_item *out)
{
    bool ok = false;

    *out = (struct spool_item){0};
    pthread_mutex_lock(&s->reading);
    pthread_mutex_lock(&s->lock);
    while (!ok && !s->stops) {
        struct part *p = first_waiting(s);

        if (p)
            ok = take_from(s, p, out);
        else
            pthread_cond_wait(&s->changed, &s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_unlock(&s->reading);
    return ok;
}

void spool_finish(struct spool *s, struct spool_item *item, bool is_sent)
{
    struct part *p = item->file;

    pthread_mutex_lock(&s->lock);
    p->open--;
    p->open_bytes -= item->bytes.n;
    if (is_sent)
        count(s, p, -1, -(int64_t)item->bytes.n);
    else
        p->is_kept = true;
    remove_if_done(s, p);
    pthread_mutex_unlock(&s->lock);
    buf_release(&item->room);
}

void spool_stop(struct spool *s)
{
    pthread_mutex_lock(&s->lock);
    s->stops = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

void spool_get_stats(struct spool *s, struct spool_stats *out)
{
    pthread_mutex_lock(&s->lock);
    *out = s->stats;
    pthread_mutex_unlock(&s->lock);
}

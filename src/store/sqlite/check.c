/*
 * Verifies a store that no process has open: SQLite's own check of every file,
 * then every dictionary, block and row, then that what refers to each other is
 * there, and the log as a start would read it.
 */
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/build.h"
#include "store/pack.h"
#include "store/segment.h"
#include "store/sqlite/engine.h"

struct checking {
    void (*say)(void *arg, const char *finding);
    void *arg;
    struct store_check_result *out;
    const char *file;
};

static void found(struct checking *k, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void found(struct checking *k, const char *fmt, ...)
{
    char words[1024], line[2048];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(words, sizeof(words), fmt, ap);
    va_end(ap);
    snprintf(line, sizeof(line), "%s: %s", k->file, words);
    k->out->problems++;
    k->say(k->arg, line);
}

/* Calls row() for each row of a query; trouble with the query itself is a
 * finding. */
static void each_row(struct checking *k, sqlite3 *db, const char *sql,
                     int64_t a,
                     void (*row)(struct checking *k, sqlite3 *db,
                                 sqlite3_stmt *st, const void *arg),
                     const void *arg)
{
    struct error err;
    sqlite3_stmt *st = db_prepare(db, sql, &err);
    bool more = true, ok = st != NULL;

    if (ok && sqlite3_bind_parameter_count(st))
        sqlite3_bind_int64(st, 1, a);
    while (ok && (ok = db_step(db, st, &more, "read", &err)) && more)
        row(k, db, st, arg);
    if (!ok)
        found(k,
              "%s; restore the file from a backup, or delete it to lose "
              "this day only",
              err.text);
    sqlite3_finalize(st);
}

static void check_pages(struct checking *k, sqlite3 *db, sqlite3_stmt *st,
                        const void *arg)
{
    struct str words = db_column_str(st, 0);

    (void)db;
    (void)arg;
    if (!str_eq(words, STR("ok")))
        found(k, "%" STR_FMT, STR_ARG(words));
}

static void check_block(struct checking *k, sqlite3 *db, sqlite3_stmt *st,
                        const void *arg)
{
    const struct dict *d = arg;
    struct block_reader r = {0};
    struct error err;
    uint64_t profiles = 0;
    bool more = false, ok;

    (void)db;
    k->out->blocks++;
    ok = block_open(&r, db_column_str(st, 1), db_column_str(st, 2), true, d,
                    &err);
    while (ok && (ok = block_next(&r, &more, &err)) && more)
        profiles += r.meta.profiles;
    if (sqlite3_column_int(st, 4) == STORE_RAW)
        k->out->profiles += profiles;
    if (!ok)
        found(k, "block %lld, %lld profiles: %s",
              (long long)sqlite3_column_int64(st, 0),
              (long long)sqlite3_column_int64(st, 3), err.text);
    else if ((int64_t)profiles != sqlite3_column_int64(st, 3))
        found(k, "block %lld has %llu profiles instead of %lld",
              (long long)sqlite3_column_int64(st, 0),
              (unsigned long long)profiles,
              (long long)sqlite3_column_int64(st, 3));
    block_reader_release(&r);
}

static void check_segment(struct checking *k, sqlite3 *db, sqlite3_stmt *st,
                          const void *arg)
{
    struct dict d = {0};
    struct error err;

    (void)arg;
    k->out->segments++;
    if (!segment_unpack(db_column_str(st, 1), &d, &err)) {
        found(k, "segment %lld, %lld profiles: %s",
              (long long)sqlite3_column_int64(st, 0),
              (long long)sqlite3_column_int64(st, 2), err.text);
        return;
    }
    each_row(k, db,
             "SELECT id, meta, samples, n, level FROM block WHERE segment=?",
             sqlite3_column_int64(st, 0), check_block, &d);
    dict_release(&d);
}

static void report_row(struct checking *k, sqlite3 *db, sqlite3_stmt *st,
                       const void *arg)
{
    (void)db;
    found(k, "%s %lld", (const char *)arg,
          (long long)sqlite3_column_int64(st, 0));
}

static void check_blob(struct checking *k, sqlite3 *db, sqlite3_stmt *st,
                       const void *arg)
{
    struct buf out = BUF_INIT(STORE_BUF_BYTES);
    struct error err;

    (void)db;
    (void)arg;
    if (!unsqueeze(db_column_str(st, 0), (size_t)4 << 30, &out, &err))
        found(k, "an opaque profile: %s", err.text);
    buf_release(&out);
}

static void check_day(struct checking *k, sqlite3 *db)
{
    each_row(k, db, "PRAGMA integrity_check", 0, check_pages, NULL);
    each_row(k, db, "SELECT id, dict, profiles FROM segment", 0, check_segment,
             NULL);
    each_row(k, db,
             "SELECT id FROM block WHERE segment NOT IN (SELECT id FROM "
             "segment)",
             0, report_row, "no dictionary for block");
    each_row(k, db,
             "SELECT id FROM block WHERE series NOT IN (SELECT id FROM "
             "series)",
             0, report_row, "no series for block");
    each_row(k, db, "SELECT b FROM blob", 0, check_blob, NULL);
}

static void check_log(struct checking *k, sqlite3 *db, sqlite3_stmt *st,
                      const void *arg)
{
    struct str record = db_column_str(st, 1);
    uint64_t sum = 0;

    (void)db;
    (void)arg;
    if (record.n >= sizeof(sum))
        memcpy(&sum, record.s, sizeof(sum));
    if (record.n < sizeof(sum) ||
        sum != log_checksum(str_skip(record, sizeof(sum))))
        found(k,
              "row %lld of the log is damaged; profiles that arrived since "
              "the last seal may be lost",
              (long long)sqlite3_column_int64(st, 0));
}

static void check_head(struct checking *k, sqlite3 *db)
{
    each_row(k, db, "PRAGMA integrity_check", 0, check_pages, NULL);
    each_row(k, db, "SELECT seq, b FROM log", 0, check_log, NULL);
    each_row(k, db, "SELECT b FROM blob", 0, check_blob, NULL);
}

static void check_file(struct checking *k, const char *path, const char *name)
{
    bool head = strcmp(name, "head.db") == 0;
    struct error err;
    sqlite3 *db;

    k->file = path;
    k->out->files++;
    if (!db_open(path, false, "", &db, &err)) {
        found(k, "%s", err.text);
        return;
    }
    if (head)
        check_head(k, db);
    else
        check_day(k, db);
    sqlite3_close(db);
}

static bool is_ours(const char *name)
{
    size_t n = strlen(name);

    return n > 3 && strcmp(name + n - 3, ".db") == 0 &&
           (strcmp(name, "head.db") == 0 || strncmp(name, "day-", 4) == 0);
}

/* The rows of one segment, with their samples. */
static bool check_rows(struct checking *k, const struct open_segment *g,
                       struct error *err)
{
    struct open_reader r = {0};
    bool more, ok = true;

    for (uint32_t i = 0; ok && g && i < g->n_series; i++) {
        open_reader_begin(&r, g, i, true);
        while ((ok = open_reader_next(&r, &more, err)) && more)
            k->out->profiles += r.meta.profiles;
    }
    open_reader_release(&r);
    return ok;
}

static bool check_open(struct service *v, void *arg)
{
    struct checking *k = arg;
    struct error err;

    pthread_mutex_lock(&v->lock);
    if (!check_rows(k, v->sealing, &err) || !check_rows(k, v->open, &err))
        found(k, "service %" STR_FMT ", a profile in the log: %s",
              STR_ARG(v->name), err.text);
    pthread_mutex_unlock(&v->lock);
    return true;
}

/* Opening replays the log, and finds what it says of the day files. */
static void check_opened(struct checking *k, const char *dir, struct error *err)
{
    struct store_options o = store_default_options;
    struct store *s;

    o.dir = dir;
    o.no_background = true;
    k->file = dir;
    s = sqlite_store_open(&o, err);
    if (s)
        service_each(engine_of(s), check_open, k);
    else
        found(k, "the store cannot be opened: %s", err->text);
    store_close(s);
}

bool sqlite_store_check(const char *dir,
                        void (*say)(void *arg, const char *finding), void *arg,
                        struct store_check_result *out, struct error *err)
{
    struct checking k = {.say = say, .arg = arg, .out = out};
    struct dirent *e;
    DIR *d;
    char path[8192];
    int lock;

    *out = (struct store_check_result){0};
    if (!engine_lock(dir, &lock, err))
        return false;
    d = opendir(dir);
    while (d && (e = readdir(d))) {
        snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
        if (is_ours(e->d_name))
            check_file(&k, path, e->d_name);
    }
    if (d)
        closedir(d);
    close(lock);
    if (out->files)
        check_opened(&k, dir, err);
    if (out->problems)
        error_set(err, "%llu problems found",
                  (unsigned long long)out->problems);
    return out->problems == 0;
}

/*
 * Every file has the same settings and is marked with an application id and
 * the version of its layout, so that a foreign or newer file is refused with a
 * sentence instead of being misread.
 */
#include "store/sqlite/db.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* In every file of ours: which program, and which version of the layout. */
enum { APPLICATION = 0x70707266, VERSION = 2 };

bool db_fail(sqlite3 *db, const char *what, struct error *err)
{
    const char *path = sqlite3_db_filename(db, "main");

    return error_set(err, "%s %s: %s", what, path ? path : "database",
                     sqlite3_errmsg(db));
}

bool db_exec(sqlite3 *db, const char *sql, struct error *err)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK)
        return true;
    return db_fail(db, "write", err);
}

bool db_number(sqlite3 *db, const char *sql, int64_t *out, struct error *err)
{
    sqlite3_stmt *st = db_prepare(db, sql, err);
    bool more, ok;

    if (!st)
        return false;
    ok = db_step(db, st, &more, "open", err);
    *out = ok && more ? sqlite3_column_int64(st, 0) : 0;
    sqlite3_finalize(st);
    return ok;
}

/* WAL mode comes last: before it everything is in the file itself, and closing
 * has nothing left to write. */
static bool set_up(sqlite3 *db, const char *schema, struct error *err)
{
    char sql[128];

    snprintf(sql, sizeof(sql),
             "PRAGMA application_id=%d;PRAGMA user_version=%d;", APPLICATION,
             VERSION);
    return db_exec(db,
                   "PRAGMA synchronous=FULL;PRAGMA page_size=4096;"
                   "PRAGMA auto_vacuum=INCREMENTAL",
                   err) &&
           db_exec(db, "BEGIN IMMEDIATE", err) && db_exec(db, schema, err) &&
           db_exec(db, sql, err) && db_exec(db, "COMMIT", err) &&
           db_exec(db, "PRAGMA journal_mode=WAL", err);
}

static bool check_version(sqlite3 *db, const char *path, struct error *err)
{
    int64_t application, version;

    if (!db_number(db, "PRAGMA application_id", &application, err) ||
        !db_number(db, "PRAGMA user_version", &version, err))
        return false;
    if (application != APPLICATION)
        return error_set(err, "open %s: not a file of a profile store", path);
    if (version > VERSION)
        return error_set(err,
                         "open %s: the store has version %lld, this program "
                         "knows versions up to %d; use a newer pprofd",
                         path, (long long)version, VERSION);
    if (version < VERSION)
        return error_set(err,
                         "open %s: the store has version %lld, from before the "
                         "first release; use another directory",
                         path, (long long)version);
    return true;
}

static bool open_file(const char *path, int flags, sqlite3 **out,
                      struct error *err)
{
    sqlite3 *db = NULL;

    if (sqlite3_open_v2(path, &db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | flags,
                        NULL) != SQLITE_OK) {
        error_set(err, "open %s: %s", path,
                  db ? sqlite3_errmsg(db) : "out of memory");
        sqlite3_close(db);
        return false;
    }
    sqlite3_busy_timeout(db, 10000);
    *out = db;
    return true;
}

static void remove_file(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    char name[PATH_MAX];

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
        snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
        unlink(name);
    }
}

/* The entry of a file in its directory must be on disk, too. */
static void sync_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    char name[PATH_MAX];
    int fd;

    snprintf(name, sizeof(name), "%.*s", slash ? (int)(slash - path) : 1,
             slash ? path : ".");
    fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

/*
 * Makes a file under another name and renames it when it is complete.  So a
 * file with the right name is never half made, and one without tables is
 * damaged.
 */
static bool make_file(const char *path, const char *schema, struct error *err)
{
    char fresh[PATH_MAX];
    sqlite3 *db;
    bool ok;

    snprintf(fresh, sizeof(fresh), "%s" DB_UNFINISHED, path);
    remove_file(fresh);
    if (!open_file(fresh, SQLITE_OPEN_CREATE, &db, err))
        return false;
    ok = set_up(db, schema, err);
    if (sqlite3_close(db) != SQLITE_OK && ok)
        ok = error_set(err, "close %s: it is busy", fresh);
    if (ok && rename(fresh, path) != 0)
        ok = error_set_os(err, "rename", fresh, errno);
    if (!ok)
        remove_file(fresh);
    else
        sync_directory(path);
    return ok;
}

bool db_open(const char *path, bool create, const char *schema, sqlite3 **out,
             struct error *err)
{
    sqlite3 *db;

    if (create && access(path, F_OK) != 0 && errno == ENOENT &&
        !make_file(path, schema, err))
        return false;
    if (!open_file(path, 0, &db, err))
        return false;
    if (!check_version(db, path, err) ||
        !db_exec(db,
                 "PRAGMA synchronous=FULL;PRAGMA cache_size=-512;"
                 "PRAGMA wal_autocheckpoint=0;"
                 "PRAGMA journal_size_limit=1048576",
                 err)) {
        sqlite3_close(db);
        return false;
    }
    *out = db;
    return true;
}

sqlite3_stmt *db_prepare(sqlite3 *db, const char *sql, struct error *err)
{
    sqlite3_stmt *st;

    if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &st, NULL) ==
        SQLITE_OK)
        return st;
    db_fail(db, "read", err);
    return NULL;
}

/* An empty text must not become NULL. */
void db_bind_str(sqlite3_stmt *st, int i, struct str s)
{
    sqlite3_bind_blob64(st, i, s.n ? s.s : "", s.n, SQLITE_STATIC);
}

struct str db_column_str(sqlite3_stmt *st, int i)
{
    const void *bytes = sqlite3_column_blob(st, i);

    return str_of(bytes ? bytes : "", (size_t)sqlite3_column_bytes(st, i));
}

bool db_run(sqlite3 *db, sqlite3_stmt *st, const char *what, struct error *err)
{
    bool ok = sqlite3_step(st) == SQLITE_DONE;

    if (!ok)
        db_fail(db, what, err);
    sqlite3_reset(st);
    return ok;
}

bool db_step(sqlite3 *db, sqlite3_stmt *st, bool *more, const char *what,
             struct error *err)
{
    int rc = sqlite3_step(st);

    *more = rc == SQLITE_ROW;
    if (rc == SQLITE_ROW || rc == SQLITE_DONE)
        return true;
    db_fail(db, what, err);
    sqlite3_reset(st);
    return false;
}

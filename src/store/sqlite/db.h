#ifndef STORE_SQLITE_DB_H
#define STORE_SQLITE_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

/*
 * SQLite with our errors.  The error of a failed statement names the operation
 * and the file, and contains SQLite's message.
 */

/* Suffix of a file that is being created. */
#define DB_UNFINISHED ".new"

/* Opens a file in WAL mode; one that does not exist is made with `schema`.
 * Refuses files of another program or of a newer version. */
bool db_open(const char *path, bool create, const char *schema, sqlite3 **out,
             struct error *err);

/* Sets the error from the connection's last one.  Returns false. */
bool db_fail(sqlite3 *db, const char *what, struct error *err);

bool db_exec(sqlite3 *db, const char *sql, struct error *err);

/* The number that a query returns, 0 if it returns none. */
bool db_number(sqlite3 *db, const char *sql, int64_t *out, struct error *err);

/* A prepared statement; NULL on failure. */
sqlite3_stmt *db_prepare(sqlite3 *db, const char *sql, struct error *err);

void db_bind_str(sqlite3_stmt *st, int i, struct str s);
struct str db_column_str(sqlite3_stmt *st, int i);

/* Runs a statement that returns no rows, and resets it. */
bool db_run(sqlite3 *db, sqlite3_stmt *st, const char *what, struct error *err);

/* The next row: true with *more, false on failure. */
bool db_step(sqlite3 *db, sqlite3_stmt *st, bool *more, const char *what,
             struct error *err);

#endif

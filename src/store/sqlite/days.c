/*
 * Day files and connections to them.
 *
 * A file that is unlinked while somebody reads it stays readable through the
 * connections that are open; its entry goes when the last user does.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/grow.h"
#include "store/pack.h"
#include "store/sqlite/engine.h"

enum { IDLE_CONNECTIONS = 2 }; /* kept per file */

static const char schema[] =
    "CREATE TABLE service(id INTEGER PRIMARY KEY, name BLOB UNIQUE);"
    "CREATE TABLE series(id INTEGER PRIMARY KEY, service INTEGER, type BLOB,"
    " labels BLOB, UNIQUE(service, type, labels));"
    /* `summed` has a bit for each level whose sums are complete. */
    "CREATE TABLE segment(id INTEGER PRIMARY KEY, service INTEGER,"
    " t0 INTEGER, t1 INTEGER, profiles INTEGER, nodes INTEGER,"
    " names INTEGER, bytes INTEGER, summed INTEGER DEFAULT 0, dict BLOB);"
    "CREATE INDEX segment_service ON segment(service, summed, t0, profiles);"
    "CREATE TABLE block(id INTEGER PRIMARY KEY, series INTEGER,"
    " segment INTEGER, level INTEGER, t0 INTEGER, t1 INTEGER, n INTEGER,"
    " posted INTEGER, bytes INTEGER, meta BLOB, samples BLOB);"
    "CREATE INDEX block_series ON block(series, level, t0, t1, segment, n,"
    " posted, bytes);"
    "CREATE INDEX block_segment ON block(segment);"
    "CREATE TABLE id(key INTEGER, series INTEGER, t INTEGER,"
    " PRIMARY KEY(key, series, t)) WITHOUT ROWID;"
    "CREATE TABLE blob(id BLOB PRIMARY KEY, series INTEGER, b BLOB);"
    "CREATE TABLE sealed(service BLOB, generation INTEGER,"
    " PRIMARY KEY(service, generation)) WITHOUT ROWID;";

static const char *const statements[DAY_STATEMENTS] = {
    [DAY_SERVICE] = "SELECT id FROM service WHERE name=?",
    [DAY_SERIES] = "SELECT id, type, labels FROM series WHERE service=?",
    [DAY_BLOCKS] = "SELECT id, segment, n, t0, t1 FROM block WHERE series=? "
                   "AND t1>=? AND t0<=? AND level=?",
    [DAY_ANY_BLOCK] = "SELECT 1 FROM block WHERE series=? AND level=? LIMIT 1",
    [DAY_BLOCK] = "SELECT meta, samples FROM block WHERE id=?",
    [DAY_DICT] = "SELECT dict FROM segment WHERE id=?",
    [DAY_ID] = "SELECT series, t FROM id WHERE key=?",
    [DAY_SERVICE_OF] = "SELECT service.name, series.type, series.labels FROM "
                       "series JOIN service ON "
                       "service.id=series.service WHERE series.id=?",
    [DAY_BLOB] = "SELECT b FROM blob WHERE id=?",
    [DAY_SEALED] = "SELECT 1 FROM sealed WHERE service=? AND generation=?",
    [DAY_SUMMED] = "SELECT 1 WHERE NOT EXISTS(SELECT 1 FROM segment JOIN "
                   "service ON service.id=segment.service WHERE "
                   "service.name=? AND segment.summed & ? = 0)",
};

/* A profile's own clock may be anywhere; files are made for days near ours
 * only, and know which times they really hold. */
int32_t day_number(const struct sqlite_store *s, int64_t created_ns)
{
    int32_t today = (int32_t)(engine_now(s) / DAY);
    int64_t day = created_ns / DAY;

    if (day > today + 1)
        return today + 1;
    return day < today - 4000 ? today - 4000 : (int32_t)day;
}

static struct day *day_new(const struct sqlite_store *s, int32_t number,
                           enum store_level level)
{
    size_t n = strlen(s->dir) + 64;
    struct day *d = calloc(1, sizeof(*d) + n);
    time_t t = (time_t)number * 86400;
    struct tm tm;

    if (!d)
        return NULL;
    gmtime_r(&t, &tm);
    d->number = number;
    d->level = level;
    d->t0_ns = INT64_MAX;
    d->t1_ns = INT64_MIN;
    snprintf(d->path, n, "%s/day-%04d%02d%02d.db", s->dir, tm.tm_year + 1900,
             tm.tm_mon + 1, tm.tm_mday);
    return d;
}

static void conn_free(struct day_conn *c)
{
    for (int i = 0; i < DAY_STATEMENTS; i++)
        sqlite3_finalize(c->st[i]);
    sqlite3_close(c->db);
    free(c);
}

static void day_free(struct day *d)
{
    while (d->idle) {
        struct day_conn *c = d->idle;

        d->idle = c->next;
        conn_free(c);
    }
    free(d);
}

void days_free(struct sqlite_store *s)
{
    for (size_t i = 0; i < s->n_days; i++)
        day_free(s->days[i]);
    free(s->days);
}

/* Where the day is or belongs; under the lock. */
static size_t find_day(const struct sqlite_store *s, int32_t number,
                       enum store_level level)
{
    size_t i = 0;

    while (i < s->n_days &&
           (s->days[i]->number < number ||
            (s->days[i]->number == number && s->days[i]->level < level)))
        i++;
    return i;
}

static bool insert_day(struct sqlite_store *s, struct day *d)
{
    size_t at = find_day(s, d->number, d->level);

    if (!grow(&s->days, &s->days_cap, s->n_days + 1))
        return false;
    memmove(s->days + at + 1, s->days + at,
            (s->n_days - at) * sizeof(*s->days));
    s->days[at] = d;
    s->n_days++;
    return true;
}

/* An entry for each level of the file, and whether it can be opened at all.
 * An empty one has one for the profiles that will come. */
static bool load_levels(struct sqlite_store *s, struct day *d,
                        struct error *err)
{
    struct day_conn *c = day_connect(s, d, err);
    sqlite3_stmt *st = c ? db_prepare(c->db,
                                      "SELECT level, min(t0), max(t1) FROM "
                                      "block GROUP BY level",
                                      err)
                         : NULL;
    bool more, ok = st != NULL, any = false;

    while (ok && (ok = db_step(c->db, st, &more, "read", err)) && more) {
        int64_t level = sqlite3_column_int64(st, 0);
        struct day *x = level == STORE_RAW ? d : NULL;

        if (level < 0 || level >= STORE_LEVELS)
            continue;
        if (!x)
            x = day_new(s, d->number, (enum store_level)level);
        ok = x && insert_day(s, x);
        if (!ok) {
            if (x != d)
                free(x);
            error_set(err, "out of memory");
            break;
        }
        x->t0_ns = sqlite3_column_int64(st, 1);
        x->t1_ns = sqlite3_column_int64(st, 2);
        any = true;
    }
    sqlite3_finalize(st);
    if (c)
        day_disconnect(s, d, c);
    if (ok && !any)
        ok = insert_day(s, d) || error_set(err, "out of memory");
    return ok;
}

static bool is_listed(const struct sqlite_store *s, const struct day *d)
{
    size_t at = find_day(s, d->number, d->level);

    return at < s->n_days && s->days[at] == d;
}

static bool parse_name(const char *name, int32_t *number)
{
    struct tm tm = {0};
    int end = 0, year, month, day;

    if (sscanf(name, "day-%4d%2d%2d%n", &year, &month, &day, &end) != 3 ||
        strcmp(name + end, ".db") != 0)
        return false;
    tm.tm_year = year - 1900;
    tm.tm_mon = month - 1;
    tm.tm_mday = day;
    *number = (int32_t)(timegm(&tm) / 86400);
    return true;
}

bool days_load(struct sqlite_store *s, struct error *err)
{
    DIR *dir = opendir(s->dir);
    struct dirent *e;
    bool ok = dir != NULL;

    while (ok && (e = readdir(dir))) {
        int32_t number;
        struct day *d;

        if (strstr(e->d_name, ".db" DB_UNFINISHED))
            unlinkat(dirfd(dir), e->d_name, 0);
        if (!parse_name(e->d_name, &number))
            continue;
        d = day_new(s, number, STORE_RAW);
        ok = d ? load_levels(s, d, err) : error_set(err, "out of memory");
        if (d && !is_listed(s, d))
            day_free(d);
    }
    if (dir)
        closedir(dir);
    return ok;
}

struct day *day_get(struct sqlite_store *s, int32_t number,
                    enum store_level level, bool create, struct error *err)
{
    struct day *d = NULL;
    size_t at;

    pthread_mutex_lock(&s->days_lock);
    at = find_day(s, number, level);
    if (at < s->n_days && s->days[at]->number == number &&
        s->days[at]->level == level)
        d = s->days[at];
    if (!d && create) {
        d = day_new(s, number, level);
        if (d && !insert_day(s, d)) {
            free(d);
            d = NULL;
        }
        if (!d)
            error_set(err, "out of memory");
    }
    if (d)
        d->users++;
    pthread_mutex_unlock(&s->days_lock);
    return d;
}

void day_use(struct sqlite_store *s, struct day *d)
{
    pthread_mutex_lock(&s->days_lock);
    d->users++;
    pthread_mutex_unlock(&s->days_lock);
}

void day_put(struct sqlite_store *s, struct day *d)
{
    bool gone;

    pthread_mutex_lock(&s->days_lock);
    gone = --d->users == 0 && d->dead;
    pthread_mutex_unlock(&s->days_lock);
    if (gone)
        day_free(d);
}

bool days_between(struct sqlite_store *s, enum store_level level,
                  int64_t from_ns, int64_t to_ns, struct day ***out, size_t *n)
{
    bool ok;

    *n = 0;
    pthread_mutex_lock(&s->days_lock);
    *out = malloc((s->n_days + 1) * sizeof(**out));
    ok = *out != NULL;
    for (size_t i = 0; ok && i < s->n_days; i++) {
        struct day *d = s->days[i];

        /* One that is being made has no times yet. */
        if (d->level == level && d->t0_ns <= d->t1_ns && d->t0_ns <= to_ns &&
            d->t1_ns >= from_ns) {
            d->users++;
            (*out)[(*n)++] = d;
        }
    }
    pthread_mutex_unlock(&s->days_lock);
    return ok;
}

bool days_all(struct sqlite_store *s, struct day ***out, size_t *n)
{
    *n = 0;
    pthread_mutex_lock(&s->days_lock);
    *out = malloc((s->n_days + 1) * sizeof(**out));
    for (; *out && *n < s->n_days; ++*n) {
        (*out)[*n] = s->days[*n];
        s->days[*n]->users++;
    }
    pthread_mutex_unlock(&s->days_lock);
    return *out != NULL;
}

struct day_conn *day_connect(struct sqlite_store *s, struct day *d,
                             struct error *err)
{
    struct day_conn *c;

    pthread_mutex_lock(&s->days_lock);
    c = d->idle;
    if (c) {
        d->idle = c->next;
        d->n_idle--;
    }
    pthread_mutex_unlock(&s->days_lock);
    if (c)
        return c;
    c = calloc(1, sizeof(*c));
    if (!c) {
        error_set(err, "out of memory");
        return NULL;
    }
    if (!db_open(d->path, !d->dead, schema, &c->db, err)) {
        free(c);
        return NULL;
    }
    return c;
}

void day_disconnect(struct sqlite_store *s, struct day *d, struct day_conn *c)
{
    pthread_mutex_lock(&s->days_lock);
    if (d->n_idle < IDLE_CONNECTIONS && !d->dead) {
        c->next = d->idle;
        d->idle = c;
        d->n_idle++;
        c = NULL;
    }
    pthread_mutex_unlock(&s->days_lock);
    if (c)
        conn_free(c);
}

sqlite3_stmt *day_statement(struct day_conn *c, enum day_statement which,
                            struct error *err)
{
    if (!c->st[which])
        c->st[which] = db_prepare(c->db, statements[which], err);
    return c->st[which];
}

void day_note(struct sqlite_store *s, struct day *d, int64_t t0, int64_t t1)
{
    pthread_mutex_lock(&s->days_lock);
    d->t0_ns = t0 < d->t0_ns ? t0 : d->t0_ns;
    d->t1_ns = t1 > d->t1_ns ? t1 : d->t1_ns;
    pthread_mutex_unlock(&s->days_lock);
}

/* A transaction moves few pages, so that its WAL stays short. */
void day_shrink(struct day_conn *c)
{
    int64_t unused = 0, before;
    struct error ignored;

    do {
        before = unused;
        if (!db_number(c->db, "PRAGMA freelist_count", &unused, &ignored))
            return;
        sqlite3_exec(c->db, "PRAGMA incremental_vacuum(256)", NULL, NULL, NULL);
        sqlite3_wal_checkpoint_v2(c->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL,
                                  NULL);
    } while (unused && unused != before);
}

/* Under the lock. */
static void take_out(struct sqlite_store *s, size_t at)
{
    s->days[at]->dead = true;
    s->n_days--;
    memmove(s->days + at, s->days + at + 1,
            (s->n_days - at) * sizeof(*s->days));
}

/* One that is not in use is closed at once. */
static void take_out_level(struct sqlite_store *s, int32_t number,
                           enum store_level level)
{
    size_t at = find_day(s, number, level);
    struct day *d = at < s->n_days ? s->days[at] : NULL;

    if (!d || d->number != number || d->level != level)
        return;
    take_out(s, at);
    if (!d->users)
        day_free(d);
}

void day_drop(struct sqlite_store *s, struct day *d)
{
    pthread_mutex_lock(&s->days_lock);
    take_out_level(s, d->number, d->level);
    pthread_mutex_unlock(&s->days_lock);
}

bool day_is_last(struct sqlite_store *s, const struct day *d)
{
    bool last = true;

    pthread_mutex_lock(&s->days_lock);
    for (size_t i = 0; i < s->n_days; i++)
        last = last && (s->days[i] == d || s->days[i]->number != d->number);
    pthread_mutex_unlock(&s->days_lock);
    return last;
}

void day_unlink(struct sqlite_store *s, struct day *d)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    char path[4096];

    pthread_mutex_lock(&s->days_lock);
    for (int level = 0; level < STORE_LEVELS; level++)
        take_out_level(s, d->number, (enum store_level)level);
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
        snprintf(path, sizeof(path), "%s%s", d->path, suffixes[i]);
        unlink(path);
    }
    pthread_mutex_unlock(&s->days_lock);
}

/*
 * Texts.
 */

static bool find_or_insert(sqlite3 *db, const char *find, const char *insert,
                           int64_t service, const struct str *texts, int n,
                           int64_t *out, struct error *err)
{
    const char *sql[] = {find, insert};

    for (int pass = 0; pass < 2; pass++) {
        sqlite3_stmt *st = db_prepare(db, sql[pass], err);
        bool more = false, ok = st != NULL;

        for (int i = 0; ok && i < n; i++)
            db_bind_str(st, i + 1, texts[i]);
        if (ok && service)
            sqlite3_bind_int64(st, n + 1, service);
        ok = ok && db_step(db, st, &more, "write", err);
        if (ok && more)
            *out = sqlite3_column_int64(st, 0);
        sqlite3_finalize(st);
        if (!ok || more)
            return ok;
    }
    *out = sqlite3_last_insert_rowid(db);
    return true;
}

bool day_add_service(sqlite3 *db, struct str name, int64_t *out,
                     struct error *err)
{
    return find_or_insert(db, "SELECT id FROM service WHERE name=?",
                          "INSERT INTO service(name) VALUES(?)", 0, &name, 1,
                          out, err);
}

bool day_add_series(sqlite3 *db, int64_t service, struct str type,
                    struct str labels, int64_t *out, struct error *err)
{
    struct str texts[] = {type, labels};

    return find_or_insert(
        db, "SELECT id FROM series WHERE type=? AND labels=? AND service=?",
        "INSERT INTO series(type, labels, service) VALUES(?,?,?)", service,
        texts, 2, out, err);
}

/* Ids made one after another are neighbours. */
int64_t id_key(const struct store_id *id)
{
    const unsigned char *b = id->bytes;
    uint64_t seconds = (uint64_t)b[0] << 24 | (uint64_t)b[1] << 16 |
                       (uint64_t)b[2] << 8 | b[3];
    uint64_t counter = (uint64_t)b[9] << 16 | (uint64_t)b[10] << 8 | b[11];

    return (int64_t)(seconds << 32 | counter << 8 | b[8]);
}

bool series_text(const struct dict *d, uint32_t series, struct str *type,
                 struct buf *labels)
{
    struct wire_reader r = unpack_begin(dict_get(d, DICT_SERIES, series));
    uint32_t id;

    if (!unpack_u32(&r, &id))
        return false;
    *type = dict_get(d, DICT_STRING, id);
    buf_clear(labels);
    while (wire_more(&r)) {
        if (!unpack_u32(&r, &id))
            return false;
        pack_bytes(labels, dict_get(d, DICT_STRING, id));
    }
    return buf_ok(labels);
}

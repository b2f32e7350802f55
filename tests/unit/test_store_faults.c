/*
 * What must not lose or corrupt anything: a process that is killed, a disk
 * that is full, memory that runs out, bytes that change, a second process.
 */
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "fail_alloc.h"
#include "random_profile.h"
#include "sketch.h"
#include "store_support.h"

static struct profile *numbered(int n)
{
    char text[200];

    snprintf(text, sizeof(text),
             "types samples/count cpu/nanoseconds\n"
             "main;work%d;step%d 1 10\nmain;rest %d %d\n",
             n % 50, n, n + 1, 10 * n + 10);
    return sketch(text);
}

static void say(void *arg, const char *finding)
{
    (void)arg;
    printf("# finding: %s\n", finding);
}

static void say_nothing(void *arg, const char *finding)
{
    (void)arg;
    (void)finding;
}

static bool is_clean(void)
{
    struct store_check_result result;
    struct error err;
    bool ok = sqlite_store_check(store_dir, say, NULL, &result, &err);

    if (!ok)
        printf("# check: %s\n", err.text);
    return ok;
}

/*
 * kill -9.  The child puts profiles without end and notes every id that was
 * acknowledged in shared memory.
 */
enum { MOST = 20000 };

struct acknowledged {
    _Atomic int n;
    struct store_id ids[MOST];
    int numbers[MOST];
};

static void child(struct acknowledged *shared, int first)
{
    static const struct store_retention rule = {.service = STR("old"),
                                                .max_age_ns = {1000000000}};
    struct store_options o = store_test_options();
    struct store *s;
    struct error err;

    o.no_background = false;
    o.seal_profiles = 20; /* be busy with sealing, too */
    o.compact_segments = 3;
    o.retention = &rule;
    o.n_retention = 1;
    s = sqlite_store_open(&o, &err);
    for (int i = first; s; i++) {
        struct profile *p = numbered(i);
        int at = shared->n;

        /* In the log beside the others, and in files that expire. */
        if (i % 2 && !put_profile(s, p, "old", "cpu", 1, NULL))
            _exit(1);
        if (!put_profile(s, p, i % 3 ? "api" : "web", "cpu", 0,
                         &shared->ids[at]))
            _exit(1);
        shared->numbers[at] = i;
        shared->n = at + 1;
        profile_free(p);
        if (at + 1 >= MOST)
            break;
    }
    _exit(s ? 0 : 1);
}

TEST(a_killed_process_loses_nothing_acknowledged)
{
    struct acknowledged *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const char *rounds = getenv("STORE_KILLS");
    int kills = rounds ? (int)strtol(rounds, NULL, 10) : 10;
    uint64_t state = random_seed();
    struct store *s;

    store_place();
    for (int i = 0; i < kills; i++) {
        pid_t pid = fork();

        if (pid == 0)
            child(shared, i * 100000);
        usleep(20000 + random_below(&state, 150000));
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    printf("# %d acknowledged\n", shared->n);
    EXPECT(shared->n > 0);
    EXPECT(is_clean());
    s = store_reopen(NULL);
    for (int i = 0; s && i < shared->n; i++) {
        struct profile *p = numbered(shared->numbers[i]);
        struct profile *got = NULL;
        struct error err;

        if (store_get(s, &shared->ids[i], &got, &err) != STORE_OK) {
            printf("# profile %d of %d: %s\n", i, (int)shared->n, err.text);
            EXPECT(false);
        }
        if (got)
            EXPECT(profiles_equal(got, p));
        profile_free(got);
        profile_free(p);
    }
    store_close(s);
    munmap(shared, sizeof(*shared));
    store_clean();
}

/*
 * A process that was killed after sealing and before trimming its log: the
 * log is that from before the sealing.
 */
static void copy_log(const char *from, const char *to)
{
    struct buf bytes = BUF_INIT((size_t)64 << 20);
    char path[8192];
    struct error err;

    snprintf(path, sizeof(path), "%s/%s", store_dir, from);
    EXPECT(file_read(path, &bytes, &err));
    snprintf(path, sizeof(path), "%s/%s", store_dir, to);
    EXPECT(file_write(path, buf_str(&bytes), &err));
    buf_release(&bytes);
}

TEST(what_follows_sealed_profiles_in_the_log_is_not_sealed)
{
    struct profile *p[2] = {numbered(1), numbered(2)};
    struct store_id ids[2];
    struct store *s;
    struct error err;

    store_place();
    s = store_reopen(NULL);
    EXPECT(put_profile(s, p[0], "api", "cpu", 0, &ids[0]));
    store_close(s);
    copy_log("head.db", "head.old");
    s = store_reopen(NULL);
    EXPECT(sqlite_store_seal_all(s, &err));
    store_close(s);
    copy_log("head.old", "head.db");
    s = store_reopen(NULL);
    EXPECT(put_profile(s, p[1], "api", "cpu", 0, &ids[1]));
    store_close(s);
    s = store_reopen(NULL);
    for (int i = 0; i < 2; i++) {
        EXPECT(stored_equals(s, &ids[i], p[i]));
        profile_free(p[i]);
    }
    store_close(s);
    EXPECT(is_clean());
    store_clean();
}

/*
 * A file system whose n-th write fails.
 */
static int writes_left = -1; /* -1: all succeed */
static bool keep_failing;

static int (*real_write)(sqlite3_file *, const void *, int, sqlite3_int64);
static int (*real_sync)(sqlite3_file *, int);
static int (*real_open)(sqlite3_vfs *, const char *, sqlite3_file *, int,
                        int *);
/* Files of different kinds have different methods. */
static struct {
    const sqlite3_io_methods *real;
    sqlite3_io_methods failing;
} methods[8];

static bool fails(void)
{
    if (writes_left < 0)
        return false;
    if (writes_left > 0) {
        writes_left--;
        return false;
    }
    if (!keep_failing)
        writes_left = -1;
    return true;
}

static int write_or_fail(sqlite3_file *f, const void *p, int n,
                         sqlite3_int64 at)
{
    return fails() ? SQLITE_FULL : real_write(f, p, n, at);
}

static int sync_or_fail(sqlite3_file *f, int flags)
{
    return fails() ? SQLITE_IOERR_FSYNC : real_sync(f, flags);
}

static int open_failing(sqlite3_vfs *vfs, const char *name, sqlite3_file *f,
                        int flags, int *out)
{
    int rc = real_open(vfs, name, f, flags, out);

    for (int i = 0; rc == SQLITE_OK && f->pMethods && i < 8; i++) {
        if (!methods[i].real) {
            methods[i].real = f->pMethods;
            methods[i].failing = *f->pMethods;
            real_write = f->pMethods->xWrite;
            real_sync = f->pMethods->xSync;
            methods[i].failing.xWrite = write_or_fail;
            methods[i].failing.xSync = sync_or_fail;
        }
        if (methods[i].real == f->pMethods) {
            f->pMethods = &methods[i].failing;
            break;
        }
    }
    return rc;
}

static void use_failing_files(void)
{
    static sqlite3_vfs vfs;

    if (real_open)
        return;
    sqlite3_initialize();
    vfs = *sqlite3_vfs_find(NULL);
    real_open = vfs.xOpen;
    vfs.xOpen = open_failing;
    vfs.zName = "failing";
    sqlite3_vfs_register(&vfs, 1);
}

/* Puts, seals and joins a little; counts what was acknowledged. */
static int live_a_little(struct store *s, struct store_id *ids, int *numbers)
{
    struct error err;
    int n = 0;

    for (int i = 0; i < 12; i++) {
        struct profile *p = numbered(i);
        struct buf bytes = BUF_INIT(BUF_NO_LIMIT);
        struct store_receipt receipt;
        struct store_put put;

        profile_encode(p, &bytes);
        put = put_of(buf_str(&bytes), "api", "cpu");
        put.created_at_ns = (int64_t)1700006400 * 1000000000 + i;
        fail_alloc_active = true;
        if (put_wait(s, &put, &receipt, &err) == STORE_OK) {
            ids[n] = receipt.id;
            numbers[n++] = i;
        }
        if (i % 4 == 3)
            sqlite_store_seal_all(s, &err);
        fail_alloc_active = false;
        buf_release(&bytes);
        profile_free(p);
    }
    fail_alloc_active = true;
    while (sqlite_store_work(s))
        continue;
    fail_alloc_active = false;
    return n;
}

static bool all_there(struct store *s, const struct store_id *ids,
                      const int *numbers, int n)
{
    bool ok = true;

    for (int i = 0; i < n; i++) {
        struct profile *p = numbered(numbers[i]);

        ok = stored_equals(s, &ids[i], p) && ok;
        profile_free(p);
    }
    return ok;
}

static void fail_writes(bool for_ever)
{
    struct store_id ids[12];
    int numbers[12], n = 0, acknowledged = 0;

    use_failing_files();
    keep_failing = for_ever;
    for (int at = 0; n < 12 && at < 400; at += 1 + at / 8) {
        struct store *s = (store_place(), store_reopen(NULL));

        writes_left = at;
        n = live_a_little(s, ids, numbers);
        acknowledged += n;
        writes_left = -1;
        EXPECT(all_there(s, ids, numbers, n)); /* it keeps serving */
        store_close(s);
        s = store_reopen(NULL);
        EXPECT(s && all_there(s, ids, numbers, n));
        store_close(s);
        EXPECT(is_clean());
        store_clean();
    }
    EXPECT(n == 12);
    printf("# %d acknowledged\n", acknowledged);
}

TEST(any_one_failed_write_loses_nothing_acknowledged)
{
    fail_writes(false);
}

TEST(a_full_disk_is_an_error_of_the_put)
{
    fail_writes(true);
}

TEST(any_failed_allocation_is_an_error_of_the_call)
{
    struct store_id ids[12];
    int numbers[12], n = 0;

    for (int at = 1; at < 6000; at += 1 + at / 6) {
        struct store *s = (store_place(), store_reopen(NULL));

        fail_alloc_at(at);
        n = live_a_little(s, ids, numbers);
        fail_alloc_at(0);
        EXPECT(all_there(s, ids, numbers, n));
        store_close(s);
        s = store_reopen(NULL);
        EXPECT(s && all_there(s, ids, numbers, n));
        store_close(s);
        store_clean();
    }
    EXPECT(n >= 11);
}

/*
 * Damage.
 */

static void put_some(int n)
{
    struct store *s = (store_place(), store_reopen(NULL));
    struct error err;

    for (int i = 0; i < n; i++) {
        struct profile *p = numbered(i);

        put_profile(s, p, "api", "cpu", (int64_t)1700006400 * 1000000000, NULL);
        profile_free(p);
    }
    EXPECT(sqlite_store_seal_all(s, &err));
    store_close(s);
}

static const char *day_file(void)
{
    static char path[8192];

    snprintf(path, sizeof(path), "%s/day-20231115.db", store_dir);
    return path;
}

/* Changes bytes in the middle of every page that has a blob. */
static void damage(const char *path, int64_t at)
{
    int fd = open(path, O_RDWR);
    unsigned char b[16];

    if (pread(fd, b, sizeof(b), at) == sizeof(b)) {
        for (size_t i = 0; i < sizeof(b); i++)
            b[i] ^= 0x5a;
        EXPECT(pwrite(fd, b, sizeof(b), at) == sizeof(b));
    }
    close(fd);
}

TEST(changed_bytes_are_found_and_never_believed)
{
    struct store_query q = everything();
    int detected = 0, tried = 0;
    struct stat st;

    put_some(50);
    EXPECT(stat(day_file(), &st) == 0);
    store_clean();
    for (int64_t at = 100; at < st.st_size; at += 4000) {
        struct store_check_result result;
        struct profile *p = NULL;
        struct error err;
        struct store *s;
        bool clean;

        put_some(50);
        damage(day_file(), at);
        fflush(stdout);
        clean = sqlite_store_check(store_dir, say_nothing, NULL, &result, &err);
        s = store_reopen(NULL);
        if (s && store_merge(s, &q, STORE_AS_SENT, NULL, &p, NULL, &err) ==
                     STORE_OK) {
            int64_t total = 0;

            for (size_t i = 0; i < p->n_samples; i++)
                total += p->values[2 * i];
            /* Either unharmed, or check has said so. */
            EXPECT(!clean || total == 50 + 50 * 51 / 2);
            profile_free(p);
        }
        store_close(s);
        detected += !clean;
        tried++;
        store_clean();
    }
    printf("# %d of %d changes were found\n", detected, tried);
    EXPECT(detected > 0);
}

TEST(a_damaged_log_is_refused_with_words)
{
    struct store *s = (store_place(), store_reopen(NULL));
    struct store_options o = store_test_options();
    struct profile *p = numbered(1);
    struct store_check_result result;
    char path[8192];
    struct error err;
    sqlite3 *db;

    put_profile(s, p, "api", "cpu", 0, NULL);
    store_close(s);
    snprintf(path, sizeof(path), "%s/head.db", store_dir);
    EXPECT(sqlite3_open(path, &db) == SQLITE_OK);
    EXPECT(sqlite3_exec(db,
                        "UPDATE log SET b=substr(b,1,20)||x'00'||substr(b,22)",
                        NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
    EXPECT(sqlite_store_open(&o, &err) == NULL);
    EXPECT_STR(str_from(err.text), "head.db: row 1 of the log is damaged; run "
                                   "`pprofd check`");
    EXPECT(!sqlite_store_check(store_dir, say_nothing, NULL, &result, &err));
    profile_free(p);
    store_clean();
}

static void expect_refused(const char *version, const char *words)
{
    struct store_options o;
    char path[8192], sql[64];
    struct error err;
    sqlite3 *db;

    store_place();
    o = store_test_options();
    store_close(store_reopen(NULL));
    snprintf(path, sizeof(path), "%s/head.db", store_dir);
    snprintf(sql, sizeof(sql), "PRAGMA user_version=%s", version);
    sqlite3_open(path, &db);
    sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_close(db);
    EXPECT(sqlite_store_open(&o, &err) == NULL);
    EXPECT(strstr(err.text, words));
    store_clean();
}

TEST(a_newer_or_older_store_is_refused)
{
    expect_refused("99", "the store has version 99, this program knows "
                         "versions up to 2; use a newer pprofd");
    expect_refused("1", "the store has version 1, from before the first "
                        "release; use another directory");
}

TEST(a_second_process_is_refused)
{
    struct store *s = (store_place(), store_reopen(NULL));
    struct store_options o = store_test_options();
    struct store_check_result result;
    struct error err;

    EXPECT(sqlite_store_open(&o, &err) == NULL);
    EXPECT(strstr(err.text, "another process has this store open"));
    EXPECT(!sqlite_store_check(store_dir, say_nothing, NULL, &result, &err));
    store_close(s);
    EXPECT(is_clean());
    store_clean();
}

TEST_MAIN

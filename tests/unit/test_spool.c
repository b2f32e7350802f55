/*
 * The archive's queue on disk: order, restarts, limits, damage.
 */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/archive/spool.h"

#define MANY ((uint64_t)1 << 30)

static char dir[] = "/tmp/test-spool-XXXXXX";

static struct spool *open_spool(uint64_t max_bytes)
{
    struct error err = {.text = ""};
    struct spool *s = spool_open(dir, max_bytes, &err);

    EXPECT_STR(str_from(err.text), "");
    return s;
}

static void add(struct spool *s, const char *key, const char *bytes)
{
    struct error err;

    EXPECT(spool_add(s, str_from(key), str_from(bytes), &err));
}

static void expect_next(struct spool *s, const char *key, const char *bytes,
                        bool is_sent)
{
    struct spool_item item;

    EXPECT(spool_take(s, &item));
    EXPECT_STR(item.key, key);
    EXPECT_STR(item.bytes, bytes);
    spool_finish(s, &item, is_sent);
}

static uint64_t waiting(struct spool *s)
{
    struct spool_stats stats;

    spool_get_stats(s, &stats);
    return stats.objects;
}

/* Of the spool's directory; `keep` false: deletes them. */
static int files(bool keep)
{
    DIR *d = opendir(dir);
    struct dirent *e;
    int n = 0;

    while ((e = readdir(d)))
        if (e->d_name[0] != '.') {
            n++;
            if (!keep)
                unlinkat(dirfd(d), e->d_name, 0);
        }
    closedir(d);
    return n;
}

static void begin(void)
{
    static bool is_made;

    if (!is_made)
        EXPECT(mkdtemp(dir));
    is_made = true;
    files(false);
}

TEST(a_directory_that_is_not_there)
{
    char below[100], path[120];
    struct error err = {.text = ""};
    struct spool *s;

    begin();
    snprintf(below, sizeof(below), "%s/below", dir);
    snprintf(path, sizeof(path), "%s/it", below);
    s = spool_open(path, MANY, &err);
    EXPECT(s);
    add(s, "a", "one");
    expect_next(s, "a", "one", true);
    spool_free(s);
    EXPECT(rmdir(path) == 0 && rmdir(below) == 0);
}

TEST(first_in_first_out)
{
    struct spool *s;

    begin();
    s = open_spool(MANY);
    add(s, "a", "one");
    add(s, "b", "");
    EXPECT(waiting(s) == 2);
    expect_next(s, "a", "one", true);
    add(s, "c", "three");
    expect_next(s, "b", "", true);
    expect_next(s, "c", "three", true);
    EXPECT(waiting(s) == 0);
    EXPECT(files(true) == 0);
    add(s, "d", "four");
    expect_next(s, "d", "four", true);
    spool_free(s);
    EXPECT(files(true) == 0);
}

TEST(what_is_not_sent_is_there_again)
{
    struct spool *s;

    begin();
    s = open_spool(MANY);
    add(s, "a", "one");
    add(s, "b", "two");
    expect_next(s, "a", "one", false);
    spool_free(s);
    s = open_spool(MANY);
    EXPECT(waiting(s) == 2);
    add(s, "c", "three");
    expect_next(s, "a", "one", true);
    expect_next(s, "b", "two", true);
    expect_next(s, "c", "three", true);
    spool_free(s);
    EXPECT(files(true) == 0);
}

TEST(full)
{
    struct spool *s;
    struct error err;

    begin();
    s = open_spool(2 * (SPOOL_HEADER + 4));
    add(s, "a", "one");
    add(s, "b", "two");
    EXPECT(!spool_add(s, STR("c"), STR(""), &err) && err.code == ENOSPC);
    EXPECT(waiting(s) == 2);
    expect_next(s, "a", "one", true);
    expect_next(s, "b", "two", true);
    add(s, "c", "six"); /* there is room again */
    expect_next(s, "c", "six", true);
    spool_free(s);
}

/* Changes a byte of the only file, or cuts it. */
static void harm(off_t at, bool cuts)
{
    char path[100];
    DIR *d = opendir(dir);
    struct dirent *e;
    int fd;
    char c;

    while ((e = readdir(d)) && e->d_name[0] == '.')
        ;
    EXPECT(e);
    snprintf(path, sizeof(path), "%s/%.60s", dir, e->d_name);
    closedir(d);
    fd = open(path, O_RDWR);
    EXPECT(fd >= 0);
    EXPECT(pread(fd, &c, 1, at) == 1);
    c ^= 1;
    EXPECT(cuts ? ftruncate(fd, at) == 0 : pwrite(fd, &c, 1, at) == 1);
    close(fd);
}

static void expect_after_harm(off_t at, bool cuts, const char *left)
{
    struct spool *s;
    struct spool_stats stats;

    begin();
    s = open_spool(MANY);
    add(s, "a", "one");
    add(s, "b", "two");
    add(s, "c", "six");
    spool_free(s);
    harm(at, cuts);
    s = open_spool(MANY);
    add(s, "z", "new");
    for (; *left; left++) {
        struct spool_item item;

        EXPECT(spool_take(s, &item));
        EXPECT(item.key.n == 1 && item.key.s[0] == *left);
        spool_finish(s, &item, true);
    }
    spool_get_stats(s, &stats);
    EXPECT(stats.objects == 0 && stats.bytes == 0 && stats.damaged > 0);
    spool_free(s);
    EXPECT(files(true) == 0);
}

TEST(damage)
{
    const off_t record = SPOOL_HEADER + 4;

    expect_after_harm(3 * record - 1, true, "abz"); /* cut short */
    expect_after_harm(2 * record + 3, true, "abz");
    expect_after_harm(record, false, "az");          /* no record */
    expect_after_harm(record + 8, false, "az");      /* another length */
    expect_after_harm(2 * record - 1, false, "acz"); /* other bytes */
    expect_after_harm(record + 16, false, "acz");    /* another checksum */
    expect_after_harm(record + SPOOL_HEADER, false, "acz"); /* another key */
}

static void *take_all(void *arg)
{
    struct spool *s = arg;
    struct spool_item item;
    uintptr_t n = 0;

    while (spool_take(s, &item)) {
        n++;
        spool_finish(s, &item, true);
    }
    return (void *)n;
}

TEST(several_threads_and_files)
{
    enum { THREADS = 4, OBJECTS = 3000, BYTES = 4096 };
    static char bytes[BYTES];
    pthread_t threads[THREADS];
    struct spool *s;
    struct error err;
    uintptr_t sum = 0;

    begin();
    s = open_spool(MANY);
    for (int i = 0; i < THREADS; i++)
        EXPECT(pthread_create(&threads[i], NULL, take_all, s) == 0);
    for (int i = 0; i < OBJECTS; i++)
        EXPECT(spool_add(s, STR("key"), str_of(bytes, BYTES), &err));
    while (waiting(s) > 0)
        usleep(1000);
    spool_stop(s);
    for (int i = 0; i < THREADS; i++) {
        void *n;

        pthread_join(threads[i], &n);
        sum += (uintptr_t)n;
    }
    EXPECT(sum == OBJECTS);
    EXPECT(files(true) == 0);
    spool_free(s);
    rmdir(dir);
}

TEST_MAIN

#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/gzip.h"
#include "message.h"
#include "profile/decode.h"
#include "profile/encode.h"
#include "profile/proto.h"
#include "profile/read.h"
#include "sketch.h"

#define ONE_SAMPLE                                                             \
    "1{1=1 2=2} 2{1=1 2=5} 4{1=1 4{1=1}} 5{1=1 2=3} 6: 6:a 6:b 6:main"

static struct error err;

static struct buf gzipped(const char *text)
{
    struct buf raw = message(text), z = BUF_INIT(BUF_NO_LIMIT);

    EXPECT(gzip_deflate(buf_str(&raw), &z, &err));
    buf_release(&raw);
    return z;
}

static void expect_read(int line, struct profile *p)
{
    if (p) {
        sketch_expect(__FILE__, line, p, "main 5\n");
    } else {
        test_failed = true;
        printf("# line %d: %s\n", line, err.text);
    }
    profile_free(p);
}

#define EXPECT_READ(p) expect_read(__LINE__, (p))

static void expect_fault(int line, struct profile *p, const char *want)
{
    if (p) {
        test_failed = true;
        printf("# line %d: was read\n", line);
    }
    test_expect_str(__FILE__, line, str_from(err.text), str_from(want));
    profile_free(p);
}

#define EXPECT_FAULT(p, want) expect_fault(__LINE__, (p), (want))

static struct profile *read_message(const char *text)
{
    struct buf b = message(text);
    struct profile *p = profile_read_memory(buf_str(&b), NULL, &err);

    buf_release(&b);
    return p;
}

TEST(plain_and_gzipped_bytes_are_read)
{
    struct buf z = gzipped(ONE_SAMPLE);

    EXPECT_READ(read_message(ONE_SAMPLE));
    EXPECT_READ(profile_read_memory(buf_str(&z), NULL, &err));
    buf_release(&z);
}

TEST(a_profile_may_come_in_several_gzip_members)
{
    struct buf z = gzipped("1{1=1 2=2} 2{1=1 2=5} 4{1=1 4{1=1}}");
    struct buf y = gzipped("5{1=1 2=3} 6: 6:a 6:b 6:main");

    buf_add(&z, buf_str(&y));
    EXPECT_READ(profile_read_memory(buf_str(&z), NULL, &err));
    buf_release(&z);
    buf_release(&y);
}

TEST(gzip_is_unwrapped_once)
{
    struct buf z = gzipped(ONE_SAMPLE), zz = BUF_INIT(BUF_NO_LIMIT);

    EXPECT(gzip_deflate(buf_str(&z), &zz, &err));
    EXPECT_FAULT(profile_read_memory(buf_str(&zz), NULL, &err),
                 "parsing profile: unrecognized profile format");
    buf_release(&z);
    buf_release(&zz);
}

TEST(bytes_that_are_not_protobuf_are_tried_as_older_formats)
{
    struct profile *p = profile_read_memory(
        STR("goroutine profile: total 3\n3 @ 0x10 0x20\n"), NULL, &err);

    EXPECT(p && p->n_samples == 1 && p->values[0] == 3);
    profile_free(p);
}

TEST(errors_tell_the_stage)
{
    EXPECT_FAULT(profile_read_memory(STR("\x1f\x8b"), NULL, &err),
                 "decompressing profile: unexpected EOF");
    EXPECT_FAULT(profile_read_memory(STR(""), NULL, &err),
                 "parsing profile: empty input file");
    EXPECT_FAULT(profile_read_memory(STR("nonsense"), NULL, &err),
                 "parsing profile: unrecognized profile format");
    EXPECT_FAULT(read_message("6: 9=1 9=2"),
                 "parsing profile: concatenated profiles detected");
    EXPECT_FAULT(read_message("6: 2{}"),
                 "malformed profile: missing sample type information");
}

TEST(limits_are_enforced_at_every_stage)
{
    struct profile_limits limits = profile_default_limits;
    struct buf z = gzipped(ONE_SAMPLE), raw = message(ONE_SAMPLE);
    struct str both[] = {buf_str(&z), buf_str(&raw)};

    for (int i = 0; i < 2; i++) {
        limits = profile_default_limits;
        limits.input_bytes = both[i].n - 1;
        EXPECT(!profile_read_memory(both[i], &limits, &err));
        EXPECT(strstr(err.text, "the limit is"));
        limits.input_bytes++;
        EXPECT_READ(profile_read_memory(both[i], &limits, &err));
        limits.samples = 0;
        EXPECT_FAULT(profile_read_memory(both[i], &limits, &err),
                     "parsing profile: 1 samples, the limit is 0");
    }
    limits = profile_default_limits;
    limits.inflated_bytes = raw.len - 1;
    EXPECT(!profile_read_memory(both[0], &limits, &err));
    EXPECT(
        str_has_prefix(str_from(err.text),
                       STR("decompressing profile: more than the limit of ")));
    limits.inflated_bytes++;
    EXPECT_READ(profile_read_memory(both[0], &limits, &err));
    buf_release(&z);
    buf_release(&raw);
}

TEST(files_and_descriptors_are_read)
{
    char path[] = "/tmp/test-read-XXXXXX";
    int fd = mkstemp(path), ends[2];
    struct buf z = gzipped(ONE_SAMPLE), raw = message(ONE_SAMPLE);
    struct profile_limits limits = profile_default_limits;

    EXPECT(file_write_fd(fd, path, buf_str(&z), &err));
    EXPECT_READ(profile_read_file(path, NULL, &err));
    EXPECT(lseek(fd, 0, SEEK_SET) == 0);
    EXPECT_READ(profile_read_fd(fd, NULL, &err));
    limits.input_bytes = 20;
    EXPECT(!profile_read_file(path, &limits, &err));
    EXPECT(strstr(err.text, "larger than the limit of 20 bytes"));
    limits.input_bytes = z.len - 1;
    EXPECT(!profile_read_file(path, &limits, &err));
    limits.input_bytes = z.len;
    EXPECT_READ(profile_read_file(path, &limits, &err));
    EXPECT(ftruncate(fd, 0) == 0);
    EXPECT_FAULT(profile_read_file(path, NULL, &err),
                 "parsing profile: empty input file");
    close(fd);
    unlink(path);
    EXPECT(pipe(ends) == 0);
    EXPECT(file_write_fd(ends[1], "pipe", buf_str(&raw), &err));
    close(ends[1]);
    EXPECT_READ(profile_read_fd(ends[0], NULL, &err));
    close(ends[0]);
    EXPECT_FAULT(profile_read_file("/no/such/file", NULL, &err),
                 "open /no/such/file: no such file or directory");
    EXPECT(!profile_read_file("/tmp", NULL, &err)); /* a directory */
    buf_release(&z);
    buf_release(&raw);
}

#define TABLES "1{1=1 2=2} 4{1=1 4{1=1}} 4{1=2} 5{1=1 2=3} 6: 6:a 6:b 6:main "

static enum decode_verdict verdict;

/* So many samples that their bytes are given back underway. */
static struct buf many_samples(const char *behind)
{
    struct buf b = BUF_INIT(BUF_NO_LIMIT);
    const uint64_t stack[] = {1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2};

    for (uint64_t i = 0; i < 300000; i++) {
        size_t mark = wire_open(&b, PROTO_SAMPLE);

        wire_add_u64s(&b, PROTO_SAMPLE_LOCATION, stack, 3 + i % 10);
        wire_add_u64(&b, PROTO_SAMPLE_VALUE, i * i * i);
        wire_close(&b, mark);
    }
    message_add(&b, TABLES);
    message_add(&b, behind);
    return b;
}

TEST(bytes_that_are_consumed_give_the_same_profile)
{
    struct buf b = many_samples("");
    struct profile *p =
        profile_decode(buf_str(&b), &profile_default_limits, &verdict, &err);
    struct profile *q =
        profile_decode_consume(&b, &profile_default_limits, &verdict, &err);
    size_t frames = p->loc_start[p->n_samples];

    EXPECT(q && q->n_samples == p->n_samples);
    EXPECT(b.data == NULL);
    EXPECT(memcmp(p->stack, q->stack, frames * sizeof(*p->stack)) == 0);
    EXPECT(memcmp(p->values, q->values, p->n_samples * sizeof(*p->values)) ==
           0);
    profile_free(p);
    profile_free(q);
}

TEST(bytes_that_are_consumed_are_kept_for_other_readers)
{
    struct buf b = message("6: 15=7");

    EXPECT(
        !profile_decode_consume(&b, &profile_default_limits, &verdict, &err));
    EXPECT(verdict == DECODE_NOT_PROTO && b.len == 4);
    buf_release(&b);
    /* unless too much of them is gone already */
    b = many_samples("2{3{1=99}}");
    EXPECT(
        !profile_decode_consume(&b, &profile_default_limits, &verdict, &err));
    EXPECT(verdict == DECODE_REFUSED && b.data == NULL);
    EXPECT_STR(str_from(err.text), "unrecognized profile format");
}

/* One profile through reading and writing twice. */
static bool is_stable(const char *path)
{
    struct buf first = BUF_INIT(BUF_NO_LIMIT), second = first;
    struct profile *p = profile_read_file(path, NULL, &err), *q;
    bool same;

    if (!p)
        return true; /* one of the bad ones */
    profile_encode(p, &first);
    q = profile_read_memory(buf_str(&first), NULL, &err);
    if (q)
        profile_encode(q, &second);
    same = q && str_eq(buf_str(&first), buf_str(&second));
    profile_free(p);
    profile_free(q);
    buf_release(&first);
    buf_release(&second);
    return same;
}

TEST(the_whole_corpus_is_stable_through_reading_and_writing)
{
    const char *shared = getenv("PPROF_SHARED");
    char dir[4096], path[8192];
    const struct dirent *entry;
    int n = 0;
    DIR *d;

    /* Tests run in the build directory. */
    snprintf(dir, sizeof(dir), "%s/golden/inputs",
             shared ? shared : "../../shared");
    d = opendir(dir);
    if (!d) {
        TEST_SKIP("no recorded profiles at ../shared/golden");
        return;
    }
    while ((entry = readdir(d))) {
        if (entry->d_type == DT_DIR)
            continue;
        snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
        if (!is_stable(path)) {
            test_failed = true;
            printf("# not stable: %s\n", entry->d_name);
        }
        n++;
    }
    closedir(d);
    EXPECT(n > 100);
}

TEST_MAIN

#include "test.h"

#include "profile/encode.h"
#include "profile/read.h"
#include "sketch.h"

static const char small[] = "types samples/count cpu/nanoseconds\n"
                            "period cpu/nanoseconds 10\n"
                            "map /bin/app 1000-5000 build\n"
                            "main;/bin/app!read<copy@io.c:7 2 20 k=v n:3\n"
                            "main;a;b;c -1 0\n";

static struct profile *reread(const struct profile *p)
{
    struct buf bytes = BUF_INIT(BUF_NO_LIMIT);
    struct error err = {""};
    struct profile *q;

    EXPECT(profile_encode_gzip(p, &bytes, &err));
    q = profile_read_memory(buf_str(&bytes), NULL, &err);
    EXPECT_STR(str_from(err.text), "");
    buf_release(&bytes);
    return q;
}

TEST(what_is_written_reads_back_the_same)
{
    struct profile *p = sketch(small), *q = reread(p);
    char *want = sketch_of(p);

    EXPECT_SKETCH(q, want);
    free(want);
    profile_free(p);
    profile_free(q);
}

TEST_MAIN

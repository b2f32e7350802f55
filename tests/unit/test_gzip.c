#include "test.h"

#include <stdlib.h>

#include "base/gzip.h"
#include "fail_realloc.h"

static struct buf gzipped(struct str bytes)
{
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct error err;

    EXPECT(gzip_deflate(bytes, &out, &err));
    return out;
}

/* The error of inflating, or "". */
static const char *inflate(struct str bytes, struct buf *out)
{
    static struct error err;

    buf_clear(out);
    err.text[0] = '\0';
    EXPECT(gzip_inflate(bytes, out, &err) == (err.text[0] == '\0'));
    return err.text;
}

static void expect_error(int line, struct str bytes, const char *want)
{
    struct buf out = BUF_INIT(1 << 20);

    test_expect_str(__FILE__, line, str_from(inflate(bytes, &out)),
                    str_from(want));
    buf_release(&out);
}

#define EXPECT_ERROR(bytes, want) expect_error(__LINE__, (bytes), (want))

/* A header with these flags, and what follows it. */
#define HEADER(flags, rest) STR("\x1f\x8b\x08" flags "\0\0\0\0\0\xff" rest)
#define MEMBER(body)        HEADER("\0", body)

/* An empty stored block, its checksum and size. */
#define EMPTY "\1\0\0\xff\xff\0\0\0\0\0\0\0\0"

TEST(two_bytes_tell_gzip)
{
    EXPECT(gzip_detect(STR("\x1f\x8b")));
    EXPECT(!gzip_detect(STR("\x1f")));
    EXPECT(!gzip_detect(STR("\x1f\x8c\x08")));
}

TEST(what_is_deflated_inflates)
{
    const size_t sizes[] = {0, 1, 100, 1 << 20, (1 << 20) + 1, 5 << 20};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        char *bytes = calloc(sizes[i] + 1, 1);
        struct buf z, out = BUF_INIT(BUF_NO_LIMIT);

        for (size_t k = 0; k < sizes[i]; k++)
            bytes[k] = (char)(k * k >> 7);
        z = gzipped(str_of(bytes, sizes[i]));
        EXPECT_STR(str_from(inflate(buf_str(&z), &out)), "");
        EXPECT(str_eq(buf_str(&out), str_of(bytes, sizes[i])));
        buf_release(&z);
        buf_release(&out);
        free(bytes);
    }
}

TEST(members_are_joined_whatever_size_the_last_one_tells)
{
    char *large = calloc(3 << 20, 1);
    struct buf z = gzipped(str_of(large, 3 << 20)), y = gzipped(STR("end"));
    struct buf out = BUF_INIT(BUF_NO_LIMIT);

    buf_add(&z, buf_str(&y));
    EXPECT_STR(str_from(inflate(buf_str(&z), &out)), "");
    EXPECT(out.len == (3 << 20) + 3);
    EXPECT_STR(str_skip(buf_str(&out), 3 << 20), "end");
    buf_release(&z);
    buf_release(&y);
    buf_release(&out);
    free(large);
}

TEST(inflating_appends)
{
    struct buf z = gzipped(STR("world")), out = BUF_INIT(64);
    struct error err;

    buf_add(&out, STR("hello "));
    EXPECT(gzip_inflate(buf_str(&z), &out, &err));
    EXPECT_STR(buf_str(&out), "hello world");
    buf_release(&z);
    buf_release(&out);
}

TEST(a_bomb_costs_the_limit_and_no_more)
{
    const size_t limit = 1 << 20;
    char *zeros = calloc(64 << 20, 1);
    struct buf z = gzipped(str_of(zeros, 64 << 20)), out = BUF_INIT(limit);

    free(zeros);
    EXPECT_STR(str_from(inflate(buf_str(&z), &out)),
               "more than the limit of 1048576 bytes after inflating");
    EXPECT(out.cap <= limit + limit / 2);
    buf_release(&out);
    buf_release(&z);
}

TEST(a_size_that_the_trailer_makes_up_reserves_little)
{
    struct buf z = gzipped(STR("text")), out = BUF_INIT((size_t)1 << 40);

    memset(z.data + z.len - 4, 0xff, 4);
    EXPECT_STR(str_from(inflate(buf_str(&z), &out)), "gzip: invalid checksum");
    EXPECT(out.cap < 1 << 20);
    buf_release(&out);
    buf_release(&z);
}

TEST(exactly_the_limit_is_allowed)
{
    struct buf z = gzipped(STR("12345")), out = BUF_INIT(5);

    EXPECT_STR(str_from(inflate(buf_str(&z), &out)), "");
    out.max = 4;
    EXPECT_STR(str_from(inflate(buf_str(&z), &out)),
               "more than the limit of 4 bytes after inflating");
    buf_release(&z);
    buf_release(&out);
}

TEST(every_shorter_piece_ends_unexpectedly)
{
    struct buf z = gzipped(STR("a text that is compressed, compressed it is"));

    for (size_t n = 0; n < z.len; n++)
        EXPECT_ERROR(str_first(buf_str(&z), n), "unexpected EOF");
    buf_release(&z);
}

TEST(optional_parts_of_the_header_are_skipped)
{
    EXPECT_ERROR(HEADER("\x04", "\2\0ab" EMPTY), "");
    EXPECT_ERROR(HEADER("\x08", "name\0" EMPTY), "");
    EXPECT_ERROR(HEADER("\x10", "words\0" EMPTY), "");
    EXPECT_ERROR(HEADER("\x1c", "\0\0name\0words\0" EMPTY), "");
    EXPECT_ERROR(HEADER("\xe1", EMPTY), ""); /* mean nothing to Go */
}

TEST(the_checksum_of_a_header_must_fit)
{
    EXPECT_ERROR(HEADER("\x02", "\x90\xc9" EMPTY), "");
    EXPECT_ERROR(HEADER("\x02", "\x91\xc9" EMPTY), "gzip: invalid header");
    EXPECT_ERROR(HEADER("\x02", "\x90"), "unexpected EOF");
}

TEST(names_are_at_most_511_bytes_long)
{
    for (size_t n = 510; n <= 513; n++) {
        struct buf z = BUF_INIT(1024);

        buf_add(&z, HEADER("\x08", ""));
        buf_add_pad(&z, 'n', n);
        buf_add_char(&z, '\0');
        buf_add(&z, STR(EMPTY));
        EXPECT_ERROR(buf_str(&z), n <= 511 ? "" : "gzip: invalid header");
        buf_release(&z);
    }
}

TEST(headers_that_are_not_gzip_are_told)
{
    EXPECT_ERROR(STR("\x1f\x8b\x07\0\0\0\0\0\0\xff" EMPTY),
                 "gzip: invalid header");
    EXPECT_ERROR(MEMBER(EMPTY "garbage, and more of it"),
                 "gzip: invalid header");
    EXPECT_ERROR(MEMBER(EMPTY "short"), "unexpected EOF");
}

TEST(checksums_and_sizes_must_fit)
{
    EXPECT_ERROR(MEMBER("\1\0\0\xff\xff\0\0\0\1\0\0\0\0"),
                 "gzip: invalid checksum");
    EXPECT_ERROR(MEMBER("\1\0\0\xff\xff\0\0\0\0\1\0\0\0"),
                 "gzip: invalid checksum");
}

/* The offsets are those at which Go's reader stops. */
TEST(corrupt_streams_are_told_with_the_offset)
{
    /* a block of the type that does not exist */
    EXPECT_ERROR(MEMBER("\7"), "flate: corrupt input before offset 1");
    /* the length of a stored block and its complement differ */
    EXPECT_ERROR(MEMBER("\1\0\0\0\0"), "flate: corrupt input before offset 5");
    /* one byte, then a copy from two bytes before */
    EXPECT_ERROR(MEMBER("\x4b\x04\x42"),
                 "flate: corrupt input before offset 3");
    /* the 31st distance, the 287th length: they do not exist */
    EXPECT_ERROR(MEMBER("\x4b\x04\x3e\0"),
                 "flate: corrupt input before offset 3");
    EXPECT_ERROR(MEMBER("\x1b\x03\0"), "flate: corrupt input before offset 2");
    /* too many literal codes; a code without symbols */
    EXPECT_ERROR(MEMBER("\xfd\0\0"), "flate: corrupt input before offset 3");
    EXPECT_ERROR(MEMBER("\5\0\0\0"), "flate: corrupt input before offset 4");
}

TEST(no_flipped_bit_goes_unnoticed)
{
    struct buf z = gzipped(STR("abcabcabcabcabcabcabcabcabcabcabcabc"));
    struct buf out = BUF_INIT(1 << 20);

    for (size_t bit = 10 * 8; bit < (z.len - 8) * 8; bit++) {
        z.data[bit / 8] = (char)(z.data[bit / 8] ^ 1 << bit % 8);
        EXPECT(inflate(buf_str(&z), &out)[0] != '\0');
        z.data[bit / 8] = (char)(z.data[bit / 8] ^ 1 << bit % 8);
    }
    buf_release(&out);
    buf_release(&z);
}

TEST(out_of_memory_is_an_error)
{
    struct buf z, out = BUF_INIT(BUF_NO_LIMIT);
    struct error err;

    fail_realloc_at(1);
    EXPECT(!gzip_deflate(STR("some bytes"), &out, &err));
    EXPECT_STR(str_from(err.text), "out of memory for gzip");
    fail_realloc_at(0);
    buf_release(&out);
    z = gzipped(STR("some bytes"));
    fail_realloc_at(1);
    EXPECT(!gzip_inflate(buf_str(&z), &out, &err));
    EXPECT_STR(str_from(err.text), "out of memory for 10 inflated bytes");
    fail_realloc_at(0);
    buf_release(&z);
    buf_release(&out);
}

TEST_MAIN

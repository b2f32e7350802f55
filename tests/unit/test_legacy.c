/*
 * gperftools' CPU profiles, heap text, Go's counts, thread dumps and lock
 * contention.  Memory maps have a test of their own, and so has Java.
 */
#include "test.h"

#include "legacy_dump.h"

#define FAKE     "1: 0-ffffffffffffffff+0 \n"
#define NOT_MINE "error: unrecognized profile format"

/* CPU profiles as words, written in any form. */
static struct str words(struct buf *b, size_t size, bool big_endian,
                        const uint64_t *values, size_t n)
{
    buf_clear(b);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < size; k++)
            buf_add_char(
                b, (char)(values[i] >> 8 * (big_endian ? size - 1 - k : k)));
    return buf_str(b);
}

#define WORDS(b, ...)                                                          \
    words(b, 8, false, (const uint64_t[]){__VA_ARGS__},                        \
          sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

TEST(unknown_bytes_are_declined)
{
    EXPECT_DUMP(STR(""), NOT_MINE);
    EXPECT_DUMP(STR("hello\n"), NOT_MINE);
}

TEST(cpu_words_have_any_size_and_order)
{
    static const uint64_t profile[] = {
        0, 3, 0, 10000, 0, 5, 2, 0x1000, 0x2001, 7, 1, 0x3000, 0, 1, 0,
    };
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    for (int form = 0; form < 4; form++)
        EXPECT_DUMP(words(&b, form & 1 ? 4 : 8, form & 2, profile, 15),
                    "samples/count cpu/nanoseconds\n"
                    "period 10000000 cpu/nanoseconds\n"
                    "5 50000000: 0x1000@1 0x2000@1\n"
                    "7 70000000: 0x3000@1\n" FAKE);
    buf_release(&b);
}

TEST(cpu_header_must_be_exact)
{
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    EXPECT_DUMP(WORDS(&b, 0, 3, 0, 1), NOT_MINE);
    EXPECT_DUMP(WORDS(&b, 1, 3, 0, 1, 0), NOT_MINE);
    EXPECT_DUMP(WORDS(&b, 0, 2, 0, 1, 0), NOT_MINE);
    EXPECT_DUMP(WORDS(&b, 0, 3, 2, 1, 0), NOT_MINE);
    EXPECT_DUMP(WORDS(&b, 0, 3, 0, 0, 0), NOT_MINE);
    EXPECT_DUMP(WORDS(&b, 0, 3, 0, 1, 1), NOT_MINE);
    EXPECT_DUMP(WORDS(&b, 0, 3, 0, 1, 0), "samples/count cpu/nanoseconds\n"
                                          "period 1000 cpu/nanoseconds\n");
    buf_release(&b);
}

TEST(cpu_record_deeper_than_the_file_is_declined)
{
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    EXPECT_DUMP(WORDS(&b, 0, 3, 0, 1, 0, 1, 5, 0x10, 0x20), NOT_MINE);
    EXPECT_DUMP(WORDS(&b, 0, 3, 0, 1, 0, 1), NOT_MINE);
    buf_release(&b);
}

TEST(cpu_record_of_8_byte_words_cut_off_gets_zeros)
{
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    EXPECT_DUMP(WORDS(&b, 0, 3, 0, 1, 0, 1, 1, 0x5, 1, 4, 0x10, 0x21),
                "samples/count cpu/nanoseconds\n"
                "period 1000 cpu/nanoseconds\n"
                "1 1000: 0x5@1\n"
                "1 1000: 0x10@1 0x20@1 0xffffffffffffffff@1 "
                "0xffffffffffffffff@1\n" FAKE);
    buf_release(&b);
}

TEST(cpu_values_wrap)
{
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    EXPECT_DUMP(WORDS(&b, 0, 3, 0, UINT64_MAX / 2, 0, UINT64_MAX, 1, 5),
                "samples/count cpu/nanoseconds\n"
                "period -1000 cpu/nanoseconds\n"
                "-1 1000: 0x5@1\n" FAKE);
    buf_release(&b);
}

TEST(cpu_signal_handler_is_removed_twice_not_thrice)
{
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    EXPECT_DUMP(WORDS(&b, 0, 3, 0, 1, 0, 1, 5, 0x10, 0x101, 0x201, 0x301, 0x51,
                      1, 4, 0x30, 0x101, 0x201, 0x301, 0, 1, 0),
                "samples/count cpu/nanoseconds\n"
                "period 1000 cpu/nanoseconds\n"
                "1 1000: 0x10@1 0x300@1 0x50@1\n"
                "1 1000: 0x30@1 0x300@1\n" FAKE);
    buf_release(&b);
}

TEST(cpu_one_sample_in_32_may_lack_the_handler)
{
    uint64_t v[5 + 64 * 4] = {0, 3, 0, 1, 0};
    struct profile *p;
    struct error err;
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    for (size_t different = 2; different <= 3; different++) {
        for (size_t i = 0; i < 64; i++) {
            uint64_t *record = v + 5 + i * 4;

            record[0] = 1;
            record[1] = 2;
            record[2] = 0x1000 + i * 16;
            record[3] = i < different ? 0x5001 + i * 16 : 0x9001;
        }
        p = profile_parse_legacy(words(&b, 8, false, v, 5 + 64 * 4),
                                 &profile_default_limits, &err);
        EXPECT(p && profile_depth(p, 0) == 2);
        EXPECT(p && profile_depth(p, 63) == (different == 2 ? 1 : 2));
        profile_free(p);
    }
    buf_release(&b);
}

TEST(cpu_leaf_that_is_there_twice_is_removed)
{
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    EXPECT_DUMP(WORDS(&b, 0, 3, 0, 1, 0, 1, 3, 0x10, 0x10, 0x21, 1, 1, 0x30, 1,
                      2, 0x30, 0x41, 0, 1, 0),
                "samples/count cpu/nanoseconds\n"
                "period 1000 cpu/nanoseconds\n"
                "1 1000: 0x10@1 0x20@1\n"
                "1 1000: 0x30@1\n"
                "1 1000: 0x30@1 0x40@1\n" FAKE);
    buf_release(&b);
}

TEST(cpu_map_needs_no_title)
{
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    WORDS(&b, 0, 3, 0, 1, 0, 1, 1, 0x10, 0, 1, 0);
    buf_add(&b, STR("10-20 r-xp 0 00:00 0 /bin/x\n"));
    EXPECT_DUMP(buf_str(&b), "samples/count cpu/nanoseconds\n"
                             "period 1000 cpu/nanoseconds\n"
                             "1 1000: 0x10@1\n"
                             "1: 10-20+0 /bin/x\n");
    buf_release(&b);
}

#define HEAP(kind)       "heap profile: 3: 40 [3: 40] @ " kind "\n"
#define HEAP_ALLOC(kind) "heap profile: 3: 40 [5: 80] @ " kind "\n"
#define HEAP_TYPES(rate)                                                       \
    "objects/count space/bytes\nperiod " rate " space/bytes\n"

TEST(heap_that_was_not_sampled_is_taken_as_it_is)
{
    EXPECT_DUMP(STR(HEAP("heapprofile") " 3: 40 [ 3: 40] @ 0x11 0x21\n"),
                HEAP_TYPES("1") "3 40: 0x10@1 0x20@1 bytes=13\n" FAKE);
    EXPECT_DUMP(STR(HEAP("growthz") "3: 40 [3: 40] @ 0x11\n"),
                HEAP_TYPES("1") "3 40: 0x10@1 bytes=13\n" FAKE);
    EXPECT_DUMP(STR(HEAP("fragmentation") "3: 40 [3: 40] @\n"),
                HEAP_TYPES("1") "3 40: bytes=13\n");
    EXPECT_DUMP(STR(HEAP("heap_v2") "3: 40 [3: 40] @ 0x11\n"),
                HEAP_TYPES("0") "3 40: 0x10@1 bytes=13\n" FAKE);
}

TEST(heap_samples_are_scaled_by_their_probability)
{
    EXPECT_DUMP(STR(HEAP("heap_v2/524288") "1: 524288 [1: 524288] @ 0x11\n"
                                           "0: 0 [0: 0] @ 0x11\n"
                                           "-2: 0 [1: 1] @ 0x11\n"),
                HEAP_TYPES("524288") "1 829411: 0x10@1 bytes=524288\n"
                                     "0 0: 0x10@1 bytes=0\n"
                                     "0 0: 0x10@1 bytes=0\n" FAKE);
    /* Twice the rate is what "heap" alone has. */
    EXPECT_DUMP(STR(HEAP("heap/1048577") "1: 524288 [1: 524288] @ 0x11\n"),
                HEAP_TYPES("524288") "1 829411: 0x10@1 bytes=524288\n" FAKE);
    EXPECT_DUMP(STR(HEAP("heapz_v2/1") "7: 7 [7: 7] @\n"),
                HEAP_TYPES("1") "7 7: bytes=1\n");
}

/* The figures are google/pprof's on x86-64; libm's exp() gives another last
 * digit for the second. */
TEST(heap_is_scaled_to_the_last_byte)
{
    EXPECT_DUMP(STR(HEAP("heap_v2/524288") "1000000: 16000000 [0: 0] @\n"
                                           "1000000: 15914000000 [0: 0] @\n"),
                HEAP_TYPES("524288") "32768500002 524296000040: bytes=16\n"
                                     "33447609 532285253243: bytes=15914\n");
}

TEST(heap_shows_allocations_when_they_differ)
{
    EXPECT_DUMP(STR(HEAP_ALLOC("heapprofile") "3: 40 [5: 85] @ 0x11\n"),
                "alloc_objects/count alloc_space/bytes "
                "inuse_objects/count inuse_space/bytes\n"
                "period 1 space/bytes\n"
                "5 85 3 40: 0x10@1 bytes=13\n" FAKE);
    EXPECT_DUMP(STR("heap profile: 3: 40 [0: 0] @ heapprofile\n"),
                HEAP_TYPES("1"));
    /* Compared as text. */
    EXPECT_DUMP(STR("heap profile: 3: 40 [03: 40] @ heapprofile\n"),
                "alloc_objects/count alloc_space/bytes "
                "inuse_objects/count inuse_space/bytes\n"
                "period 1 space/bytes\n");
    /* The size of a block that is not in use is that of the allocations. */
    EXPECT_DUMP(STR(HEAP_ALLOC("heapprofile") "0: 0 [5: 85] @\n"),
                "alloc_objects/count alloc_space/bytes "
                "inuse_objects/count inuse_space/bytes\n"
                "period 1 space/bytes\n"
                "5 85 0 0: bytes=17\n");
}

TEST(heap_numbers_in_use_may_be_negative)
{
    EXPECT_DUMP(STR(HEAP("heapprofile") "-3: -40 [1: 1] @ 0x11\n"
                                        "x--1: -9223372036854775808 [1:1] @\n"),
                HEAP_TYPES("1") "-3 -40: 0x10@1 bytes=13\n"
                                "-1 -9223372036854775808: "
                                "bytes=-9223372036854775808\n" FAKE);
}

TEST(heap_header_may_stand_anywhere_in_the_line)
{
    EXPECT_DUMP(STR("I: heap profile:1:2[1:2]@heapprofile etc\n"),
                HEAP_TYPES("1"));
    EXPECT_DUMP(STR("heap profile: heap profile: 1: 2 [ 1: 2 ]  @ heap_v2/8"),
                HEAP_TYPES("8"));
}

TEST(heap_headers_of_other_kinds_are_declined)
{
    EXPECT_DUMP(STR(HEAP("heap_v3/8")), NOT_MINE);
    EXPECT_DUMP(STR(HEAP("stack")), NOT_MINE);
    EXPECT_DUMP(STR(HEAP("heap_v2/99999999999999999999")), NOT_MINE);
    EXPECT_DUMP(STR("heap profile: 1: -2 [1: 2] @ heap\n"), NOT_MINE);
    EXPECT_DUMP(STR("heap profile: 1: 2 [1: 2]@growth\n"), NOT_MINE);
    EXPECT_DUMP(STR("\n" HEAP("heap")), NOT_MINE);
}

TEST(heap_lines_that_are_no_sample_are_named)
{
    EXPECT_DUMP(STR(HEAP("heap") "# comment\n\n  \nnonsense\n"),
                "error: unexpected number of sample values: got 0, want 6");
    EXPECT_DUMP(STR(HEAP("heap") "0: 5 [1: 1] @\n"),
                "error: inuse count was 0 but inuse bytes was 5");
    EXPECT_DUMP(STR(HEAP_ALLOC("heap") "0: 5 [0: 7] @\n"),
                "error: allocation count was 0 but allocation bytes was 7");
    EXPECT_DUMP(STR(HEAP("heap") " 9223372036854775808: 5 [1: 1] @ \n"),
                "error: malformed sample: 9223372036854775808: 5 [1: 1] @: "
                "strconv.ParseInt: parsing \"9223372036854775808\": "
                "value out of range");
    EXPECT_DUMP(STR(HEAP("heap") "1: 5 [1: 1] @ 0x1ffffffffffffffff\n"),
                "error: malformed sample: 1: 5 [1: 1] @ 0x1ffffffffffffffff: "
                "failed to parse as hex 64-bit number: 0x1ffffffffffffffff");
}

TEST(addresses_are_lower_case_behind_0x)
{
    EXPECT_DUMP(STR(HEAP("heapprofile") "1: 1 [1: 1] @ 0x2a 2b 00x2c 0x 0x2dX "
                                        "0x2e\n"),
                HEAP_TYPES("1") "1 1: 0x29@1 0x2b@1 0x2c@1 bytes=1\n" FAKE);
}

TEST(count_profiles_have_the_name_as_type)
{
    EXPECT_DUMP(STR("# hello\n\ngoroutine profile: total 3\n"
                    "2 @ 0x11 0x21\n\n# x\n010 @ 0x11\n"),
                "goroutine/count\nperiod 1 goroutine/count\n"
                "2: 0x10@1 0x20@1\n"
                "8: 0x10@1\n" FAKE);
    EXPECT_DUMP(STR("g profile: total 3\r\n2 @ 0x11\r\n---\r\n"
                    "MAPPED_LIBRARIES:\r\n10-20 x /y\r\n"),
                "g/count\nperiod 1 g/count\n2: 0x10@1\n1: 10-20+0 /y\n");
}

TEST(count_header_must_be_the_whole_line)
{
    EXPECT_DUMP(STR("g profile: total 3 \n"), NOT_MINE);
    EXPECT_DUMP(STR(" g profile: total 3\n"), NOT_MINE);
    EXPECT_DUMP(STR("g x profile: total 3\n"), NOT_MINE);
    EXPECT_DUMP(STR("g profile: total\n"), NOT_MINE);
}

TEST(count_lines_that_are_no_sample_are_refused)
{
    static const char *const lines[] = {
        "2 @",
        "2 @ 0x",
        "2 @ 0x1A",
        "2 @ 0x1 ",
        "2 @  0x1",
        "2  @ 0x1",
        " 2 @ 0x1",
        "-2 @ 0x1",
        "08 @ 0x1",
        "2 @ 0x1ffffffffffffffff",
        "9223372036854775808 @ 0x1",
    };
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        buf_clear(&b);
        buf_addf(&b, "g profile: total 3\n%s\n", lines[i]);
        EXPECT_DUMP(buf_str(&b), "error: malformed profile format");
    }
    buf_release(&b);
}

#define THREAD  "--- Thread 7f01 (name: a b/12) stack: ---\n"
#define THREADS "thread/count\nperiod 1 thread/count\n"

TEST(threads_are_counted_and_their_leaves_not_moved)
{
    static const char dump[] =
        "\n--- threadz 1 ---\n\nsome words\n" THREAD
        "  PC: 0x10 0x21: f(0x31)\n"
        " 0x41\n" THREAD " [same as previous thread] 0x5\n" THREAD "\n" THREAD
        " 0x60 0x60 0x70\n"
        "--- Memory map: ---\n"
        "10-80 x /x\n";

    EXPECT_DUMP(str_from(dump), THREADS "3: 0x10@1 0x20@1 0x30@1 0x40@1\n"
                                        "1: 0x60@1 0x6f@1\n"
                                        "1: 10-80+0 /x\n");
}

TEST(threads_need_no_dump_header_and_may_have_no_stacks)
{
    EXPECT_DUMP(STR(THREAD "0x10\n---- no stack trace for 1\nwhatever\n"),
                THREADS "1: 0x10@1\n" FAKE);
    EXPECT_DUMP(STR("--- threadz 1 ---\nMAPPED_LIBRARIES:\n"), THREADS);
    /* A repetition of nothing. */
    EXPECT_DUMP(STR(THREAD "---- no stack trace for 1"), THREADS);
}

TEST(threads_that_are_cut_off_are_declined)
{
    EXPECT_DUMP(STR(THREAD "0x10\n"), NOT_MINE);
    EXPECT_DUMP(STR(THREAD "0x10\n--- other\n"), NOT_MINE);
    EXPECT_DUMP(STR("--- threadz 1 ---\n"), NOT_MINE);
    EXPECT_DUMP(STR("--- threadz x ---\n"), NOT_MINE);
    EXPECT_DUMP(STR("--- Thread 7g (name: a/1) stack: ---\n"), NOT_MINE);
    EXPECT_DUMP(STR("--- Thread 7f (name: a/) stack: ---\n"), NOT_MINE);
    EXPECT_DUMP(STR("--- Thread 7f (name: 1) stack: ---\n"), NOT_MINE);
    EXPECT_DUMP(STR("--- Thread 7f (name: a/b12) stack: ---\n"), NOT_MINE);
}

TEST(threads_with_impossible_addresses_are_named)
{
    EXPECT_DUMP(STR(THREAD "  at 0x1ffffffffffffffff \n"),
                "error: malformed sample: at 0x1ffffffffffffffff: failed to "
                "parse as hex 64-bit number: 0x1ffffffffffffffff");
}

#define CONTENTION "contentions/count delay/nanoseconds\n"

TEST(contention_delays_are_cycles)
{
    EXPECT_DUMP(STR("--- contentionz 1 ---\ncycles/second = 2000000000\n"
                    "sampling period = 0x10\nms since reset = 1_5\n"
                    "discarded samples = -\n# x\n\n"
                    "  1000   3 @ 0x11 0x21\n"),
                CONTENTION "period 16 contentions/count\nduration 15000000\n"
                           "48 8000: 0x10@1 0x20@1\n" FAKE);
}

TEST(contention_of_go_has_nanoseconds)
{
    EXPECT_DUMP(STR("--- mutex:\nsampling period=5\n7 2 @ 0x11\n"),
                CONTENTION "period 5 contentions/count\n10 7: 0x10@1\n" FAKE);
    EXPECT_DUMP(STR("--- contention:\n7 2 @\n--- Memory map: ---\n1-2 x /x\n"),
                CONTENTION "period 1 contentions/count\n2 7:\n1: 1-2+0 /x\n");
    EXPECT_DUMP(STR("--- contention:\nsampling period=0\n7 2 @\n"),
                CONTENTION "period 0 contentions/count\n2 7:\n");
}

TEST(contention_numbers_may_touch)
{
    EXPECT_DUMP(STR("--- contention:\n123 @ 0x11\nx 1 2 3 @\n"), CONTENTION
                "period 1 contentions/count\n3 12: 0x10@1\n3 2:\n" FAKE);
}

TEST(contention_delay_that_is_too_large_becomes_the_least_number)
{
    EXPECT_DUMP(STR("--- contention:\ncycles/second = 1\n"
                    "sampling period = 9\n9000000000000000000 1 @\n"),
                CONTENTION "period 9 contentions/count\n"
                           "9 -9223372036854775808:\n");
}

TEST(contention_with_other_attributes_or_lines_is_declined)
{
    EXPECT_DUMP(STR("--- contentionz 1 ---\nformat = c\n"), NOT_MINE);
    EXPECT_DUMP(STR("--- contentionz 1 ---\nresolution = x y\nz = 1\n"),
                NOT_MINE);
    EXPECT_DUMP(STR("--- mutex:\ncycles/second = 1x\n"), NOT_MINE);
    EXPECT_DUMP(STR("--- mutex:\nnonsense\n"), NOT_MINE);
    EXPECT_DUMP(STR("--- mutex:\n5 @ 0x11\n"), NOT_MINE);
    EXPECT_DUMP(STR("--- mutex\n"), NOT_MINE);
    EXPECT_DUMP(STR(" --- mutex:\n"), NOT_MINE);
}

TEST(contention_with_impossible_numbers_is_named)
{
    EXPECT_DUMP(STR("--- mutex:\n9223372036854775808 1 @ \n"),
                "error: malformed sample: 9223372036854775808 1 @: "
                "strconv.ParseInt: parsing \"9223372036854775808\": "
                "value out of range");
    EXPECT_DUMP(STR("--- mutex:\n1 9223372036854775808 @\n"),
                "error: malformed sample: 1 9223372036854775808 @: "
                "strconv.ParseInt: parsing \"9223372036854775808\": "
                "value out of range");
    EXPECT_DUMP(STR("--- mutex:\n1 1 @ 0x1ffffffffffffffff\n"),
                "error: malformed sample: 1 1 @ 0x1ffffffffffffffff: failed to "
                "parse as hex 64-bit number: 0x1ffffffffffffffff");
}

/* A header and a line of n bytes behind it, with or without newline. */
static struct str with_line(struct buf *b, const char *header, size_t n,
                            const char *end)
{
    buf_clear(b);
    buf_add(b, str_from(header));
    buf_add_pad(b, '#', n);
    buf_add(b, str_from(end));
    return buf_str(b);
}

TEST(lines_of_64_kib_are_too_long)
{
    static const char *const headers[] = {
        "",
        HEAP("heap"),
        "# x\n",
        "g profile: total 1\n",
        "--- mutex:\n",
        "--- mutex:\nms since reset = 1\n",
        HEAP("heap") "MAPPED_LIBRARIES:\n",
        THREAD,
        ("--- threadz 1 ---\n" THREAD),
    };
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        EXPECT_DUMP(with_line(&b, headers[i], 65536, "\n"),
                    "error: bufio.Scanner: token too long");
        EXPECT_DUMP(with_line(&b, headers[i], 65536, ""),
                    "error: bufio.Scanner: token too long");
    }
    EXPECT_DUMP(with_line(&b, HEAP("heap"), 65535, "\n"), HEAP_TYPES("0"));
    EXPECT_DUMP(with_line(&b, HEAP("heap"), 65534, "\r"), HEAP_TYPES("0"));
    EXPECT_DUMP(with_line(&b, HEAP("heap"), 65535, "\r\n"),
                "error: bufio.Scanner: token too long");
    buf_release(&b);
}

TEST(limits_are_kept)
{
    struct profile_limits limits = profile_default_limits;

    limits.samples = 2;
    limits.stack_depth = 3;
    limits.string_bytes = 9;
    EXPECT_DUMP_LIMITED(
        STR("g profile: total 1\n1 @ 0x11\n1 @ 0x11\n"), limits,
        "g/count\nperiod 1 g/count\n1: 0x10@1\n1: 0x10@1\n" FAKE);
    EXPECT_DUMP_LIMITED(STR("g profile: total 1\n1 @ 0x1\n1 @ 0x1\n1 @ 0x1\n"),
                        limits, "error: more than 2 samples");
    EXPECT_DUMP_LIMITED(STR("g profile: total 1\n1 @ 0x1 0x1 0x1 0x1\n"),
                        limits, "error: sample 0 has more than 3 frames");
    EXPECT_DUMP_LIMITED(STR("g profile: total 1\n--- Memory map: ---\n"
                            "1-2 /abcd\n3-4 /efgh\n"),
                        limits, "error: more than 9 bytes of strings");
}

TEST(frames_of_the_profilers_are_named_by_the_type)
{
    static const struct {
        const char *text, *drop, *keep;
    } cases[] = {
        {HEAP("heap"), "calloc|cfree|", "runtime\\.panic|"},
        {HEAP_ALLOC("heap"), "calloc|cfree|", "runtime\\.panic|"},
        {"--- mutex:\n", "RecordLockProfileData|", ""},
        {"g profile: total 1\n", "ProfileData::Add|", ""},
    };
    struct error err;

    for (size_t i = 0; i < 4; i++) {
        struct profile *p = profile_parse_legacy(str_from(cases[i].text),
                                                 &profile_default_limits, &err);

        EXPECT(p && str_has_prefix(profile_str(p, p->drop_frames),
                                   str_from(cases[i].drop)));
        EXPECT(p && str_has_prefix(profile_str(p, p->keep_frames),
                                   str_from(cases[i].keep)));
        EXPECT(p && (p->keep_frames != 0) == (cases[i].keep[0] != 0));
        profile_free(p);
    }
}

TEST_MAIN

/* Java's heapz, contentionz and CPU profiles. */
#include "test.h"

#include "legacy_dump.h"

#define HEAP "--- heapz 1 ---\nformat = java\nresolution = bytes\n"
#define HEAP_TYPES                                                             \
    "inuse_objects/count inuse_space/bytes\n"                                  \
    "period 0 /\n"
#define LOCKS       "--- contentionz 1 ---\nformat = java\nresolution = us\n"
#define LOCKS_TYPES "contentions/count delay/us\n"
#define NOT_MINE    "error: unrecognized profile format"

TEST(heap_values_are_swapped_and_scaled)
{
    EXPECT_DUMP(STR(HEAP
                    "\n  1048576 2 @ 0x1 0x2\n  0 3 @ 0x2\n\n"
                    " 0x1 a.b.C.f (C.java:12)\n0x2 a.b.C.main (C.java:7)\n"),
                HEAP_TYPES "3 1658822: a.b.C.f(C.java:12) a.b.C.main(C.java:7) "
                           "bytes=524288\n"
                           "0 0: a.b.C.main(C.java:7) bytes=0\n");
}

TEST(contention_is_multiplied_by_the_period)
{
    EXPECT_DUMP(STR(LOCKS "sampling period = 100\nms since reset = 3\n"
                          "14 2 @ 0x1\n0x1 f (F.java:1)\n"),
                LOCKS_TYPES "period 100 contentions/count\nduration 3000000\n"
                            "200 1400: f(F.java:1)\n");
    EXPECT_DUMP(STR(LOCKS "14 2 @ 0x1\n0x1 f (F.java:1)\n"),
                LOCKS_TYPES "period 0 /\n2 14: f(F.java:1)\n");
}

TEST(cpu_samples_have_the_same_list_behind_them)
{
    static const uint32_t head[] = {0, 3, 1, 10, 0, 2, 2, 1, 2, 0, 1, 0};
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    for (size_t i = 0; i < 12; i++)
        buf_add_bytes(&b, (char[]){(char)head[i], 0, 0, 0}, 4);
    buf_add(&b, STR("0x1 f (F.java:1)\n0x2 g (F.java:2)"));
    EXPECT_DUMP(buf_str(&b), "samples/count cpu/nanoseconds\n"
                             "period 10000 cpu/nanoseconds\n"
                             "2 20000: f(F.java:1) g(F.java:2)\n");
    buf_release(&b);
}

/* The dump of a heap profile whose only frame is described by `text`. */
static struct str frame_of(struct buf *b, const char *text)
{
    buf_clear(b);
    buf_addf(b, HEAP "1 1 @ 0x1\n0x1 %s\n", text);
    return buf_str(b);
}

#define EXPECT_FRAME(text, want)                                               \
    do {                                                                       \
        struct buf text_ = BUF_INIT(BUF_NO_LIMIT);                             \
        EXPECT_DUMP(frame_of(&text_, text),                                    \
                    HEAP_TYPES "524288 524288: " want " bytes=1\n");           \
        buf_release(&text_);                                                   \
    } while (0)

TEST(frames_have_a_file_and_line_or_a_library)
{
    EXPECT_FRAME("f (F.java:12)", "f(F.java:12)");
    EXPECT_FRAME("f  (F.java:12)", "f (F.java:12)");
    EXPECT_FRAME("f (F.java:-1)", "f(F.java:0)");
    EXPECT_FRAME("f (F.java:99999999999999999999)", "f(F.java:0)");
    EXPECT_FRAME("f (a (b:1)", "f (a(b:1)");
    EXPECT_FRAME("f (a:b:1)", "f(a:b:1)");
    EXPECT_FRAME("f (:1)", "f(:1:0)");
    EXPECT_FRAME("f (F.java:)", "f(F.java::0)");
    EXPECT_FRAME("f (/usr/lib/libjvm.so)", "f(libjvm.so:0)");
    EXPECT_FRAME("f ()", "f(.:0)");
    EXPECT_FRAME("f (x) y", "f (x) y(:0)");
    EXPECT_FRAME("f(x:1)", "f(x:1)(:0)");
    EXPECT_FRAME("some generated stub/JIT thing", "STUB(:0)");
    EXPECT_FRAME("GC", "GC(:0)");
}

TEST(functions_are_one_by_name_and_the_first_file_wins)
{
    EXPECT_DUMP(STR(LOCKS "1 1 @ 0x1 0x2 0x1\n0x1 f (A:1)\n0x2 f (B:2)\n"),
                LOCKS_TYPES "period 0 /\n1 1: f(A:1) f(A:2) f(A:1)\n");
    /* The last description of an address counts. */
    EXPECT_DUMP(STR(LOCKS "1 1 @ 0x1\n0x1 f (A:1)\n0x1 g (B:2)\n"),
                LOCKS_TYPES "period 0 /\n1 1: g(B:2)\n");
}

TEST(functions_that_no_sample_uses_vanish)
{
    struct error err;
    struct profile *p = profile_parse_legacy(
        STR(LOCKS "1 1 @ 0x1\n0x1 f (A:1)\n0x1 g (B:2)\n0x7 h (C:3)\n"),
        &profile_default_limits, &err);

    EXPECT(p && p->functions.n == 1 && p->functions.v[0].id == 1);
    EXPECT(p && p->functions.v[0].system_name == p->functions.v[0].name);
    profile_free(p);
}

TEST(addresses_that_nothing_describes_get_a_mapping_and_lose_the_number)
{
    EXPECT_DUMP(STR(LOCKS "1 1 @ 0x1 0x2\n0x2 f\n"),
                LOCKS_TYPES "period 0 /\n1 1: 0x0@1 f(:0)\n"
                            "1: 0-ffffffffffffffff+0 \n");
}

TEST(last_line_counts_only_as_a_location)
{
    EXPECT_DUMP(STR(LOCKS "1 1 @ 0x1\n2 2 @ 0x1"),
                LOCKS_TYPES "period 0 /\n1 1: 0x0@1\n"
                            "1: 0-ffffffffffffffff+0 \n");
    EXPECT_DUMP(STR(LOCKS "1 1 @ 0x1\n0x1 f"),
                LOCKS_TYPES "period 0 /\n1 1: f(:0)\n");
    EXPECT_DUMP(STR("--- heapz 1 ---"), NOT_MINE);
}

TEST(attributes_are_words)
{
    EXPECT_DUMP(
        STR(" --- heapz 1 --- \nresolution=a b_1;x\n1 1 @ 0x1\n0x1 f\n"),
        "inuse_objects/count inuse_space/a b_1\nperiod 0 /\n"
        "524288 524288: f(:0) bytes=1\n");
    EXPECT_DUMP(STR("--- heapz 1 ---\nformat = c\n"), NOT_MINE);
    EXPECT_DUMP(STR("--- heapz 1 ---\nsampling period = 5\n"), NOT_MINE);
    EXPECT_DUMP(STR("--- contentionz 1 ---\nresolution = us\nz = 5\n"),
                NOT_MINE);
    EXPECT_DUMP(STR("--- heapz 2 ---\n"), NOT_MINE);
}

TEST(what_is_wrong_is_named)
{
    EXPECT_DUMP(STR("--- contentionz 1 ---\nresolution=us\n"
                    "sampling period=1x\n"),
                "error: failed to parse attribute sampling period=1x: "
                "strconv.ParseInt: parsing \"1x\": invalid syntax");
    EXPECT_DUMP(STR("--- contentionz 1 ---\nresolution=us\n"
                    "ms since reset=9223372036854775808\n"),
                "error: failed to parse attribute "
                "ms since reset=9223372036854775808: strconv.ParseInt: parsing "
                "\"9223372036854775808\": value out of range");
    EXPECT_DUMP(STR(HEAP "5 0 @ 0x1\n"),
                "error: parsing sample 5 0 @ 0x1: second value must be "
                "non-zero");
    EXPECT_DUMP(STR(HEAP "5 08 @ 0x1\n"),
                "error: parsing sample 5 08 @ 0x1: strconv.ParseInt: parsing "
                "\"08\": invalid syntax");
    EXPECT_DUMP(STR(HEAP "9223372036854775808 1 @ 0x1\n"),
                "error: parsing sample 9223372036854775808 1 @ 0x1: "
                "strconv.ParseInt: parsing \"9223372036854775808\": value out "
                "of range");
    EXPECT_DUMP(STR(HEAP "5 1 @ 0x1ffffffffffffffff\n"),
                "error: malformed sample: 5 1 @ 0x1ffffffffffffffff: failed to "
                "parse as hex 64-bit number: 0x1ffffffffffffffff");
    EXPECT_DUMP(STR(HEAP "5 1 @ 0x1\n0x1ffffffffffffffff f\n"),
                "error: parsing sample 0x1ffffffffffffffff f: "
                "strconv.ParseUint: parsing \"1ffffffffffffffff\": value out "
                "of range");
    EXPECT_DUMP(STR("--- heapz 1 ---\n5 1 @ 0x1\n"),
                "error: missing sample type information");
}

TEST(lines_may_have_any_length)
{
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    buf_add(&b, STR(LOCKS "1 1 @ 0x1\n0x1 GC"));
    buf_add_pad(&b, ' ', 100000);
    EXPECT_DUMP(buf_str(&b), LOCKS_TYPES "period 0 /\n1 1: GC(:0)\n");
    buf_release(&b);
}

TEST(names_are_limited)
{
    struct profile_limits limits = profile_default_limits;

    limits.string_bytes = 5;
    EXPECT_DUMP_LIMITED(STR(LOCKS "1 1 @ 0x1\n0x1 longer\n"), limits,
                        "error: more than 5 bytes of strings");
}

TEST_MAIN

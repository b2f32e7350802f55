#include "test.h"

#include <math.h>
#include <stdlib.h>

#include "base/goformat.h"
#include "base/number.h"

/* Runs a formatting function and compares what it appended. */
#define EXPECT_FORMAT(function, value, want)                                   \
    do {                                                                       \
        struct buf b_ = BUF_INIT(BUF_NO_LIMIT);                                \
                                                                               \
        function(&b_, value);                                                  \
        EXPECT_STR(buf_str(&b_), want);                                        \
        buf_release(&b_);                                                      \
    } while (0)

TEST(integers_print_like_printf)
{
    EXPECT_FORMAT(buf_add_i64, 0, "0");
    EXPECT_FORMAT(buf_add_i64, 9, "9");
    EXPECT_FORMAT(buf_add_i64, -10, "-10");
    EXPECT_FORMAT(buf_add_i64, 12345, "12345");
    EXPECT_FORMAT(buf_add_i64, INT64_MIN, "-9223372036854775808");
    EXPECT_FORMAT(buf_add_u64, UINT64_MAX, "18446744073709551615");
    EXPECT_FORMAT(buf_add_hex, 0, "0x0");
    EXPECT_FORMAT(buf_add_hex, 0x10, "0x10");
    EXPECT_FORMAT(buf_add_hex, UINT64_MAX, "0xffffffffffffffff");
}

TEST(right_aligned_integers_are_padded_but_never_cut)
{
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    buf_add_i64_right(&b, -7, 5);
    buf_add_i64_right(&b, 123456, 3);
    EXPECT_STR(buf_str(&b), "   -7123456");
    buf_release(&b);
}

TEST(truncation_gives_the_smallest_integer_for_what_does_not_fit)
{
    EXPECT(number_trunc(2.9) == 2);
    EXPECT(number_trunc(-2.9) == -2);
    EXPECT(number_trunc(-0x1p63) == INT64_MIN);
    EXPECT(number_trunc(0x1p63) == INT64_MIN);
    EXPECT(number_trunc(-1e300) == INT64_MIN);
    EXPECT(number_trunc((double)NAN) == INT64_MIN);
}

TEST(durations_use_the_units_of_their_size)
{
    EXPECT_FORMAT(goformat_duration, 0, "0s");
    EXPECT_FORMAT(goformat_duration, 1, "1ns");
    EXPECT_FORMAT(goformat_duration, 1500, "1.5µs");
    EXPECT_FORMAT(goformat_duration, 999999, "999.999µs");
    EXPECT_FORMAT(goformat_duration, 2000000, "2ms");
    EXPECT_FORMAT(goformat_duration, 30000000000, "30s");
    EXPECT_FORMAT(goformat_duration, 90000000000, "1m30s");
    EXPECT_FORMAT(goformat_duration, 3600000000000, "1h0m0s");
    EXPECT_FORMAT(goformat_duration, 3661500000000, "1h1m1.5s");
    EXPECT_FORMAT(goformat_duration, -1000000001, "-1.000000001s");
    EXPECT_FORMAT(goformat_duration, INT64_MIN, "-2562047h47m16.854775808s");
}

TEST(floats_are_the_shortest_that_read_back)
{
    EXPECT_FORMAT(goformat_float, 0.0, "0");
    EXPECT_FORMAT(goformat_float, -0.0, "-0");
    EXPECT_FORMAT(goformat_float, 1.0, "1");
    EXPECT_FORMAT(goformat_float, 0.005, "0.005");
    EXPECT_FORMAT(goformat_float, 0.1 + 0.2, "0.30000000000000004");
    EXPECT_FORMAT(goformat_float, 1.0 / 3, "0.3333333333333333");
    EXPECT_FORMAT(goformat_float, -12.5, "-12.5");
    EXPECT_FORMAT(goformat_float, 5e-324, "5e-324");
    EXPECT_FORMAT(goformat_float, 1.7976931348623157e308,
                  "1.7976931348623157e+308");
}

TEST(floats_switch_to_exponents_where_go_does)
{
    EXPECT_FORMAT(goformat_float, 0.0001, "0.0001");
    EXPECT_FORMAT(goformat_float, 0.00001, "1e-05");
    EXPECT_FORMAT(goformat_float, 100000.0, "100000");
    EXPECT_FORMAT(goformat_float, 1000000.0, "1e+06");
    EXPECT_FORMAT(goformat_float, 123456789.5, "1.234567895e+08");
    EXPECT_FORMAT(goformat_float, INFINITY, "+Inf");
    EXPECT_FORMAT(goformat_float, -INFINITY, "-Inf");
    EXPECT_FORMAT(goformat_float, (double)NAN, "NaN");
}

TEST(times_show_the_local_zone_and_no_trailing_zeros)
{
    setenv("TZ", "UTC", 1);
    EXPECT_FORMAT(goformat_time, 0, "1970-01-01 00:00:00 +0000 UTC");
    EXPECT_FORMAT(goformat_time, 1500000000123400000,
                  "2017-07-14 02:40:00.1234 +0000 UTC");
    EXPECT_FORMAT(goformat_time, -1, "1969-12-31 23:59:59.999999999 +0000 UTC");
    EXPECT_FORMAT(goformat_time_seconds, 1500000000999999999,
                  "2017-07-14 02:40:00 UTC");
    setenv("TZ", "XYZ3:30", 1);
    EXPECT_FORMAT(goformat_time, 1500000000000000000,
                  "2017-07-13 23:10:00 -0330 XYZ");
}

TEST(quoted_texts_escape_what_cannot_be_printed)
{
    EXPECT_FORMAT(goformat_quote, STR(""), "\"\"");
    EXPECT_FORMAT(goformat_quote, STR("a b\"\\"), "\"a b\\\"\\\\\"");
    EXPECT_FORMAT(goformat_quote, STR("\a\n\r\x01\x7f"),
                  "\"\\a\\n\\r\\x01\\x7f\"");
    EXPECT_FORMAT(goformat_quote, STR("ünï\xff"), "\"ünï\\xff\"");
    EXPECT_FORMAT(goformat_quote, STR("\u00a0\U000f0000"),
                  "\"\\u00a0\\U000f0000\"");
}

TEST_MAIN

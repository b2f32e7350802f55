#include "test.h"

#include <math.h>

#include "base/goparse.h"

/* The expected values are what Go 1.19's strconv says. */

#define BAD   (-77.0)
#define RANGE (-78.0)

static double parse_float(const char *s)
{
    double value = 0;

    switch (goparse_float(str_from(s), &value)) {
    case GOPARSE_OK:
        return value;
    case GOPARSE_RANGE:
        return RANGE;
    default:
        return BAD;
    }
}

static double parse_int(const char *s, int base, int bits)
{
    int64_t value = 0;

    switch (goparse_int(str_from(s), base, bits, &value)) {
    case GOPARSE_OK:
        return (double)value;
    case GOPARSE_RANGE:
        return RANGE;
    default:
        return BAD;
    }
}

TEST(floats_are_decimal_hexadecimal_or_infinite)
{
    EXPECT(parse_float("1") == 1);
    EXPECT(parse_float(".5") == 0.5);
    EXPECT(parse_float("5.") == 5);
    EXPECT(parse_float("1.e3") == 1000);
    EXPECT(parse_float("1E+05") == 1e5);
    EXPECT(parse_float("0x1p-2") == 0.25);
    EXPECT(parse_float("0X.8P1") == 1);
    EXPECT(parse_float("-infinity") == -INFINITY);
    EXPECT(parse_float("+Inf") == INFINITY);
    EXPECT(isnan(parse_float("nan")));
    EXPECT(parse_float("1e-400") == 0);
    EXPECT(parse_float("1e400") == RANGE);
}

TEST(floats_allow_underscores_between_digits_only)
{
    EXPECT(parse_float("1_000") == 1000);
    EXPECT(parse_float("1_0.5") == 10.5);
    EXPECT(parse_float("1e1_0") == 1e10);
    EXPECT(parse_float("0x_1p2") == 4);
    EXPECT(parse_float("1__0") == BAD);
    EXPECT(parse_float("_1") == BAD);
    EXPECT(parse_float("1_") == BAD);
    EXPECT(parse_float("1_e3") == BAD);
    EXPECT(parse_float("0x1_p3") == BAD);
}

TEST(what_is_no_float_is_refused)
{
    static const char *const bad[] = {"",    " 1",   "1e",  "+nan", "0x1.8",
                                      "0b1", "0x",   ".",   "1e5.", "infi",
                                      "1x",  "0x1p", "1e+", "--1",  "1 "};

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        EXPECT(parse_float(bad[i]) == BAD);
}

TEST(integers_with_base_0_take_prefixes)
{
    EXPECT(parse_int("+1", 0, 64) == 1);
    EXPECT(parse_int("-0x10", 0, 64) == -16);
    EXPECT(parse_int("0o17", 0, 64) == 15);
    EXPECT(parse_int("017", 0, 64) == 15);
    EXPECT(parse_int("0b11", 0, 64) == 3);
    EXPECT(parse_int("1_000", 0, 64) == 1000);
    EXPECT(parse_int("0x_1", 0, 64) == 1);
    EXPECT(parse_int("0_7", 0, 64) == 7);
    EXPECT(parse_int("00", 0, 64) == 0);
    EXPECT(parse_int("08", 0, 64) == BAD);
    EXPECT(parse_int("_1", 0, 64) == BAD);
    EXPECT(parse_int("-_1", 0, 64) == BAD);
    EXPECT(parse_int("1__0", 0, 64) == BAD);
    EXPECT(parse_int("0_", 0, 64) == BAD);
    EXPECT(parse_int("0b2", 0, 64) == BAD);
    EXPECT(parse_int("0x", 0, 64) == BAD);
}

TEST(integers_with_base_10_are_plain_digits)
{
    EXPECT(parse_int("017", 10, 32) == 17);
    EXPECT(parse_int("0x10", 10, 32) == BAD);
    EXPECT(parse_int("1_000", 10, 32) == BAD);
    EXPECT(parse_int("", 10, 64) == BAD);
    EXPECT(parse_int("+", 10, 64) == BAD);
}

TEST(integers_are_bounded_by_their_bits)
{
    int64_t value = 0;

    EXPECT(parse_int("2147483647", 10, 32) == 2147483647);
    EXPECT(parse_int("2147483648", 10, 32) == RANGE);
    EXPECT(parse_int("-2147483648", 10, 32) == -2147483648.0);
    EXPECT(goparse_int(STR("-9223372036854775808"), 10, 64, &value) ==
               GOPARSE_OK &&
           value == INT64_MIN);
    EXPECT(parse_int("9223372036854775808", 10, 64) == RANGE);
    EXPECT(parse_int("99999999999999999999999", 0, 64) == RANGE);
    EXPECT(parse_int("99999999999999999999999x", 0, 64) == RANGE);
    EXPECT(parse_int("9223372036854775808x", 0, 64) == BAD);
}

TEST(booleans_have_twelve_spellings)
{
    bool value = false;

    EXPECT(goparse_bool(STR("T"), &value) == GOPARSE_OK && value);
    EXPECT(goparse_bool(STR("False"), &value) == GOPARSE_OK && !value);
    EXPECT(goparse_bool(STR("yes"), &value) == GOPARSE_SYNTAX);
    EXPECT(goparse_bool(STR(""), &value) == GOPARSE_SYNTAX);
}

TEST_MAIN

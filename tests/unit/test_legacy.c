#include "test.h"

#include "profile/legacy.h"

TEST(unknown_bytes_are_declined)
{
    struct error err;

    EXPECT(!profile_parse_legacy(STR("hello\n"), &profile_default_limits,
                                 &err));
    EXPECT_STR(str_from(err.text), "unrecognized profile format");
}

TEST_MAIN

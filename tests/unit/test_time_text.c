#include "test.h"

#include "base/time_text.h"

#define NOW INT64_C(1769846400000000000) /* 2026-01-31T08:00:00Z */

static int64_t parsed(const char *text)
{
    struct error err = {""};
    int64_t ns = -1;

    EXPECT(time_parse(str_from(text), NOW, &ns, &err));
    EXPECT_STR(str_from(err.text), "");
    return ns;
}

static bool refused(const char *text)
{
    struct error err = {""};
    int64_t ns = -1;

    return !time_parse(str_from(text), NOW, &ns, &err) && ns == -1 &&
           str_has_prefix(str_from(err.text), STR("cannot read the time"));
}

TEST(calendar_times)
{
    EXPECT(parsed("2026-01-31T08:00:00Z") == NOW);
    EXPECT(parsed("2026-01-31T08:00:00") == NOW);
    EXPECT(parsed("2026-01-31 08:00:00") == NOW);
    EXPECT(parsed("2026-01-31T09:30:00+01:30") == NOW);
    EXPECT(parsed("2026-01-31T00:00:00-08:00") == NOW);
    EXPECT(parsed("2026-01-31T08:00:00.25Z") == NOW + 250000000);
    EXPECT(parsed("2026-01-31T08:00:00.1234567891Z") == NOW + 123456789);
    EXPECT(parsed("2026-01-31") == NOW - INT64_C(8) * 3600 * 1000000000);
    EXPECT(parsed("1970-01-01") == 0);
    EXPECT(parsed("1969-12-31T23:59:59Z") == -1000000000);
    EXPECT(parsed("2024-02-29") == INT64_C(1709164800) * 1000000000);
}

TEST(unix_times)
{
    EXPECT(parsed("1769846400") == NOW);
    EXPECT(parsed("1769846400.5") == NOW + 500000000);
    EXPECT(parsed("0") == 0);
    EXPECT(parsed("-1.5") == -1500000000);
}

TEST(relative_times)
{
    EXPECT(parsed("now") == NOW);
    EXPECT(parsed("now-1h30m") == NOW - INT64_C(5400) * 1000000000);
    EXPECT(parsed("now+5m") == NOW + INT64_C(300) * 1000000000);
    EXPECT(parsed(" now-7d ") == NOW - INT64_C(7) * 86400 * 1000000000);
}

TEST(far_times_are_clamped)
{
    EXPECT(parsed("9999-12-31T23:59:59Z") == INT64_MAX);
    EXPECT(parsed("0001-01-01") == INT64_MIN);
    EXPECT(parsed("9223372036854775807") == INT64_MAX);
}

TEST(what_is_no_time_is_refused)
{
    static const char *const texts[] = {
        "",
        "yesterday",
        "now-",
        "now1h",
        "now-1x",
        "now-9999999999w",
        "2026-13-01",
        "2026-02-29",
        "2026-00-10",
        "2026-1-1",
        "2026-01-31T24:00:00Z",
        "2026-01-31T08:00:60Z",
        "2026-01-31T08:00Z",
        "2026-01-31T08:00:00+1:00",
        "2026-01-31T08:00:00.",
        "2026-01-31T08:00:00Zx",
        "1.2.3",
        "1e9",
        "0x10",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (!refused(texts[i]))
            printf("# accepted: %s\n", texts[i]);
        EXPECT(refused(texts[i]));
    }
}

/* What the original was seen to accept and to refuse. */
TEST(profefe_times)
{
    static const char *const bad[] = {
        "2020-01-02",
        "2020-01-02T03:04:05Z",
        "2020-01-02T03:04:05+02:00",
        "2020-01-02 03:04:05",
        "1577934245",
        "2020-1-02T03:04:05",
        "2020-02-30T00:00:00",
        "2020-01-02T03:04:60",
        "2020-01-02T24:00:00",
        "0001-01-01T00:00:00",
        "yesterday",
        "2030-13-01T00:00:00",
    };
    struct error err = {""};
    int64_t ns;

    EXPECT(time_parse_profefe(STR("2020-01-02T03:04:05"), &ns, &err));
    EXPECT(ns == INT64_C(1577934245000000000));
    EXPECT(time_parse_profefe(STR("2020-01-02T03:04:05.123"), &ns, &err));
    EXPECT(ns == INT64_C(1577934245123000000));
    EXPECT(time_parse_profefe(STR("2020-01-02T3:04:05,5"), &ns, &err));
    EXPECT(ns == INT64_C(1577934245500000000));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        EXPECT(!time_parse_profefe(str_from(bad[i]), &ns, &err));
    time_parse_profefe(STR("yesterday"), &ns, &err);
    EXPECT_STR(str_from(err.text), "time in unsupported format \"yesterday\"");
}

TEST(durations)
{
    static const struct {
        const char *text;
        int64_t ns;
    } good[] = {
        {"30s", INT64_C(30000000000)},
        {"5m", INT64_C(300000000000)},
        {"1h30m", INT64_C(5400000000000)},
        {"500ms", 500000000},
        {"1.5s", 1500000000},
        {"7d", INT64_C(604800000000000)},
        {"10", INT64_C(10000000000)},
        {"0", 0},
        {"120h0m0s", INT64_C(432000000000000)},
    };
    static const char *const bad[] = {"",     "s",   "5x",   "-5s",
                                      "1h30", "5 m", "1..5s"};
    struct error err = {""};
    int64_t ns;

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        EXPECT(duration_parse(str_from(good[i].text), &ns, &err) &&
               ns == good[i].ns);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        EXPECT(!duration_parse(str_from(bad[i]), &ns, &err));
}

static void expect_formats(int64_t ns, const char *seconds, const char *nanos,
                           const char *go)
{
    struct buf out = BUF_INIT(256);

    time_add_rfc3339(&out, ns);
    EXPECT_STR(buf_str(&out), seconds);
    buf_clear(&out);
    time_add_rfc3339_nanos(&out, ns);
    EXPECT_STR(buf_str(&out), nanos);
    buf_clear(&out);
    time_add_go(&out, ns);
    EXPECT_STR(buf_str(&out), go);
    buf_release(&out);
}

TEST(times_as_text)
{
    expect_formats(NOW, "2026-01-31T08:00:00Z", "2026-01-31T08:00:00Z",
                   "2026-01-31 08:00:00 +0000 UTC");
    expect_formats(NOW + 120000000, "2026-01-31T08:00:00Z",
                   "2026-01-31T08:00:00.12Z",
                   "2026-01-31 08:00:00.12 +0000 UTC");
    expect_formats(-1, "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.999999999Z",
                   "1969-12-31 23:59:59.999999999 +0000 UTC");
}

TEST(what_is_written_can_be_read)
{
    struct buf out = BUF_INIT(64);
    struct error err;
    uint64_t x = 88172645463325252u;

    for (int i = 0; i < 20000; i++) {
        int64_t ns, back;

        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        ns = (int64_t)(x % 9000000000000000000u) - 2000000000000000000;
        buf_clear(&out);
        time_add_rfc3339_nanos(&out, ns);
        EXPECT(time_parse(buf_str(&out), 0, &back, &err) && back == ns);
    }
    buf_release(&out);
}

TEST_MAIN

/*
 * Texts that go to ClickHouse: URLs, literals, conditions, tables.
 */
#include "test.h"

#include "store/clickhouse/address.h"
#include "store/clickhouse/build_sql.h"
#include "store/clickhouse/clickhouse.h"
#include "store/clickhouse/refusal.h"
#include "store/clickhouse/sql.h"
#include "store/clickhouse/wal_batch.h"

TEST(addresses)
{
    struct clickhouse_address a;
    struct error err;

    EXPECT(clickhouse_address_parse(
        STR("clickhouse://me@one:1,two,[::1]:3/fleet"), &a, &err));
    EXPECT(!a.is_tls && a.n_hosts == 3);
    EXPECT_STR(a.user, "me");
    EXPECT_STR(a.database, "fleet");
    EXPECT_STR(a.hosts[0].name, "one");
    EXPECT(a.hosts[0].port == 1 && a.hosts[1].port == 8123);
    EXPECT_STR(a.hosts[2].name, "[::1]");
    EXPECT(a.hosts[2].port == 3);
    EXPECT(clickhouse_address_parse(STR("clickhouses://h"), &a, &err));
    EXPECT(a.is_tls && a.hosts[0].port == 8443);
    EXPECT_STR(a.database, "default");
    EXPECT_STR(a.user, "default");
}

TEST(wrong_addresses)
{
    static const char *const wrong[] = {
        "http://h",
        "clickhouse://",
        "clickhouse://h:0/d",
        "clickhouse://h:x/d",
        "clickhouse://h:99999/d",
        "clickhouse://h/d'b",
        "clickhouse://h/d?x=1",
        "clickhouse://h&x/d",
        "clickhouse://me:secret@h/d",
        "clickhouse://m e@h/d",
    };
    struct clickhouse_address a;
    struct error err;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        EXPECT(!clickhouse_address_parse(str_from(wrong[i]), &a, &err));
}

TEST(refusals)
{
    static const struct {
        const char *words;
        long http_status;
        int code;
        enum store_status status;
        const char *sentence;
    } cases[] = {
        {"Code: 252, e.displayText() = DB::Exception: Too many parts (300)., "
         "e.what() = DB::Exception",
         500, 252, STORE_BUSY,
         "ClickHouse at h: Too many parts (300).; it merges more slowly than "
         "profiles arrive: give it faster disks, or add a shard"},
        {"Code: 75. DB::Exception: Cannot write to file, errno: 28, strerror: "
         "No space left on device (version 26.1)",
         500, 75, STORE_BUSY,
         "ClickHouse at h: Cannot write to file, errno: 28, strerror: No space "
         "left on device; its disk is full: free space or lower "
         "retention.raw"},
        {"Code: 62. DB::Exception: Syntax error", 400, 62, STORE_FAILED,
         "ClickHouse at h: Syntax error"},
        {"Bad Gateway", 502, 0, STORE_BUSY, "ClickHouse at h: Bad Gateway"},
        {"", 404, 0, STORE_FAILED, "ClickHouse at h: an error without words"},
        {"Code: ", 500, 0, STORE_BUSY, "ClickHouse at h: Code:"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct str words = str_from(cases[i].words);
        struct refusal r = refusal_read(words, cases[i].http_status);
        struct error err;

        EXPECT(r.code == cases[i].code && r.status == cases[i].status);
        refusal_describe(&r, words, "h", &err);
        EXPECT_STR(str_from(err.text), cases[i].sentence);
    }
}

TEST(literals)
{
    struct buf b = BUF_INIT(4096);

    sql_text(&b, STR("api-1.x/y:z_"));
    EXPECT_STR(buf_str(&b), "'api-1.x/y:z_'");
    buf_clear(&b);
    sql_text(&b, STR("a'b\\"));
    EXPECT_STR(buf_str(&b), "unhex('6127625C')");
    buf_clear(&b);
    sql_text(&b, STR(""));
    EXPECT_STR(buf_str(&b), "''");
    buf_release(&b);
}

TEST(names)
{
    static const char *const wrong[] = {"",    "a b", "a'",  "a`",
                                        "a\\", "a;b", "a\n", "\xc3\xbc"};
    struct buf b = BUF_INIT(4096);

    EXPECT(sql_name(&b, STR("fleet_1")));
    EXPECT_STR(buf_str(&b), "fleet_1");
    buf_clear(&b);
    EXPECT(sql_name(&b, STR("fleet-1.eu{x}")));
    EXPECT_STR(buf_str(&b), "`fleet-1.eu{x}`");
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        EXPECT(!sql_name(&b, str_from(wrong[i])));
    EXPECT(!sql_name(&b, str_of("a\0b", 3)));
    buf_release(&b);
}

TEST(days)
{
    EXPECT(day_of(INT64_MIN) == 0);
    EXPECT(day_of(INT64_C(86400) * 1000000000) == 1);
    EXPECT(day_of(INT64_MAX) == 49709);
}

TEST(conditions)
{
    struct store_matcher m[] = {
        {STORE_SERVICE, STORE_EQUAL, .value = STR("api")},
        {STORE_LABEL, STORE_NOT_EQUAL, STR("k"), STR("v")},
        {STORE_LABEL, STORE_EQUAL, STR("k"), STR("")},
        {STORE_TYPE, STORE_MATCH, .value = STR("c.*")},
    };
    struct store_query q = {.matchers = m, .n_matchers = 4};
    struct buf b = BUF_INIT(4096);

    sql_matchers(&b, &q);
    EXPECT_STR(buf_str(&b),
               " AND service = 'api'"
               " AND NOT (arrayExists((k, v) -> k = 'k' AND v = 'v', "
               "label_keys, label_values))"
               " AND (NOT has(label_keys, 'k') OR arrayExists((k, v) -> k = "
               "'k' AND v = '', label_keys, label_values))");
    EXPECT(sql_needs_series(&q));
    q.n_matchers = 3;
    EXPECT(!sql_needs_series(&q));
    buf_release(&b);
}

TEST(dialects)
{
    struct clickhouse_options o = clickhouse_default_options;
    struct buf b = BUF_INIT((size_t)1 << 20);
    struct error err;

    o.url = STR("clickhouse://h/fleet");
    EXPECT(clickhouse_schema(&o, true, &b, &err));
    EXPECT(!str_contains(buf_str(&b), STR("CODEC")));
    EXPECT(!str_contains(buf_str(&b), STR("LowCardinality")));
    EXPECT(!str_contains(buf_str(&b), STR("Replicated")));
    buf_clear(&b);
    o.cluster = STR("all");
    EXPECT(clickhouse_schema(&o, false, &b, &err));
    EXPECT(str_contains(buf_str(&b), STR("CODEC(DoubleDelta, ZSTD(1))")));
    EXPECT(str_contains(buf_str(&b), STR("INDEX by_series")));
    EXPECT(str_contains(buf_str(&b), STR("fleet.pprofd_records_local ON "
                                         "CLUSTER all")));
    EXPECT(str_contains(buf_str(&b),
                        STR("Distributed(all, fleet, pprofd_profiles_local, "
                            "cityHash64(service))")));
    buf_release(&b);
}

/* Only the number of profiles, which is for metrics, has no checksum. */
TEST(damaged_files_of_the_log)
{
    const struct wal_batch b = {STR("the records"), STR("and the rows"), 7};
    struct wal_batch found = {.profiles = 0};
    struct buf file = BUF_INIT(4096);
    char head[WAL_HEADER_BYTES];
    uint64_t profiles;

    wal_batch_header(&b, head);
    buf_add_bytes(&file, head, sizeof(head));
    buf_add(&file, b.records);
    buf_add(&file, b.rows);
    EXPECT(wal_batch_parse(buf_str(&file), &found) && found.profiles == 7);
    EXPECT_STR(found.records, "the records");
    EXPECT_STR(found.rows, "and the rows");
    for (size_t n = 0; n < file.len; n++)
        EXPECT(!wal_batch_parse(str_first(buf_str(&file), n), &found));
    for (size_t i = 0; i < file.len; i++) {
        file.data[i] ^= 0x10;
        EXPECT(wal_batch_parse(buf_str(&file), &found) == (i / 8 == 2));
        EXPECT(wal_batch_count(buf_str(&file), &profiles) == (i >= 16));
        file.data[i] ^= 0x10;
    }
    buf_add_char(&file, 'x');
    EXPECT(!wal_batch_parse(buf_str(&file), &found));
    buf_release(&file);
}

TEST(tables_of_sums)
{
    struct clickhouse_options o = clickhouse_default_options;
    struct buf b = BUF_INIT((size_t)1 << 20);
    struct error err;

    o.url = STR("clickhouse://h/fleet");
    EXPECT(clickhouse_schema(&o, true, &b, &err));
    EXPECT(str_contains(buf_str(&b), STR("fleet.pprofd_sums (")));
    EXPECT(str_contains(buf_str(&b), STR("PARTITION BY (level, day)")));
    EXPECT(str_contains(buf_str(&b), STR("    c3 Array(Int64)\n)")));
    EXPECT(str_contains(buf_str(&b), STR("pprofd_schema (version) VALUES "
                                         "(2)")));
    buf_clear(&b);
    o.cluster = STR("all");
    EXPECT(clickhouse_schema(&o, false, &b, &err));
    EXPECT(str_contains(buf_str(&b), STR("c3 Array(Int64) CODEC(T64, ZSTD(1)),"
                                         "\n    INDEX by_series")));
    EXPECT(str_contains(buf_str(&b),
                        STR("Distributed(all, fleet, pprofd_builds_local, "
                            "cityHash64(service))")));
    buf_release(&b);
}

static size_t count_of(struct str text, struct str part)
{
    size_t n = 0;

    for (size_t at = 0; at + part.n <= text.n; at++)
        n += memcmp(text.s + at, part.s, part.n) == 0;
    return n;
}

TEST(statements_that_make_sums)
{
    struct build_part part = {.day = 20000,
                              .level = STORE_HOUR,
                              .build = 77,
                              .types = STR(" AND (service, type) IN (('a', "
                                           "'cpu'))"),
                              .part = 2,
                              .parts = 5};
    struct buf b = BUF_INIT((size_t)1 << 20);
    struct str sql;

    build_sql(&part, &b);
    sql = buf_str(&b);
    EXPECT(str_contains(sql, STR("SELECT toUInt8(2), toUInt64(77), "
                                 "toDate(toUInt16(20000))")));
    EXPECT(str_contains(sql, STR("% 3600000000000)")));
    EXPECT(!str_contains(sql, STR("LIMIT 1 BY id")));
    EXPECT(!str_contains(sql, STR("INNER JOIN")));
    /* Descriptions and samples, both of the same profiles. */
    EXPECT(count_of(sql, STR("FROM pprofd_profiles")) == 2);
    EXPECT(count_of(sql, part.types) == 2);
    EXPECT(count_of(sql, STR("length(totals) <= 4 AND series % 5 = 2")) == 2);
    EXPECT(count_of(sql, STR("day >= toDate(toUInt16(20000))")) == 2);

    /* Changes need the day before. */
    buf_clear(&b);
    part.once = part.has_cumulative = true;
    build_sql(&part, &b);
    sql = buf_str(&b);
    EXPECT(count_of(sql, STR("FROM pprofd_profiles")) == 4);
    EXPECT(count_of(sql, STR("LIMIT 1 BY id")) == 4);
    EXPECT(count_of(sql, STR("day >= toDate(toUInt16(19999))")) == 2);
    EXPECT(str_contains(sql, STR("created_b >= 1728000000000000000 ")));

    buf_clear(&b);
    part.is_wide = true;
    build_sql(&part, &b);
    sql = buf_str(&b);
    EXPECT(count_of(sql, STR("length(totals) > 4")) == 2);
    EXPECT(str_contains(sql, STR("groupArrayArray(o)")));
    EXPECT(!str_contains(sql, STR("INNER JOIN")));
    buf_release(&b);
}

TEST_MAIN

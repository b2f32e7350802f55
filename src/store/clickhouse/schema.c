/*
 * The tables, in two dialects.  The plain one is what 18.16 understands: no
 * codecs, no skip indexes, LowCardinality only as an experiment.
 *
 * A profile is one row with arrays, not a row a sample: it is inserted ten
 * times faster, and a sum by stack over arrays costs about the same.  Its
 * samples' values are in up to four columns, v0 to v3; a profile with more
 * sample types has the others in `more`.
 *
 * Everything is partitioned by day, and records by week, so that what has
 * expired is dropped and not searched for.  `day` is that of the profile, and
 * a record is repeated in every week in which a profile uses it.
 *
 * Version 2 added tables and changed none, so tables of version 1 are brought
 * forward by making what is missing.  Collectors that know only version 1 go
 * on writing meanwhile.
 */
#include "store/clickhouse/schema.h"

#include <inttypes.h>

enum { SCHEMA_VERSION = 2, CODECS_SINCE = 2003 };

struct dialect {
    bool plain;
    struct str cluster, database;
    struct buf *out;
};

/* A column with its codec, which the plain dialect leaves out. */
static void column(const struct dialect *d, const char *name, const char *type,
                   const char *codec, bool is_last)
{
    bool is_low = strcmp(type, "LowCardinality(String)") == 0;

    buf_addf(d->out, "    %s %s", name, d->plain && is_low ? "String" : type);
    if (!d->plain && codec[0])
        buf_addf(d->out, " CODEC(%s)", codec);
    buf_add(d->out, is_last ? STR("\n") : STR(",\n"));
}

static void begin_table(const struct dialect *d, const char *name)
{
    bool local = d->cluster.n > 0;

    buf_addf(d->out, "CREATE TABLE IF NOT EXISTS %" STR_FMT ".%s%s",
             STR_ARG(d->database), name, local ? "_local" : "");
    if (local)
        buf_addf(d->out, " ON CLUSTER %" STR_FMT, STR_ARG(d->cluster));
    buf_add(d->out, STR(" (\n"));
}

/* The engine, and in a cluster the table over all shards. */
static void end_table(const struct dialect *d, const char *name,
                      const char *engine, const char *rest,
                      const char *sharding)
{
    buf_addf(d->out, ") ENGINE = %s%s", d->cluster.n ? "Replicated" : "",
             engine);
    if (d->cluster.n)
        buf_addf(d->out,
                 "('/clickhouse/tables/{shard}/%" STR_FMT "/%s', '{replica}')",
                 STR_ARG(d->database), name);
    buf_addf(d->out, "\n%s;\n", rest);
    if (!d->cluster.n)
        return;
    buf_addf(d->out,
             "CREATE TABLE IF NOT EXISTS %" STR_FMT ".%s ON CLUSTER %" STR_FMT
             " AS %" STR_FMT ".%s_local ENGINE = Distributed(%" STR_FMT
             ", %" STR_FMT ", %s_local, %s);\n",
             STR_ARG(d->database), name, STR_ARG(d->cluster),
             STR_ARG(d->database), name, STR_ARG(d->cluster),
             STR_ARG(d->database), name, sharding);
}

struct column {
    const char *name, *type, *codec;
};

#define N_COLUMNS(a) (sizeof(a) / sizeof(*(a)))

/* What profiles and their sums have in common. */
static const struct column described[] = {
    {"day", "Date", ""},
    {"service", "LowCardinality(String)", ""},
    {"type", "LowCardinality(String)", ""},
    {"created", "Int64", "DoubleDelta, ZSTD(1)"},
    {"id", "FixedString(12)", "ZSTD(1)"},
    {"series", "UInt64", "ZSTD(1)"},
    {"label_keys", "Array(String)", "ZSTD(1)"},
    {"label_values", "Array(String)", "ZSTD(1)"},
    {"header", "UInt64", "ZSTD(1)"},
    {"cumulative", "UInt64", "ZSTD(1)"},
    {"image", "UInt64", "ZSTD(1)"},
    {"flags", "UInt64", "ZSTD(1)"},
    {"time", "Int64", "DoubleDelta, ZSTD(1)"},
    {"duration", "Int64", "ZSTD(1)"},
    {"period", "Int64", "ZSTD(1)"},
    {"posted", "UInt64", "ZSTD(1)"},
    {"samples", "UInt64", "ZSTD(1)"},
    {"totals", "Array(Int64)", "ZSTD(1)"},
};

static const struct column sampled[] = {
    {"stacks", "Array(UInt64)", "ZSTD(1)"},
    {"labels", "Array(UInt64)", "ZSTD(1)"},
    {"v0", "Array(Int64)", "T64, ZSTD(1)"},
    {"v1", "Array(Int64)", "T64, ZSTD(1)"},
    {"v2", "Array(Int64)", "T64, ZSTD(1)"},
    {"v3", "Array(Int64)", "T64, ZSTD(1)"},
    {"more", "Array(Int64)", "T64, ZSTD(1)"},
};

static const struct column extras[] = {
    {"extras", "String", "ZSTD(1)"},
    {"extra_refs", "Array(UInt64)", "ZSTD(1)"},
};

/* Which build of a day a sum is from, of how many profiles it is the sum, and
 * what cumulative types changed by. */
static const struct column summed[] = {
    {"level", "UInt8", ""},
    {"build", "UInt64", "ZSTD(1)"},
    {"profiles", "UInt64", "ZSTD(1)"},
    {"changes", "Array(Int64)", "ZSTD(1)"},
    {"c0", "Array(Int64)", "T64, ZSTD(1)"},
    {"c1", "Array(Int64)", "T64, ZSTD(1)"},
    {"c2", "Array(Int64)", "T64, ZSTD(1)"},
    {"c3", "Array(Int64)", "T64, ZSTD(1)"},
};

static void columns(const struct dialect *d, const struct column *c, size_t n,
                    bool is_last)
{
    for (size_t i = 0; i < n; i++)
        column(d, c[i].name, c[i].type, c[i].codec, is_last && i + 1 == n);
}

/* Current servers skip what cannot have a series or a label. */
static void skip_indexes(const struct dialect *d)
{
    if (!d->plain)
        buf_add(d->out,
                STR("    INDEX by_series series TYPE bloom_filter GRANULARITY "
                    "4,\n"
                    "    INDEX by_label label_values TYPE bloom_filter "
                    "GRANULARITY 4\n"));
}

static void profiles_table(const struct dialect *d)
{
    begin_table(d, "pprofd_profiles");
    columns(d, described, N_COLUMNS(described), false);
    columns(d, extras, N_COLUMNS(extras), false);
    columns(d, sampled, N_COLUMNS(sampled), false);
    column(d, "blob", "String", "", d->plain);
    skip_indexes(d);
    end_table(d, "pprofd_profiles", "MergeTree",
              "PARTITION BY day ORDER BY (service, type, created)\n"
              "SETTINGS index_granularity = 256",
              "cityHash64(service)");
}

/* Since version 2.  `state` is an enum sum_state. */
static void sums_tables(const struct dialect *d)
{
    begin_table(d, "pprofd_sums");
    columns(d, described, N_COLUMNS(described), false);
    columns(d, sampled, N_COLUMNS(sampled), false);
    columns(d, summed, N_COLUMNS(summed), d->plain);
    skip_indexes(d);
    end_table(d, "pprofd_sums", "MergeTree",
              "PARTITION BY (level, day) ORDER BY (service, type, created)\n"
              "SETTINGS index_granularity = 256",
              "cityHash64(service)");

    begin_table(d, "pprofd_builds");
    column(d, "day", "Date", "", false);
    column(d, "service", "LowCardinality(String)", "", false);
    column(d, "type", "LowCardinality(String)", "", false);
    column(d, "build", "UInt64", "", false);
    column(d, "levels", "UInt8", "", false);
    column(d, "profiles", "UInt64", "", false);
    column(d, "state", "UInt8", "", false);
    column(d, "at", "UInt32", "", true);
    end_table(d, "pprofd_builds", "MergeTree",
              "PARTITION BY day ORDER BY (service, type, build)\n"
              "SETTINGS index_granularity = 1024",
              "cityHash64(service)");
}

static void other_tables(const struct dialect *d)
{
    begin_table(d, "pprofd_ids");
    column(d, "id", "FixedString(12)", "ZSTD(1)", false);
    column(d, "day", "Date", "", false);
    column(d, "service", "LowCardinality(String)", "", false);
    column(d, "type", "LowCardinality(String)", "", false);
    column(d, "created", "Int64", "ZSTD(1)", true);
    end_table(d, "pprofd_ids", "MergeTree",
              "PARTITION BY day ORDER BY id\n"
              "SETTINGS index_granularity = 1024",
              "cityHash64(service)");

    begin_table(d, "pprofd_records");
    column(d, "week", "Date", "", false);
    column(d, "service", "LowCardinality(String)", "", false);
    column(d, "kind", "UInt8", "", false);
    column(d, "id", "UInt64", "", false);
    column(d, "refs", "Array(UInt64)", "ZSTD(1)", false);
    column(d, "record", "String", "ZSTD(1)", true);
    end_table(d, "pprofd_records", "ReplacingMergeTree",
              "PARTITION BY week ORDER BY (service, kind, id)\n"
              "SETTINGS index_granularity = 1024",
              "cityHash64(service)");

    begin_table(d, "pprofd_schema");
    column(d, "version", "UInt64", "", true);
    end_table(d, "pprofd_schema", "MergeTree", "ORDER BY version", "rand()");
}

/* Rows of pprofd_ids are made by the server, with the profiles' own. */
static void ids_view(const struct dialect *d)
{
    const char *local = d->cluster.n ? "_local" : "";

    buf_addf(d->out,
             "CREATE MATERIALIZED VIEW IF NOT EXISTS %" STR_FMT
             ".pprofd_ids_view",
             STR_ARG(d->database));
    if (d->cluster.n)
        buf_addf(d->out, " ON CLUSTER %" STR_FMT, STR_ARG(d->cluster));
    buf_addf(d->out,
             " TO %" STR_FMT ".pprofd_ids%s AS\n"
             "SELECT id, day, service, type, created FROM %" STR_FMT
             ".pprofd_profiles%s;\n",
             STR_ARG(d->database), local, STR_ARG(d->database), local);
}

void schema_write(struct str database, struct str cluster, bool plain,
                  struct buf *out)
{
    struct dialect d = {plain, cluster, database, out};

    profiles_table(&d);
    sums_tables(&d);
    other_tables(&d);
    ids_view(&d);
    buf_addf(out,
             "INSERT INTO %" STR_FMT ".pprofd_schema (version) VALUES (%d);\n",
             STR_ARG(database), SCHEMA_VERSION);
}

/* --- what is there -------------------------------------------------------- */

static enum store_status ask(struct ch_client *c, const char *sql,
                             bool no_database, struct buf *out, int *code,
                             struct error *err)
{
    struct ch_request r = {
        .sql = str_from(sql), .out = out, .no_database = no_database};
    enum store_status status;

    buf_clear(out);
    status = ch_run(c, &r, err);
    *code = r.code;
    return status;
}

/* "23.8.2.7" is 2308. */
static unsigned version_number(struct str text)
{
    struct str part;
    uint64_t major = 0, minor = 0;

    text = str_trim(text);
    if (str_split(&text, '.', &part))
        str_to_u64(part, 10, &major);
    if (str_split(&text, '.', &part))
        str_to_u64(part, 10, &minor);
    return (unsigned)(major * 100 + minor);
}

static enum store_status make_tables(struct ch_client *c, struct str cluster,
                                     bool plain, struct error *err)
{
    struct buf all = BUF_INIT((size_t)1 << 20);
    enum store_status status = STORE_OK;
    struct str rest, statement;

    schema_write(ch_database(c), cluster, plain, &all);
    rest = buf_str(&all);
    while (status == STORE_OK && str_split(&rest, ';', &statement)) {
        struct ch_request r = {.sql = str_trim(statement)};

        if (r.sql.n)
            status = ch_run(c, &r, err);
    }
    buf_release(&all);
    if (status != STORE_OK)
        error_wrap(err, "making the tables (pprofd schema prints what is "
                        "needed)");
    return status;
}

/* The version of the tables that are there. */
static enum store_status read_version(struct ch_client *c, struct buf *reply,
                                      uint64_t *version, struct error *err)
{
    enum store_status status;
    int code;

    status = ask(c, "SELECT max(version) FROM pprofd_schema", false, reply,
                 &code, err);
    if (status != STORE_OK)
        return status;
    if (!str_to_u64(str_trim(buf_str(reply)), 10, version) || !*version) {
        error_set(err, "pprofd_schema is empty: the tables were not made "
                       "completely");
        return STORE_FAILED;
    }
    if (*version > SCHEMA_VERSION) {
        error_set(err,
                  "the tables are of version %" PRIu64
                  ", made by a newer pprofd; this one knows version %d",
                  *version, SCHEMA_VERSION);
        return STORE_FAILED;
    }
    return STORE_OK;
}

static enum store_status prepare(struct ch_client *c, struct str cluster,
                                 struct buf *reply, struct error *err)
{
    enum store_status status;
    unsigned version;
    int code;

    status = ask(c, "SELECT version()", true, reply, &code, err);
    if (status != STORE_OK)
        return status;
    version = version_number(buf_str(reply));
    status = ask(c, "EXISTS TABLE pprofd_schema", false, reply, &code, err);
    if (code == 81) { /* UNKNOWN_DATABASE */
        struct buf sql = BUF_INIT(1024);

        buf_addf(&sql, "CREATE DATABASE IF NOT EXISTS %" STR_FMT,
                 STR_ARG(ch_database(c)));
        if (cluster.n)
            buf_addf(&sql, " ON CLUSTER %" STR_FMT, STR_ARG(cluster));
        buf_add_char(&sql, '\0');
        status = ask(c, buf_ok(&sql) ? sql.data : "", true, reply, &code, err);
        buf_release(&sql);
        if (status == STORE_OK)
            status =
                ask(c, "EXISTS TABLE pprofd_schema", false, reply, &code, err);
    }
    if (status != STORE_OK)
        return status;
    if (str_has_prefix(buf_str(reply), STR("1"))) {
        uint64_t found = 0;

        status = read_version(c, reply, &found, err);
        if (status != STORE_OK || found == SCHEMA_VERSION)
            return status;
    }
    return make_tables(c, cluster, version < CODECS_SINCE, err);
}

enum store_status schema_prepare(struct ch_client *c, struct str cluster,
                                 struct error *err)
{
    struct buf reply = BUF_INIT((size_t)1 << 16);
    enum store_status status = prepare(c, cluster, &reply, err);

    buf_release(&reply);
    return status;
}

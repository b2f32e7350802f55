CREATE TABLE IF NOT EXISTS DB.pprofd_profiles (
    day Date,
    service LowCardinality(String),
    type LowCardinality(String),
    created Int64 CODEC(DoubleDelta, ZSTD(1)),
    id FixedString(12) CODEC(ZSTD(1)),
    series UInt64 CODEC(ZSTD(1)),
    label_keys Array(String) CODEC(ZSTD(1)),
    label_values Array(String) CODEC(ZSTD(1)),
    header UInt64 CODEC(ZSTD(1)),
    cumulative UInt64 CODEC(ZSTD(1)),
    image UInt64 CODEC(ZSTD(1)),
    flags UInt64 CODEC(ZSTD(1)),
    time Int64 CODEC(DoubleDelta, ZSTD(1)),
    duration Int64 CODEC(ZSTD(1)),
    period Int64 CODEC(ZSTD(1)),
    posted UInt64 CODEC(ZSTD(1)),
    samples UInt64 CODEC(ZSTD(1)),
    totals Array(Int64) CODEC(ZSTD(1)),
    extras String CODEC(ZSTD(1)),
    extra_refs Array(UInt64) CODEC(ZSTD(1)),
    stacks Array(UInt64) CODEC(ZSTD(1)),
    labels Array(UInt64) CODEC(ZSTD(1)),
    v0 Array(Int64) CODEC(T64, ZSTD(1)),
    v1 Array(Int64) CODEC(T64, ZSTD(1)),
    v2 Array(Int64) CODEC(T64, ZSTD(1)),
    v3 Array(Int64) CODEC(T64, ZSTD(1)),
    more Array(Int64) CODEC(T64, ZSTD(1)),
    blob String,
    INDEX by_series series TYPE bloom_filter GRANULARITY 4,
    INDEX by_label label_values TYPE bloom_filter GRANULARITY 4
) ENGINE = MergeTree
PARTITION BY day ORDER BY (service, type, created)
SETTINGS index_granularity = 256;
CREATE TABLE IF NOT EXISTS DB.pprofd_ids (
    id FixedString(12) CODEC(ZSTD(1)),
    day Date,
    service LowCardinality(String),
    type LowCardinality(String),
    created Int64 CODEC(ZSTD(1))
) ENGINE = MergeTree
PARTITION BY day ORDER BY id
SETTINGS index_granularity = 1024;
CREATE TABLE IF NOT EXISTS DB.pprofd_records (
    week Date,
    service LowCardinality(String),
    kind UInt8,
    id UInt64,
    refs Array(UInt64) CODEC(ZSTD(1)),
    record String CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY week ORDER BY (service, kind, id)
SETTINGS index_granularity = 1024;
CREATE TABLE IF NOT EXISTS DB.pprofd_schema (
    version UInt64
) ENGINE = MergeTree
ORDER BY version;
CREATE MATERIALIZED VIEW IF NOT EXISTS DB.pprofd_ids_view TO DB.pprofd_ids AS
SELECT id, day, service, type, created FROM DB.pprofd_profiles;
INSERT INTO DB.pprofd_schema (version) VALUES (1);

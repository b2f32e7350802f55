/*
 * Names follow Prometheus' conventions: counters end in _total, units are base
 * units.  The figures are a copy that the store makes under its own lock, so a
 * scrape never waits for a commit.
 */
#include "collector/store_metrics.h"

#include "collector/metrics_text.h"

static void counter(struct buf *out, const char *name, const char *help,
                    uint64_t value)
{
    metric_family(out, name, "counter", help);
    metric_u64(out, name, "", value);
}

static void gauge(struct buf *out, const char *name, const char *help,
                  uint64_t value)
{
    metric_family(out, name, "gauge", help);
    metric_u64(out, name, "", value);
}

static void write_state(const struct store_stats *s, struct buf *out)
{
    gauge(out, "pprofd_store_up",
          "1 if profiles can be written to the store; the log has the reason "
          "if not.",
          !s->trouble[0]);
    gauge(out, "pprofd_store_disk_bytes", "Size of all files of the store.",
          s->disk_bytes);
    gauge(out, "pprofd_store_memory_bytes",
          "Memory of profiles that are not sealed yet.", s->memory_bytes);
    gauge(out, "pprofd_store_open_services",
          "Services with profiles that are not sealed yet.", s->open_services);
    gauge(out, "pprofd_store_open_profiles",
          "Profiles that are not sealed yet.", s->open_profiles);
    gauge(out, "pprofd_store_open_stacks",
          "Distinct frames of call trees that are not sealed yet.",
          s->open_stacks);
    gauge(out, "pprofd_store_segments", "Sealed segments.", s->segments);
    gauge(out, "pprofd_store_queue_length", "Profiles that wait for a commit.",
          s->queued);
    gauge(out, "pprofd_store_queue_limit",
          "Profiles that may wait for a commit.", s->queue_limit);
}

static void write_wal(const struct store_stats *s, struct buf *out)
{
    if (!s->wal_limit)
        return;
    gauge(out, "pprofd_store_wal_bytes",
          "Size of the write-ahead log, which waits for ClickHouse.",
          s->wal_bytes);
    gauge(out, "pprofd_store_wal_profiles", "Profiles in it.", s->wal_profiles);
    gauge(out, "pprofd_store_wal_limit_bytes", "How large it may become.",
          s->wal_limit);
    counter(out, "pprofd_store_wal_lost_files_total",
            "Files of it that were damaged or deleted before ClickHouse had "
            "them.",
            s->wal_lost_files);
}

static void write_intake(const struct store_stats *s, struct buf *out)
{
    counter(out, "pprofd_store_profiles_total", "Profiles stored.", s->puts);
    counter(out, "pprofd_store_posted_bytes_total",
            "Bytes of profiles as they arrived.", s->posted_bytes);
    metric_family(out, "pprofd_store_rejected_total", "counter",
                  "Profiles that were not stored, by reason.");
    metric_u64(out, "pprofd_store_rejected_total", "{reason=\"invalid\"}",
               s->rejected);
    metric_u64(out, "pprofd_store_rejected_total", "{reason=\"busy\"}",
               s->busy);
    metric_u64(out, "pprofd_store_rejected_total", "{reason=\"failed\"}",
               s->failed);
    counter(out, "pprofd_store_dropped_labels_total",
            "Sample labels dropped because a key had too many values.",
            s->dropped_labels);
}

static void write_work(const struct store_stats *s, struct buf *out)
{
    metric_family(out, "pprofd_store_commit_duration_seconds", "summary",
                  "Time to write a group of profiles to disk.");
    metric_seconds(out, "pprofd_store_commit_duration_seconds_sum", "",
                   (int64_t)s->commit_ns_total);
    metric_u64(out, "pprofd_store_commit_duration_seconds_count", "",
               s->commits);
    metric_family(out, "pprofd_store_commit_duration_max_seconds", "gauge",
                  "The longest commit since the start.");
    metric_seconds(out, "pprofd_store_commit_duration_max_seconds", "",
                   (int64_t)s->commit_ns_max);
    counter(out, "pprofd_store_seals_total", "Segments sealed.", s->seals);
    counter(out, "pprofd_store_compactions_total", "Segments joined.",
            s->compactions);
    counter(out, "pprofd_store_downsamplings_total", "Blocks of sums made.",
            s->downsamplings);
    counter(out, "pprofd_store_expired_profiles_total",
            "Profiles deleted because of their age or the space they took.",
            s->expired_profiles);
    counter(out, "pprofd_store_background_errors_total",
            "Failures of background work; the log has the reasons.",
            s->background_errors);
}

void store_metrics_write(struct store *s, struct buf *out)
{
    struct store_stats stats = {0};

    store_get_stats(s, &stats);
    write_state(&stats, out);
    write_wal(&stats, out);
    write_intake(&stats, out);
    write_work(&stats, out);
}
